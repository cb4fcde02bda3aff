"""Stored conversations on the screen: find, resume, fork and shorten them, and ask another agent beside one."""
