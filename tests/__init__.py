"""The tests of the steward."""
