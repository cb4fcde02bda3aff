"""What a model can do: list, search and read files within bounds, propose changes, load skills."""

from steward.tools.arguments import Arguments
from steward.tools.base import Tool, ToolBox, ToolResult

__all__ = ["Arguments", "Tool", "ToolBox", "ToolResult"]
