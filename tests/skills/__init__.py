"""Tests of the room `skills`."""
