"""Tests of the room `watch`."""
