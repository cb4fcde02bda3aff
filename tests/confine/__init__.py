"""Tests of the room `confine`."""
