"""What the model is told: the system message, the steward's notes, the instruction documents."""

from steward.prompts.system import note, note_tag, system_text

__all__ = ["note", "note_tag", "system_text"]
