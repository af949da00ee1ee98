"""argparse in two languages."""

from __future__ import annotations

import argparse
import ast
import inspect

import pytest

from clearhead.cli.parser import argparse_speaking, asked_language, columns, make_parser, without_language, wrapped
from clearhead.cli.words import ARGPARSE
from clearhead.languages import speaking

# Said to whoever writes a command and not to whoever uses it, or of what no command here has: subcommands, files
# opened by argparse, groups of options that exclude each other, deprecated ones.
NEVER_SAID = {
    "conflicting subparser: %s",
    "conflicting subparser alias: %s",
    "unknown parser %(parser_name)r (choices: %(choices)s)",
    "cannot have multiple subparser arguments",
    "subcommands",
    'argument "-" with mode %r',
    "can't open '%(filename)s': %(error)s",
    "cannot merge actions - two groups are named %r",
    "'required' is an invalid argument for positionals",
    "invalid option string %(option)r: must start with a character %(prefix_chars)r",
    "dest= is required for options like %r",
    "invalid conflict_resolution value: %r",
    "conflicting option string: %s",
    "conflicting option strings: %s",
    "mutually exclusive arguments must be optional",
    "%r is not callable",
    ".__call__() not defined",
    "%(prog)s: error: %(message)s\n",  # ours is said instead, without the usage
    "%(prog)s: warning: %(message)s\n",
    "option '%(option)s' is deprecated",
    "argument '%(argument_name)s' is deprecated",
    "command '%(parser_name)s' is deprecated",
    "show program's version number and exit",
}


def said_by_argparse() -> set[str]:
    """Every text that this Python's argparse looks up."""
    calls = [node for node in ast.walk(ast.parse(inspect.getsource(argparse))) if isinstance(node, ast.Call)]
    lookups = [call for call in calls if isinstance(call.func, ast.Name) and call.func.id in ("_", "ngettext")]
    given = [argument for call in lookups for argument in call.args if isinstance(argument, ast.Constant)]
    return {argument.value for argument in given if isinstance(argument.value, str)}


def test_all_that_argparse_says_to_a_user_is_there_in_korean():
    assert len(said_by_argparse()) > 20
    assert said_by_argparse() - {said.en for said in ARGPARSE} - NEVER_SAID == set()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--size"], "--size: 값이 하나 필요합니다"),
        (["--size", "x"], "--size: int 값으로 읽을 수 없습니다: 'x'"),
        (["--kind", "x"], "--kind: 고를 수 없는 값입니다: 'x' (고를 수 있는 값: 'a', 'b')"),
        (["--pair", "x"], "--pair: 값이 2개 필요합니다"),
        (["--quick=x"], "--quick: 값을 받지 않는 옵션에 값이 주어졌습니다: 'x'"),
        (["--other"], "알 수 없는 인자입니다: --other"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_mistakes_in_korean(capsys, arguments, message):
    with speaking("ko"), argparse_speaking("ko"):
        parser = make_parser("해보기")
        parser.add_argument("--size", type=int)
        parser.add_argument("--kind", choices=("a", "b"))
        parser.add_argument("--pair", nargs=2)
        parser.add_argument("--quick", action="store_true")
        with pytest.raises(SystemExit):
            parser.parse_args(arguments)
    error, advice = capsys.readouterr().err.splitlines()
    assert error == f"해보기: 오류: {message}"
    assert advice == "사용법은 `해보기 --help`로 볼 수 있습니다."


@pytest.mark.parametrize(
    ("arguments", "language", "rest"),
    [
        ([], None, []),
        (["translate", "--language", "ko", "x"], "ko", None),
        (["translate", "--language=ko"], "ko", None),
        (["translate", "--language", "en", "--language", "ko"], "ko", None),
        (["translate", "--language", "fr"], None, None),
        (["translate", "--language"], None, None),
        (["translate", "--", "--language", "ko"], None, None),
        (["--language", "ko", "translate", "x"], "ko", ["translate", "x"]),
        (["--language=en", "translate", "--language", "ko"], "ko", ["translate", "--language", "ko"]),
        (["--language", "fr", "translate"], None, None),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else str(value),
)
def test_the_language_is_known_before_anything_is_parsed(arguments, language, rest):
    assert asked_language(arguments) == language
    assert without_language(arguments) == (arguments if rest is None else rest)


def test_lines_are_counted_in_columns():
    assert columns("가a") == 3
    assert columns("e\u0301") == 1
    assert wrapped("가나 다라 abc", 9) == ["가나 다라", "abc"]
    assert wrapped("가나 다라 abc", 8) == ["가나", "다라 abc"]
    assert wrapped("averylongword x", 4) == ["averylongword", "x"]


def test_help_fits_the_terminal_in_korean(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    parser = make_parser("해보기")
    parser.add_argument("--size", help="여러 줄에 걸쳐 적어야 할 만큼 긴 설명입니다. " * 5)
    parser.print_help()
    assert max(map(columns, capsys.readouterr().out.splitlines())) <= 80
