"""What of the instruction documents this conversation has been told, and what it must be told next."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

from steward.agents_md import Document, Resolution, Resolver
from steward.prompts.delivery import (
    CHARACTERS_A_TOKEN,
    Delivery,
    Room,
    changed_text,
    fact,
    in_effect_line,
    in_effect_names,
    opening_text,
    redacted,
)
from steward.prompts.heard import heard
from steward.prompts.said import Said
from steward.visible import line

Mode = Literal["append", "replace", "conversation"]
State = Literal["in-effect", "delivered", "arrived", "replaced", "withdrawn", "pending"]


class Briefing:
    """Keeps what the model was told of the instructions; one for each conversation.

    A delivery counts as told when it is returned: append its text to the conversation at once. ``window`` is the
    model's, in tokens. Set ``used`` to what the conversation holds whenever that is known.
    """

    def __init__(
        self,
        resolver: Resolver,
        secret: str,
        mode: Mode = "append",
        window: int | None = None,
        clean: Callable[[Document], str] | None = None,
    ) -> None:
        """``clean`` gives a document's text as the model may see it; its digest stays that of the file."""
        self.resolver = resolver
        self._clean = clean
        self.mode: Mode = mode
        self.tag = "instructions-" + hashlib.sha256(f"instructions:{secret}".encode()).hexdigest()[:12]
        """The name of the envelopes; it is the same in every conversation of a workspace."""
        self.used = 0
        """Tokens that the conversation holds, documents among them."""
        self.opened: Delivery | None = None
        """What came of the latest ``opening``."""
        self._window = window
        self._ratio = CHARACTERS_A_TOKEN
        self._given: dict[str, Document] = {}
        self._left_out: dict[str, str] = {}
        self._in_effect: tuple[str, ...] = ()
        self._said = Said(self.tag)
        self._last: Delivery | None = None

    # what the loop does

    def opening(self, focus: str) -> str:
        """The part of the system message that holds what governs ``focus``, and only that counts as delivered.

        Once for each conversation; in ``replace`` before every round. Empty when instructions are switched off.
        """
        resolution = self.resolver.resolve(focus)
        self.used = max(self.used - sum(map(self._cost, self._given.values())), 0)
        self._given.clear()
        self._left_out.clear()
        self._said.to_model.clear()
        documents, left_out = self._room().fit(
            self._cleaned(self._sound(resolution.documents)), self._cost, closest=self._closest
        )
        self._take(documents, left_out)
        self._in_effect = tuple(document.path for document in documents)
        text = ""
        if resolution.enabled:
            text = opening_text(self.tag, documents, left_out, later=self.mode == "append")
            text += self._said.refusals([resolution])
        self.opened = self._last = Delivery(
            resolution,
            text,
            arrived=tuple(documents),
            left_out=tuple(left_out),
            notices=self._notices([resolution], documents, left_out),
            limit=self._said.limit([resolution]),
        )
        return text

    def touch(self, path: str, *more: str) -> Delivery:
        """A tool touched these paths, the last being the focus now: what has to be said before its result.

        Only ``append`` says anything to the model here; in every mode the rest of the delivery is for people.
        """
        resolutions = [self.resolver.resolve(each) for each in (path, *more)]
        self._last = self._deliver(resolutions) if self.mode == "append" else self._compare(resolutions)
        return self._last

    def demand(self, path: str, *more: str) -> Delivery:
        """A proposal for these paths must wait for documents: deliver them, whatever the mode.

        In ``replace`` they come with the next ``opening``, which the loop asks for the last path.
        """
        resolutions = [self.resolver.resolve(each) for each in (path, *more)]
        if self.mode != "replace":
            self._last = self._deliver(resolutions)
            return self._last
        self._last = self._compare(resolutions)
        where = "What governs this path stands in the system message from now on."
        text = fact(self.tag, "in-effect-for", self._last.resolution.target, where)
        return replace(self._last, text=text + "\n")

    def missing(self, path: str) -> tuple[Document, ...]:
        """Documents that govern ``path`` and are not in the conversation as they are on disk now.

        One that did not fit into the window, and of which both sides were told, is not missing; see ``notes``.
        """
        return tuple(
            document
            for document in self.resolver.resolve(path).documents
            if not self._knows(document) and self._left_out.get(document.path) != document.sha256
        )

    def governing(self, path: str) -> tuple[Document, ...]:
        """The documents that govern ``path`` as they are on disk now, broadest first."""
        return self.resolver.resolve(path).documents

    def notes(self, path: str) -> tuple[str, ...]:
        """What a reviewer of a proposal for ``path`` should know about its instructions."""
        resolution = self.resolver.resolve(path)
        if not resolution.enabled:
            return ("Proposed with instructions switched off.",)
        return tuple(
            f"Proposed without {line(document.path)}, which could not be given to the model."
            for document in resolution.documents
            if self._left_out.get(document.path) == document.sha256
        )

    def guard(self, text: str) -> str:
        """``text`` of a tool's result without the envelopes' tag: in a file it can only be a forgery."""
        return text if self.tag not in text else text.replace(self.tag, "instructions-[tag removed]")

    def stripped(self, text: str) -> str:
        """``text`` without the documents and facts it carries, for a summary that must not repeat them."""
        if self.tag not in text:
            return text
        tag = re.escape(self.tag)
        return re.sub(rf"<{tag}[ >].*?</{tag}>\n*", "", text, flags=re.DOTALL)

    def measure(self, characters: int, tokens: int) -> None:
        """The provider counted ``tokens`` for so many characters: estimates follow its count from now on."""
        if characters >= 2000 and tokens > 0:
            self._ratio = min(max(characters / tokens, 1.0), 8.0)

    def forget(self) -> None:
        """A new conversation begins: nothing has been told to anyone."""
        self.forget_delivered()
        self._said.to_person.clear()

    def forget_delivered(self) -> None:
        """The conversation was compacted: every document has to be delivered again."""
        self._given.clear()
        self._left_out.clear()
        self._said.to_model.clear()
        self._in_effect = ()
        self._last = None
        self.used = 0

    def reconcile(self, texts: Iterable[str]) -> tuple[str, ...]:
        """Make what counts as told equal to what the conversation's messages really hold.

        For a delivery that never reached the conversation (the turn was interrupted) and for a conversation that is
        taken up again. ``texts`` are the system message and the tools' results, in order, and nothing that a model
        or a person wrote. Gives the paths that have to be delivered again.
        """
        found = heard(self.tag, texts)
        given = found.documents
        lost = tuple(
            path for path, d in self._given.items() if path not in given or given[path].sha256 != d.sha256
        )
        untold = set(self._left_out) - found.left_out
        self._given = {
            path: self._given[path] if self._knows(document) else document for path, document in given.items()
        }
        self._left_out = {path: sha for path, sha in self._left_out.items() if path not in untold}
        expected = in_effect_names(self._in_effect)
        unsaid = found.in_effect != expected if found.in_effect else set(self._in_effect) != set(given)
        if lost or untold or unsaid:
            self._in_effect = ("",)  # no documents are called that: the line is said again
            self._said.to_model.clear()
        return lost

    # what people see

    def state(self, focus: str) -> tuple[tuple[Document, State], ...]:
        """Each document of ``focus`` and of the conversation, and how it stands."""
        resolution = self.resolver.resolve(focus)
        last = self._last
        arrived = {document.path for document in last.arrived} if last else set[str]()
        replaced = {document.path for document in last.replaced} if last else set[str]()
        found: list[tuple[Document, State]] = []
        for document in resolution.documents:
            state: State = "in-effect"
            if not self._knows(document):
                state = "pending"
            elif document.path in replaced:
                state = "replaced"
            elif document.path in arrived:
                state = "arrived"
            found.append((document, state))
        here = set(resolution.paths)
        found.extend((document, "delivered") for path, document in self._given.items() if path not in here)
        found.extend((document, "withdrawn") for document in (last.withdrawn if last else ()))
        return tuple(found)

    @property
    def window(self) -> int | None:
        """The model's window in tokens, ``None`` when it is not known."""
        return self._window

    @window.setter
    def window(self, tokens: int | None) -> None:
        if tokens is None or (self._window is not None and tokens > self._window):
            self._left_out.clear()  # what did not fit may fit now
        self._window = tokens

    @property
    def tokens(self) -> int:
        """Estimated tokens of all documents that stand in the conversation."""
        return sum(map(self._cost, self._given.values()))

    # keeping

    def dump(self) -> dict[str, Any]:
        """What has been told, as plain values; contents are not part of it."""
        return {
            "given": [document.to_json() for document in self._given.values()],
            "left_out": dict(self._left_out),
            "in_effect": list(self._in_effect),
            "told": sorted(self._said.to_person),
            "said": sorted(self._said.to_model),
            "used": self.used,
            "ratio": self._ratio,
        }

    def load(self, shape: Mapping[str, Any]) -> None:
        """Take up what ``dump`` wrote; ``KeyError``, ``TypeError`` or ``ValueError`` when it is something else."""
        given = {
            str(item["path"]): Document(
                str(item["path"]), str(item["scope"]), item["kind"], "",
                int(item["bytes"]), int(item["chars"]), str(item["sha256"]),
            )
            for item in shape["given"]
        }  # fmt: skip
        left_out = {str(path): str(sha) for path, sha in dict(shape["left_out"]).items()}
        in_effect = tuple(str(path) for path in shape["in_effect"])
        told, said = {str(key) for key in shape["told"]}, {str(key) for key in shape["said"]}
        used, ratio = int(shape["used"]), float(shape["ratio"])
        self._given, self._left_out, self._in_effect = given, left_out, in_effect
        self._said.to_person, self._said.to_model = told, said
        self.used, self._ratio = used, ratio
        self._last = self.opened = None

    # inside

    def _knows(self, document: Document) -> bool:
        given = self._given.get(document.path)
        return given is not None and given.sha256 == document.sha256

    @property
    def _closest(self) -> bool:
        return self.resolver.settings.keep == "closest"

    def _room(self) -> Room:
        return Room.of(self._window, self.used)

    def _cost(self, document: Document) -> int:
        return int(document.chars / self._ratio) + 1

    def _deliver(self, resolutions: Sequence[Resolution]) -> Delivery:
        last = resolutions[-1]
        new = [
            document
            for document in self._sound(_merged(resolutions))
            if not self._knows(document) and self._left_out.get(document.path) != document.sha256
        ]
        documents, left_out = self._room().fit(self._cleaned(new), self._cost, closest=self._closest)
        earlier = {d.path: self._given[d.path].sha256 for d in documents if d.path in self._given}
        withdrawn = self._withdrawn(resolutions)
        for document in (*withdrawn, *left_out):
            self._given.pop(document.path, None)
        self._take(documents, left_out)
        text = changed_text(self.tag, documents, earlier, withdrawn, left_out)
        text += self._said.refusals(resolutions)
        in_effect = tuple(document.path for document in last.documents if self._knows(document))
        if in_effect != self._in_effect:
            text += in_effect_line(self.tag, last.target, in_effect)
            self._in_effect = in_effect
        return Delivery(
            last,
            text + "\n" if text else "",
            arrived=tuple(document for document in documents if document.path not in earlier),
            replaced=tuple(document for document in documents if document.path in earlier),
            withdrawn=withdrawn,
            left_out=tuple(left_out),
            notices=self._notices(resolutions, documents, left_out),
            limit=self._said.limit(resolutions),
        )

    def _compare(self, resolutions: Sequence[Resolution]) -> Delivery:
        """What is new for the person when nothing is delivered with a tool's result."""
        new = [document for document in self._sound(_merged(resolutions)) if not self._knows(document)]
        notices = list(self._notices(resolutions, new if self.mode == "replace" else (), ()))
        if self.mode == "conversation":
            for document in new:
                if document.path in self._given:
                    said = (
                        f"{line(document.path)} changed since it was read; /new begins with it as it is now."
                    )
                    notices += self._said.once(f"changed {document.path} {document.sha256}", said)
        return Delivery(
            resolutions[-1],
            arrived=tuple(new) if self.mode == "replace" else (),
            notices=tuple(notices),
            limit=self._said.limit(resolutions),
        )

    def _sound(self, documents: Iterable[Document]) -> list[Document]:
        """Documents without the envelopes' tag in them; one that holds it could end its own envelope."""
        sound: list[Document] = []
        for document in documents:
            if self.tag in document.text:
                self._left_out[document.path] = document.sha256
                self._given.pop(document.path, None)
            else:
                sound.append(document)
        return sound

    def _cleaned(self, documents: Sequence[Document]) -> Sequence[Document]:
        clean = self._clean
        return documents if clean is None else [redacted(document, clean(document)) for document in documents]

    def _withdrawn(self, resolutions: Iterable[Resolution]) -> tuple[Document, ...]:
        """Delivered documents that their own directory no longer gives."""
        here = {path for resolution in resolutions for path in resolution.paths}
        scopes: dict[str, tuple[str, ...]] = {}
        gone: list[Document] = []
        for path, document in self._given.items():
            if path in here:
                continue
            if document.scope not in scopes:
                scopes[document.scope] = self.resolver.resolve(document.scope + "/").paths
            if path not in scopes[document.scope]:
                gone.append(document)
        return tuple(gone)

    def _take(self, documents: Iterable[Document], left_out: Iterable[Document]) -> None:
        for document in documents:
            self._given[document.path] = replace(document, text="")
            self._left_out.pop(document.path, None)
            self.used += self._cost(document)
        for document in left_out:
            self._left_out[document.path] = document.sha256

    def _notices(
        self, resolutions: Sequence[Resolution], documents: Iterable[Document], left_out: Iterable[Document]
    ) -> tuple[str, ...]:
        said = self._said.notices(resolutions, documents, self.resolver.root)
        if window := self._window:
            said += self._said.window_notices(left_out, tuple(self._given.values()), self.tokens, window)
        return tuple(said)


def _merged(resolutions: Iterable[Resolution]) -> list[Document]:
    """The documents of all of them, each once, those of the first before those of the next."""
    found: dict[str, Document] = {}
    for resolution in resolutions:
        for document in resolution.documents:
            found.setdefault(document.path, document)
    return list(found.values())
