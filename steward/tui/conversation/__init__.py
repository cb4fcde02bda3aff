"""The conversation: everything said and done, as one view made of lines."""
