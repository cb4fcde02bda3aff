"""Screens beside the conversation: something to read, something to pick from."""
