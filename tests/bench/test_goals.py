"""Goals one by one: those that the last run missed, and what could not be judged for want of a library."""

from __future__ import annotations

import io
import json

import pytest
from benchmarks import __main__ as command, goals, report
from benchmarks.rows import MICROSECONDS, SPEED, Goal, Mean, over
from rich.console import Console
from tests.bench.examples import ROWS, named, row

SETTINGS = {"threads": 2, "quick": True, "date": "2026-01-02T03:04:05+00:00"}
MEANS = [Mean("dense", 1.1, Goal(SPEED, 1.25), 2, 10), Mean("causal", 1.5, Goal(SPEED, 1.25), 2, 2)]
ALL = [
    *ROWS,
    row(
        "behind",
        "small",
        (Goal(SPEED, 1), Goal(over("openvino"), 1.2), Goal(MICROSECONDS, 15, most=True)),
        speed=2,
        speed_over_openvino=1.1,
        microseconds=20,
    ),
]


def printed(show, *arguments) -> str:
    console = Console(width=150, file=io.StringIO())
    show(*arguments, console)
    return console.file.getvalue()


def found(rows=ALL, means=MEANS):
    return report.Report({"cores": 2}, SETTINGS, rows, means, True)


def test_a_report_is_read_as_it_was_written():
    text = json.dumps(report.as_json(found()))
    assert goals.from_json(text) == found()


def test_only_what_was_missed_is_shown():
    lines = [" ".join(line.split()) for line in printed(goals.show_missed, found()).splitlines()]
    assert [line for line in lines if line.endswith("missed")] == [
        "slow speed 0.50 (0.45–0.55) ≥ 1.2 missed",
        "behind speed over openvino 1.10 (0.99–1.21) ≥ 1.2 missed",
        "behind microseconds 20.00 (18.00–22.00) ≤ 15 missed",
    ]
    assert "geometric mean over dense: 1.10, goal ≥ 1.25" in lines
    assert not any("quick" in line or "aimless" in line or "causal" in line for line in lines)


def test_nothing_missed_is_said():
    assert printed(goals.show_missed, found(ROWS[:1], [])).strip() == "no goal was missed, of 2 that were judged"


def test_the_command_reads_the_last_run(tmp_path, capsys):
    first, second = row("dense n=512 d=64", goals=(Goal(SPEED, 1.2),), speed=1.0), row("small h=8 n=8", "small")
    report.write_json(found([first, second], MEANS), tmp_path / "bench.json")
    before = (tmp_path / "bench.json").read_text(encoding="utf-8")
    assert command.main(["--missed", "--out", str(tmp_path)]) == 0
    text = capsys.readouterr().out
    assert "2 cases, measured 2026-01-02T03:04:05+00:00, quick: few rounds" in text
    assert "dense n=512 d=64" in text
    assert "geometric mean over dense" in text
    assert command.main(["--missed", "--only", "small", "--out", str(tmp_path)]) == 0
    text = capsys.readouterr().out
    assert "1 cases" in text
    assert "dense" not in text
    assert (tmp_path / "bench.json").read_text(encoding="utf-8") == before, "nothing is measured"


def test_without_a_last_run_it_is_said_how_to_make_one(tmp_path, capsys):
    with pytest.raises(SystemExit, match="2"):
        command.main(["--missed", "--out", str(tmp_path)])
    assert "python -m benchmarks measures and writes one" in capsys.readouterr().err


def test_a_missing_library_is_named_with_the_rows_it_costs(monkeypatch):
    chosen = [named("dense n=512 d=64"), named("BERT n=64"), named("small h=12 n=32")]
    assert goals.missing(chosen) == (chosen, [])
    monkeypatch.setattr(goals, "find_spec", lambda name: None)
    kept, said = goals.missing(chosen)
    assert [case.name for case in kept] == ["dense n=512 d=64", "small h=12 n=32"]
    assert said == [
        "transformers is not installed (pip install transformers); skipped: BERT n=64",
        "onnxruntime is not installed (pip install onnxruntime); not compared with it: small h=12 n=32",
        "openvino is not installed (pip install openvino); not compared with it: dense n=512 d=64",
    ]


def test_a_library_that_is_not_there_takes_no_part(monkeypatch):
    from benchmarks import runtimes

    monkeypatch.setattr(runtimes, "find_spec", lambda name: None)
    calls = named("small h=8 n=8").build(1, 1).calls
    assert {"onnxruntime", "openvino"}.isdisjoint(calls)
