"""Tests of the room `proposals`."""
