"""Tests of the room `tui`."""
