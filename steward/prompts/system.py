"""The system message: written once when a conversation starts, and the steward's notes inside it."""

from __future__ import annotations

import hashlib


def note_tag(secret: str) -> str:
    """The tag of the steward's own notes; file contents cannot know it."""
    return "steward-note-" + hashlib.sha256(f"note:{secret}".encode()).hexdigest()[:12]


def system_text(*, name: str, instructions_tag: str, secret: str, opening: str, extra: str = "") -> str:
    """The whole system message; ``opening`` is what governs the starting focus, already in its envelope."""
    from importlib import resources

    template = resources.files("steward.prompts").joinpath("system.md").read_text("utf-8").strip()
    text = (
        template.replace("{{tag}}", instructions_tag)
        .replace("{{note}}", note_tag(secret))
        .replace("{{name}}", " ".join(name.split()))
    )
    # The opening stays byte for byte: what it holds is read back from the stored conversation.
    return "\n\n".join(part for part in (text, extra.strip(), opening) if part)


def note(secret: str, sentences: tuple[str, ...]) -> str:
    """Sentences of the steward to the model, in their envelope; empty when there are none."""
    if not sentences:
        return ""
    tag = note_tag(secret)
    return f"<{tag}>\n" + "\n".join(sentences) + f"\n</{tag}>\n\n"
