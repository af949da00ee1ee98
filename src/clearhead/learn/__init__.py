"""The course at the command line: which notes there are, what was read and practised, and a note to read."""
