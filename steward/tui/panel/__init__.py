"""The side panel: changes, instructions in effect, and what fills the window."""
