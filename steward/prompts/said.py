"""What was said of instruction documents that is said once: to the person, and to the model."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from steward.agents_md import Document, LimitReached, Resolution, override_notice
from steward.prompts.delivery import (
    Redacted,
    forged_line,
    hidden_notice,
    redacted_notice,
    refusal_lines,
    share_notice,
    skipped_notices,
    window_notice,
)
from steward.visible import line

WARN_SHARE = 0.20
"""Of a known window: from here on the person is warned of what instructions take."""


class Said:
    """Keeps the keys of what was said, and words what is new. ``tag`` is that of the envelopes."""

    def __init__(self, tag: str) -> None:
        self.to_person: set[str] = set()
        """Keys of the notices that the person was given in this conversation."""
        self.to_model: set[str] = set()
        """The lines that the conversation holds on documents that were left out."""
        self._tag = tag

    def once(self, key: str, sentence: str) -> list[str]:
        """The sentence, when there is one and the person was not told of ``key`` yet; it counts as told then."""
        if not sentence or key in self.to_person:
            return []
        self.to_person.add(key)
        return [sentence]

    def refusals(self, resolutions: Sequence[Resolution]) -> str:
        """What the model is told, once, of documents that could not be read or accepted."""
        lines: list[str] = []
        for resolution in resolutions:
            lines += refusal_lines(self._tag, resolution)
        lines += [forged_line(self._tag, document) for document in self._forged(resolutions)]
        new = [one for one in dict.fromkeys(lines) if one not in self.to_model]
        self.to_model.update(new)
        return "".join(new)

    def notices(
        self, resolutions: Sequence[Resolution], documents: Iterable[Document], root: str
    ) -> list[str]:
        """What the person is told of what was left out, and of ``documents``, which go to the model now."""
        said: list[str] = []
        for resolution in resolutions:
            for notice in skipped_notices(resolution):
                said += self.once(notice, notice)
        for document in self._forged(resolutions):
            notice = f"{line(document.path)} was left out: it holds the tag that marks instructions."
            said += self.once(notice, notice)
        for document in documents:
            said += self.once(f"hidden {document.path} {document.sha256}", hidden_notice(document))
            if isinstance(document, Redacted):
                said += self.once(f"redacted {document.path}", redacted_notice(document))
            if document.kind == "override" and f"override {document.path}" not in self.to_person:
                self.to_person.add(f"override {document.path}")
                notice = override_notice(root, document.path)
                said += [line(notice)] if notice else []
        return said

    def window_notices(
        self, left_out: Iterable[Document], given: Sequence[Document], tokens: int, window: int
    ) -> list[str]:
        """What the person is told of the room that the ``given`` documents take of a window, both in tokens."""
        said: list[str] = []
        for document in left_out:
            notice = window_notice(document, window)
            said += self.once(notice, notice)
        share = tokens / window
        if share > WARN_SHARE:
            said += self.once(f"share {int(share / WARN_SHARE)}", share_notice(given, tokens, window))
        return said

    def limit(self, resolutions: Iterable[Resolution]) -> LimitReached | None:
        """The first limit that was met and not yet told for the same documents."""
        for resolution in resolutions:
            if resolution.limits:
                cut = sorted(item.path for item in resolution.skipped if item.cause in ("limit", "size"))
                key = f"limit {resolution.outcome} {cut}"
                if key not in self.to_person:
                    self.to_person.add(key)
                    return resolution.limits[0]
        return None

    def _forged(self, resolutions: Iterable[Resolution]) -> list[Document]:
        """Documents that hold the tag of the envelopes."""
        return [d for resolution in resolutions for d in resolution.documents if self._tag in d.text]
