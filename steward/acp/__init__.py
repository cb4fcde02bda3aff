"""An editor as front end: the Agent Client Protocol on standard input and output."""

from steward.acp.agent import serve

__all__ = ["serve"]
