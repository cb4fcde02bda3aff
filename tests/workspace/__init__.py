"""Tests of the room `workspace`."""
