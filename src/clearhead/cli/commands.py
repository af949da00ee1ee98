"""The commands, and what happens when one is called.

Each command lives in the room it belongs to and is loaded only when it is called, so that help and mistakes are
answered at once. To add one, add a line to COMMANDS: a module that has DESCRIPTION, `add_arguments(parser)` and
`run(options)`, and to SUMMARIES what it does. A command raises ValueError or OSError for what it cannot do, and
argparse.ArgumentError for options that do not go together; it is said in one line on stderr, and nobody is shown a
traceback for a mistyped path.
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections.abc import Sequence
from typing import NamedTuple

from clearhead import __version__
from clearhead.advice import program
from clearhead.cli import words
from clearhead.cli.parser import USAGE, argparse_speaking, asked_language, make_parser, without_language
from clearhead.languages import LANGUAGES, VARIABLE, RefusedError, Said, speaking, spoken, spoken_by_locale

FAILED, INTERRUPTED = 1, 130  # what a shell expects of a command stopped by Ctrl-C


class Command(NamedTuple):
    """Where a command lives, and what it does in a few words."""

    module: str
    summary: Said


COMMANDS = {
    "visualize": Command("clearhead.showcase.command", words.SUMMARIES["visualize"]),
    "translate": Command("clearhead.translate.command", words.SUMMARIES["translate"]),
    "trace": Command("clearhead.traces.command", words.SUMMARIES["trace"]),
    "view": Command("clearhead.traces.viewing", words.SUMMARIES["view"]),
    "census": Command("clearhead.census.command", words.SUMMARIES["census"]),
    "learn": Command("clearhead.learn.command", words.SUMMARIES["learn"]),
    "practice": Command("clearhead.practice.command", words.SUMMARIES["practice"]),
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command, and return the exit status: 0 if all went well, 1 if not, 2 for wrong usage, 130 for Ctrl-C."""
    arguments = sys.argv[1:] if argv is None else list(argv)
    try:
        language = spoken(asked_language(arguments))
    except ValueError:  # CLEARHEAD_LANG names no language
        language, known = spoken_by_locale(), ", ".join(LANGUAGES)
        said = words.NO_LANGUAGE(language, program=program(), value=os.environ[VARIABLE], known=known)
        print(said, file=sys.stderr)
    try:
        with speaking(language), argparse_speaking(language):
            return run(without_language(arguments))
    except SystemExit as stop:  # argparse's, after help or an error of usage
        return int(stop.code or 0)
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:  # whoever was reading has stopped, as `head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # or Python would complain at exit
        return FAILED


def run(arguments: list[str]) -> int:
    name = arguments[0] if arguments else ""
    if name not in COMMANDS:
        overview().parse_args(arguments)
        overview().print_help()
        return USAGE
    module = importlib.import_module(COMMANDS[name].module)
    parser = make_parser(f"{program()} {name}", description=module.DESCRIPTION())
    module.add_arguments(parser)
    options = parser.parse_args(arguments[1:])
    try:
        return int(module.run(options))
    except argparse.ArgumentError as error:  # options that do not go together
        parser.error(str(error))
    except BrokenPipeError:
        raise
    except (ValueError, OSError, ModuleNotFoundError) as error:
        message = error.said() if isinstance(error, RefusedError) else str(error)
        print(words.FAILED(program=parser.prog, message=" ".join(message.split())), file=sys.stderr)
        return FAILED


def overview() -> argparse.ArgumentParser:
    """What `clearhead --help` shows."""
    width = max(map(len, COMMANDS))
    listed = "\n".join(f"  {name:<{width}}  {command.summary()}" for name, command in COMMANDS.items())
    parser = make_parser(
        program(),
        usage=words.USAGE(program=program()),
        description=words.DESCRIPTION(),
        epilog=words.EPILOG(program=program(), commands=listed),
    )
    version = f"clearhead {__version__}"
    parser.add_argument("--version", action="version", version=version, help=words.VERSION())
    parser.add_argument("command", choices=tuple(COMMANDS), metavar="COMMAND", nargs="?", help=words.COMMAND())
    return parser
