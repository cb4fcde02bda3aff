"""Where each block of a long view stands: heights, their running sum, and which of them are only estimates."""

from __future__ import annotations

from bisect import bisect_right


class Heights:
    """The heights of blocks in order, in lines.

    Adding or changing near the end is cheap however many blocks there are; a change further up costs one pass
    over what follows, paid when a position is asked for next.
    """

    def __init__(self) -> None:
        self._heights: list[int] = []
        self._exact: list[bool] = []
        self._starts: list[int] = [0]  # one more than there are heights
        self._valid = 0  # starts up to this index are right

    def __len__(self) -> int:
        return len(self._heights)

    def insert(self, index: int, height: int, exact: bool) -> None:
        """Put a block at ``index``."""
        self._heights.insert(index, height)
        self._exact.insert(index, exact)
        self._starts.append(0)
        self._valid = min(self._valid, index)

    def set(self, index: int, height: int, exact: bool) -> int:
        """Give a block another height; returns by how much it grew."""
        grown = height - self._heights[index]
        self._exact[index] = exact
        if grown:
            self._heights[index] = height
            self._valid = min(self._valid, index)
        return grown

    def remove(self, index: int) -> None:
        """Take the block at ``index`` out."""
        del self._heights[index], self._exact[index]
        self._starts.pop()
        self._valid = min(self._valid, index)

    def clear(self) -> None:
        """Forget every block."""
        self.__init__()

    def height(self, index: int) -> int:
        """Lines of the block at ``index``."""
        return self._heights[index]

    def exact(self, index: int) -> bool:
        """Whether the height was measured, not estimated."""
        return self._exact[index]

    def start(self, index: int) -> int:
        """The line at which the block at ``index`` begins."""
        self._settle(index)
        return self._starts[index]

    @property
    def total(self) -> int:
        """Lines of all blocks together."""
        return self.start(len(self._heights))

    def at(self, line: int) -> tuple[int, int]:
        """The block that holds ``line``, and the line within it; the last block for a line past the end."""
        self._settle(len(self._heights))
        index = min(max(bisect_right(self._starts, line) - 1, 0), len(self._heights) - 1)
        while index and not self._heights[index]:
            index -= 1
        return index, line - self._starts[index]

    def _settle(self, upto: int) -> None:
        for index in range(self._valid, upto):
            self._starts[index + 1] = self._starts[index] + self._heights[index]
        self._valid = max(self._valid, upto)
