"""The command line: arguments, exit codes, and the one place that puts the house together."""
