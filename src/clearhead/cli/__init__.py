"""The command line: `clearhead COMMAND …`, in Korean or English."""

from clearhead.cli.commands import COMMANDS, Command, main

__all__ = ["COMMANDS", "Command", "main"]
