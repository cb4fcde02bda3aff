"""The prompt: several lines, history, completion of commands and paths."""
