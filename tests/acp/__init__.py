"""Tests of the room `acp`."""
