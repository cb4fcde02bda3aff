"""What a model can do: list, search and read files within bounds, propose changes, load skills."""

from steward.tools.base import Arguments, Tool, ToolBox, ToolResult

__all__ = ["Arguments", "Tool", "ToolBox", "ToolResult"]
