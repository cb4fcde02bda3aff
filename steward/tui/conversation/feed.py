"""Turns the facts of a turn into blocks of the transcript."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from steward.conversation import Assistant, Message, System, ToolAnswer, User
from steward.events import (
    AnswerText,
    CallForming,
    ChangesMoved,
    Event,
    FocusMoved,
    InstructionsChanged,
    LimitNotice,
    Notice,
    ProposalMade,
    ReasoningText,
    Retrying,
    RoundEnded,
    RoundStarted,
    ToolFinished,
    ToolStarted,
    TurnEnded,
    TurnStarted,
)
from steward.tui import sentences
from steward.tui.conversation.answer import Answer
from steward.tui.conversation.blocks import (
    Block,
    LineBlock,
    MarkdownBlock,
    NoteBlock,
    ReasoningBlock,
    UserBlock,
)
from steward.tui.conversation.tool_block import ToolBlock
from steward.tui.lines import plain

if TYPE_CHECKING:
    from steward.proposals import Proposal
    from steward.tui.conversation.transcript import Transcript


class Feed:
    """Holds what is open in the transcript: the answer, the thought, the calls that run, the questions that wait."""

    def __init__(self, transcript: Transcript) -> None:
        self._transcript = transcript
        self._answer: Answer | None = None
        self._thought: ReasoningBlock | None = None
        self._forming: ToolBlock | None = None
        self._running: dict[str, ToolBlock] = {}
        self._queued: list[UserBlock] = []
        self._proposed: dict[str, tuple[LineBlock, bool]] = {}
        """The lines of changes that the calls going on add to, and whether each was there before."""
        self._asked = ""
        self.answers: list[str] = []
        """Whole answers of the conversation, the last one last."""

    # What a person did

    def ask(self, question: str) -> None:
        """The question is being sent: the one that waited longest, or a new one."""
        self._asked = question
        if self._queued:
            block = self._queued.pop(0)
            block.queued = False
            self._transcript.take_out(block)
        self._transcript.following = True
        self._transcript.add(UserBlock(question))

    def queue(self, question: str) -> None:
        """The question waits until the turn is over."""
        block = UserBlock(question, queued=True)
        self._queued.append(block)
        self._transcript.add(block)

    def unqueue(self) -> str | None:
        """Take back the question that was queued last."""
        if not self._queued:
            return None
        block = self._queued.pop()
        self._transcript.take_out(block)
        return block.words

    def say(self, sentence: str, kind: str = "info", *, change: str = "") -> None:
        """One line of the steward."""
        self._add(LineBlock(sentence, kind, change=change))

    def put(self, block: Block) -> None:
        """A block of the person's own."""
        self._add(block)

    def changed(self, block: Block) -> None:
        """Such a block is not what it was."""
        block.changed()
        if block in self._transcript.blocks:
            self._transcript.changed(block)

    def clear(self) -> None:
        """Another conversation begins."""
        self._transcript.clear()
        self.__init__(self._transcript)

    # What happened

    def take(self, event: Event) -> None:
        """Show one fact."""
        match event:
            case TurnStarted(question):
                if question != self._asked:
                    self.ask(question)
            case RoundStarted():
                pass
            case AnswerText(text):
                self._close_thought()
                if self._answer is None:
                    self._proposed.clear()
                    self._answer = Answer(self._add, self._transcript.changed)
                self._answer.feed(text)
                self._transcript.grow(self._answer)
            case ReasoningText(text):
                if self._thought is None:
                    self._thought = ReasoningBlock()
                    self._add(self._thought)
                self._thought.add(text)
                self._transcript.changed(self._thought)
            case CallForming(name, characters):
                self._close_answer()
                if self._forming is None or self._forming.name != name:
                    self._drop_forming()
                    self._forming = ToolBlock(name)
                    self._forming.gap = self._gap_for_call()
                    self._add(self._forming)
                self._forming.form(characters)
                self._transcript.changed(self._forming)
            case RoundEnded():
                self._close_answer()
                self._close_thought()
            case ToolStarted(call_id, name, arguments):
                self._start_tool(call_id, name, arguments)
            case ToolFinished(call_id, name, ok, text, summary):
                block = self._running.pop(call_id, None) or self._start_tool(call_id, name, "")
                self._running.pop(call_id, None)
                block.finish(ok, text, summary)
                self._transcript.changed(block)
            case FocusMoved():
                pass
            case InstructionsChanged(_, documents, _, arrived):
                by_path = {document.path: document for document in documents}
                for path in arrived:
                    document = by_path.get(path)
                    if document is None:
                        continue
                    verb = {"replaced": "replaces its earlier copy", "withdrawn": "is withdrawn"}.get(
                        document.state, "now governs"
                    )
                    scope = "" if document.state in ("replaced", "withdrawn") else f" {plain(document.scope)}"
                    self._add(
                        LineBlock(
                            f"{plain(path)} {verb}{scope} · {sentences.tokens(document.tokens)} tokens",
                            "instructions",
                            gap=self._gap_for_call(),
                        )
                    )
            case LimitNotice():
                self.say(sentences.limit(event), "warning")
            case ProposalMade(proposal, amended):
                self._propose(proposal, amended)
            case ChangesMoved():
                pass
            case Retrying():
                self.say(sentences.retrying(event), "warning")
            case Notice(text, level):
                self.say(text, level)
            case TurnEnded():
                self._end(event)
            case _:
                assert_never(event)

    def beside(self, event: Event) -> None:
        """Show a fact from outside a turn, where it is one that a person reads."""
        match event:
            case Notice() | LimitNotice() | ProposalMade() | Retrying():
                self.take(event)
            case InstructionsChanged(_, _, _, arrived) if arrived:
                self.take(event)
            case _:
                pass

    def show(self, messages: tuple[Message, ...]) -> None:
        """Show a stored conversation."""
        calls: dict[str, ToolBlock] = {}
        for message in messages:
            match message:
                case System():
                    pass
                case User(text, note):
                    self._transcript.add(NoteBlock(text) if note else UserBlock(text))
                case Assistant(text, wanted, _):
                    if text.strip():
                        self.answers.append(text)
                        self._transcript.add(MarkdownBlock(text))
                    for call in wanted:
                        block = ToolBlock(call.name)
                        block.gap = self._gap_for_call()
                        block.start(call.id, call.arguments)
                        calls[call.id] = block
                        self._transcript.add(block)
                case ToolAnswer(call_id, name, text, ok):
                    block = calls.pop(call_id, None)
                    if block is None:
                        block = ToolBlock(name)
                        self._transcript.add(block)
                    block.finish(ok, text, "" if ok else "refused")
                case _:
                    assert_never(message)
        self._transcript.settle()

    def _propose(self, proposal: Proposal, amended: bool) -> None:
        """Announce a change once, below the calls that make it."""
        block, amended = self._proposed.get(proposal.id, (None, amended))
        if block is not None:
            block.update(sentences.proposed(proposal, amended))
            self._transcript.changed(block)
            return
        block = LineBlock(sentences.proposed(proposal, amended), "proposal", change=proposal.id)
        self._add(block)
        self._proposed[proposal.id] = block, amended

    def _start_tool(self, call_id: str, name: str, arguments: str) -> ToolBlock:
        self._close_answer()
        block = self._forming if self._forming is not None and self._forming.name == name else None
        if block is None:
            self._drop_forming()
            block = ToolBlock(name)
            block.gap = self._gap_for_call()
            self._add(block)
        self._forming = None
        block.start(call_id, arguments)
        self._running[call_id] = block
        self._transcript.changed(block)
        return block

    def _end(self, event: TurnEnded) -> None:
        self._close_answer()
        self._close_thought()
        self._drop_forming()
        for block in self._running.values():
            block.finish(False, "", "interrupted")
            self._transcript.changed(block)
        self._running.clear()
        self._proposed.clear()
        sentence, kind = sentences.ended(event)
        self._add(LineBlock(sentence, kind))

    def _add(self, block: Block, after: Block | None = None) -> None:
        """Place a block; the changes that calls go on adding to, and the questions that wait, stay last."""
        if after is None and (last := self._last()):
            self._transcript.add_before(block, last[0])
        else:
            self._transcript.add(block, after)

    def _last(self) -> list[Block]:
        return [*(block for block, _ in self._proposed.values()), *self._queued]

    def _gap_for_call(self) -> bool:
        """Calls that follow each other stand without empty lines between them."""
        blocks, stay = self._transcript.blocks, self._last()
        last = next((block for block in reversed(blocks) if block not in stay), None)
        return not (
            isinstance(last, ToolBlock) or (isinstance(last, LineBlock) and last.kind == "instructions")
        )

    def _close_answer(self) -> None:
        if self._answer is not None:
            self._answer.end()
            self.answers.append(self._answer.text)
            self._answer = None
            self._transcript.flowing = None

    def _close_thought(self) -> None:
        if self._thought is not None:
            self._thought.done = True
            self._thought.changed()
            self._transcript.changed(self._thought)
            self._thought = None

    def _drop_forming(self) -> None:
        """A call that was begun and never ran leaves no line."""
        if self._forming is not None:
            self._transcript.take_out(self._forming)
            self._forming = None
