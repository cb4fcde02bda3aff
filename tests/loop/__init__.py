"""Tests of the room `loop`."""
