from __future__ import annotations

import signal
import subprocess
import sys
from types import SimpleNamespace

import pytest

import clearhead
from clearhead import cli


@pytest.fixture
def command(monkeypatch):
    """A command of our own, whose run is what a test says."""

    def install(run):
        module = SimpleNamespace(__doc__="Tried out.", add_arguments=lambda p: p.add_argument("--size"), run=run)
        monkeypatch.setitem(cli.COMMANDS, "try", cli.Command("clearhead.tried", "tries"))
        monkeypatch.setitem(sys.modules, "clearhead.tried", module)

    return install


def test_help_lists_every_command(capsys):
    assert cli.main(["--help"]) == 0
    shown = capsys.readouterr().out
    for name, entry in cli.COMMANDS.items():
        assert f"{name}  " in shown
        assert entry.summary in shown


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


def test_a_bug_is_not_hidden(command):
    def fail(options):
        raise ZeroDivisionError

    command(fail)
    with pytest.raises(ZeroDivisionError):
        cli.main(["try"])


def test_ctrl_c_is_130(command):
    command(lambda options: signal.raise_signal(signal.SIGINT))
    assert cli.main(["try"]) == 130


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


def test_a_reader_that_stops_reading_is_no_error():
    code = "from clearhead.cli import main; import sys; sys.exit(main(['translate', '--help']))"
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.close()
        process.wait()
        assert b"Traceback" not in process.stderr.read()
