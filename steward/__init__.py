"""A terminal coding agent for one repository: the model proposes, a person's hand applies."""

__version__ = "0.1.0"
