"""Tests of the room `agents_md`."""
