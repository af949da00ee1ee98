from __future__ import annotations

import argparse
import os
import re
import signal
import subprocess
import sys
from types import SimpleNamespace

import pytest

import clearhead
from clearhead import cli
from clearhead.languages import RefusedError, Said

from ..english import english_in


@pytest.fixture
def command(monkeypatch):
    """A command of our own, whose run is what a test says."""

    def install(run):
        module = SimpleNamespace(
            DESCRIPTION=Said("Tried out.", "해 봅니다."), add_arguments=lambda p: p.add_argument("--size"), run=run
        )
        monkeypatch.setitem(cli.COMMANDS, "try", cli.Command("clearhead.tried", Said("tries", "해 봅니다")))
        monkeypatch.setitem(sys.modules, "clearhead.tried", module)

    return install


def test_help_lists_every_command(capsys):
    assert cli.main(["--help"]) == 0
    shown = capsys.readouterr().out
    for name, entry in cli.COMMANDS.items():
        assert f"{name}  " in shown
        assert entry.summary() in shown


def test_version(capsys):
    assert cli.main(["--version"]) == 0
    assert capsys.readouterr().out == f"clearhead {clearhead.__version__}\n"


def test_no_command_shows_help_and_fails(capsys):
    assert cli.main([]) == 2
    assert "commands:" in capsys.readouterr().out


def test_an_unknown_command_is_named(capsys):
    assert cli.main(["transalte"]) == 2
    assert "'transalte'" in capsys.readouterr().err


def test_arguments_reach_the_command(command):
    command(lambda options: int(options.size))
    assert cli.main(["try", "--size", "7"]) == 7


def test_options_are_not_guessed(command, capsys):
    command(lambda options: 0)
    assert cli.main(["try", "--si", "7"]) == 2
    assert "unrecognized arguments: --si" in capsys.readouterr().err


@pytest.mark.parametrize("error", [ValueError, FileNotFoundError, PermissionError, ModuleNotFoundError])
def test_an_error_is_one_line(command, capsys, error):
    def fail(options):
        raise error("the first\nand the second line")

    command(fail)
    assert cli.main(["try"]) == 1
    assert capsys.readouterr().err == "clearhead try: the first and the second line\n"


def test_a_refusal_is_said_in_the_language_asked_for(command, capsys):
    def fail(options):
        raise RefusedError(Said("no", "안 됩니다"))

    command(fail)
    assert cli.main(["try"]) == 1
    assert capsys.readouterr().err == "clearhead try: no\n"
    assert cli.main(["try", "--language", "ko"]) == 1
    assert capsys.readouterr().err == "clearhead try: 오류: 안 됩니다\n"


def test_a_bug_is_not_hidden(command):
    def fail(options):
        raise ZeroDivisionError

    command(fail)
    with pytest.raises(ZeroDivisionError):
        cli.main(["try"])


def test_ctrl_c_is_130(command):
    command(lambda options: signal.raise_signal(signal.SIGINT))
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # what runs in the background does not hear it
    try:
        assert cli.main(["try"]) == 130
    finally:
        signal.signal(signal.SIGINT, before)


def test_every_command_can_be_loaded_and_has_examples(capsys):
    for name in cli.COMMANDS:
        assert cli.main([name, "--help"]) == 0
        assert "examples:" in capsys.readouterr().out


def test_help_loads_nothing_heavy():
    code = (
        "import sys; from clearhead.cli import main; main(['--help']); main(['translate', '--help'])\n"
        "print(sorted({'numpy', 'torch', 'numba', 'matplotlib', 'rich', 'babel'} & set(sys.modules)))"
    )
    assert subprocess.check_output([sys.executable, "-c", code], text=True).splitlines()[-1] == "[]"


def test_the_language_is_that_of_the_option_then_of_the_variable_then_of_the_locale(monkeypatch, capsys):
    def title(*arguments):
        assert cli.main([*arguments, "--help"]) == 0
        return capsys.readouterr().out.split(":")[0]

    assert title("translate") == "usage"
    assert title("translate", "--language", "ko") == title("--language=ko", "translate") == "사용법"
    assert title("--language", "ko") == "사용법"
    monkeypatch.setenv("CLEARHEAD_LANG", "ko")
    assert title() == title("translate") == "사용법"
    assert title("translate", "--language", "en") == "usage"
    monkeypatch.delenv("CLEARHEAD_LANG")
    monkeypatch.setenv("LC_ALL", "ko_KR.UTF-8")
    assert title("visualize") == "사용법"


def test_a_variable_that_names_no_language_is_told_and_passed_over(monkeypatch, capsys):
    monkeypatch.setenv("CLEARHEAD_LANG", "kr")
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    assert cli.main(["--version"]) == 0
    out, err = capsys.readouterr()
    assert out == f"clearhead {clearhead.__version__}\n"
    assert err == "clearhead: CLEARHEAD_LANG is 'kr', which is none of en, ko; going on in English\n"
    monkeypatch.setenv("LC_ALL", "ko_KR.UTF-8")
    assert cli.main(["translate", "--help"]) == 0
    out, err = capsys.readouterr()
    assert out.startswith("사용법: ")
    assert err == "clearhead: CLEARHEAD_LANG='kr': 쓸 수 있는 언어(en, ko)가 아닙니다. 한국어로 계속합니다\n"
    assert cli.main(["--language", "en", "--version"]) == 0
    assert capsys.readouterr().err == ""


def test_a_mistake_is_not_buried_under_the_usage(command, capsys):
    def fail(options):
        raise argparse.ArgumentError(None, "--size goes with nothing")

    command(fail)
    advice = "`clearhead try --help` shows how it is used.\n"
    for arguments, said in ((["--sise", "7"], "unrecognized arguments: --sise 7"), ([], "--size goes with nothing")):
        assert cli.main(["try", *arguments]) == 2
        assert capsys.readouterr().err == f"clearhead try: error: {said}\n{advice}"


def test_the_usage_names_every_option(capsys):
    assert cli.main(["--help"]) == 0
    usage, *rest = capsys.readouterr().out.splitlines()
    for option in ("-h", "--version", "--language"):
        assert f"[{option}" in usage
        assert any(line.strip().startswith(option) for line in rest)


def test_nothing_is_left_of_a_language_that_was_spoken(monkeypatch):
    monkeypatch.delenv("CLEARHEAD_LANG")
    one, several = argparse._, argparse.ngettext
    assert cli.main(["--language", "ko", "--version"]) == 0
    assert "CLEARHEAD_LANG" not in os.environ
    assert (argparse._, argparse.ngettext) == (one, several)


@pytest.mark.parametrize(
    "arguments",
    [
        ["--help"],
        [],
        ["transalte"],
        ["--langauge", "ko"],
        *([name, "--help"] for name in cli.COMMANDS),
        ["translate"],
        ["translate", "--plan"],
        ["translate", "--model"],
        ["translate", "--task", "poems"],
        ["translate", "--train", "--steps", "0"],
        ["translate", "--layer", "x"],
        ["translate", "고양이", "--head", "1"],
        ["translate", "고양이", "--resume"],
        ["translate", "고양이", "--train"],
        ["translate", "고양이", "--list"],
        ["translate", "--train", "--film", "x.gif"],
        ["translate", "--train", "--swap"],
        ["translate", ""],
        ["translate", "고냥이가 쥐를 잡았다"],
        ["translate", "크툴루가 쥐를 잡았다"],
        ["translate", "나는 학교에", "간다"],
        ["translate", "2월 30일"],
        ["translate", "오후 25시"],
        ["translate", "고양이가 " * 100],
        ["translate", "고양이가 쥐를 잡았다", "--model", "없음.safetensors"],
        ["translate", "고양이가 쥐를 잡았다", "--layer", "99"],
        ["translate", "고양이가 쥐를 잡았다", "--figure", "그림.bmp"],
        ["translate", "고양이가 쥐를 잡았다", "--figure", "없음/그림.png"],
        ["visualize", "--format", "bmp"],
        ["visualize", "고냥이"],
        ["visualize", "고양이", "--text", "고양이"],
        ["visualize", "고양이가 쥐를", "잡았다"],
        ["visualize", "--model", "없음.safetensors"],
        ["learn", "09"],
        ["learn", "--pager"],
        ["trace", "--model", "모델"],
        ["trace", "--model", "모델", "--text", "없음.txt"],
    ],
    ids=lambda arguments: " ".join(arguments)[:40] or "nothing",
)
def test_korean_leaves_no_english(monkeypatch, capsys, tmp_path, arguments):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CLEARHEAD_LANG", "ko")
    status = cli.main(arguments)
    out, err = capsys.readouterr()
    assert status == (0 if "--help" in arguments else 1 if err.count("\n") == 1 else 2)
    assert re.search("[가-힣]", out + err)
    assert english_in(out + err) == []


def test_the_english_that_is_looked_for_would_be_found():
    assert english_in("사용법: clearhead translate [-h] [--task {dates,all}] FILE") == []
    assert english_in("오류: unrecognized arguments: --plan") == ["unrecognized", "arguments"]


def test_it_is_a_module_too(tmp_path):
    command = [sys.executable, "-m", "clearhead"]
    assert subprocess.check_output([*command, "--version"], text=True) == f"clearhead {clearhead.__version__}\n"
    found = subprocess.run([*command, "transalte"], capture_output=True, text=True, check=False)
    assert found.returncode == 2
    assert "-m clearhead --help` shows" in found.stderr


def test_a_reader_that_stops_reading_is_no_error():
    code = "from clearhead.cli import main; import sys; sys.exit(main(['translate', '--help']))"
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.close()
        process.wait()
        assert b"Traceback" not in process.stderr.read()
