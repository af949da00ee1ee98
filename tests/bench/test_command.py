"""`python -m benchmarks`, run as a user runs it, on cases a fraction of their size. No time is asserted."""

from __future__ import annotations

import itertools
import json
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import matplotlib.image
import pytest
import torch
from benchmarks import __main__ as command, machine, report, run, table
from benchmarks.rows import LARGEST, RMS, SHARE, SPEED, over
from rich.console import Console
from tests.bench.examples import named

import clearhead as ch

ROOT = Path(__file__).parents[2]


def test_a_run_writes_table_json_and_plot(tmp_path, capsys, minimal):
    chosen = ["dense n=512 d=64", "small h=8 n=32", "accuracy causal n=512"]
    arguments = [*itertools.chain(*(("--only", name) for name in chosen)), "--quick", "--out", str(tmp_path / "new")]
    assert command.main(arguments, size=1 / 16) == 0

    text = (tmp_path / "new" / "bench.json").read_text(encoding="utf-8")
    found = json.loads(text)
    assert [row["name"] for row in found["rows"]] == chosen
    assert found["complete"] is True
    assert found["machine"]["versions"]["torch"] == torch.__version__
    assert found["rows"][0]["values"].keys() == {SPEED, SHARE, over("openvino")}
    assert {"clearhead", "torch", "onnxruntime", "openvino", "textbook", "sgemm"} <= found["rows"][0]["peers"].keys()
    assert found["rows"][2]["values"].keys() == {LARGEST, RMS}
    assert all(row["verdict"] in ("met", "missed") and row["rounds"] == 2 for row in found["rows"])
    assert found["geometric_means"][0]["of"] == 10
    assert found["machine"].keys() == {"processor", "cores", "vectors", "system", "versions"}
    assert not re.search(r"/(home|root|tmp|work|usr)\b", text), "a path says where somebody works"

    picture = matplotlib.image.imread(tmp_path / "new" / "bench.png")
    assert picture.min() < 0.3 < 0.9 < picture.mean() < 1

    printed = capsys.readouterr().out
    assert all(printed.count(name) >= 2 for name in chosen), "once when it is measured and once in the table"
    assert "geometric mean over dense (1 of 10 rows)" in printed


def stopped_at_the_second(monkeypatch, error: BaseException) -> list[str]:
    def stop(*_):
        raise error

    first, second = named("small h=8 n=32"), named("decode float32")
    broken = replace(second, build=stop)
    monkeypatch.setattr(table, "CASES", (first, broken))
    monkeypatch.setattr(run, "select", lambda patterns: [first, broken])
    return [first.name]


@pytest.mark.parametrize("error", [KeyboardInterrupt(), RuntimeError("broken")], ids=["Ctrl-C", "error"])
def test_what_was_measured_before_it_stopped_is_written(error, tmp_path, capsys, minimal, monkeypatch):
    kept = stopped_at_the_second(monkeypatch, error)
    if isinstance(error, KeyboardInterrupt):
        assert command.main(["--quick", "--out", str(tmp_path)]) == 130
    else:
        with pytest.raises(RuntimeError, match="broken"):
            command.main(["--quick", "--out", str(tmp_path)])
    found = json.loads((tmp_path / "bench.json").read_text(encoding="utf-8"))
    assert [row["name"] for row in found["rows"]] == kept
    assert found["complete"] is False
    assert (tmp_path / "bench.png").exists()
    assert "stopped before the last case" in capsys.readouterr().out


def test_nothing_is_written_if_nothing_was_measured(tmp_path, capsys):
    found = report.Report(machine.describe(), {}, [], [], False)
    run.finish(found, tmp_path, Console())
    assert list(tmp_path.iterdir()) == []
    assert "nothing was measured" in capsys.readouterr().out


def test_threads_are_those_of_both_sides(tmp_path, minimal):
    assert command.main(["--only", "small h=8 n=8", "--quick", "--threads", "3", "--out", str(tmp_path)]) == 0
    assert ch.get_num_threads() == torch.get_num_threads() == 3
    assert json.loads((tmp_path / "bench.json").read_text(encoding="utf-8"))["settings"]["threads"] == 3


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--only", "fast", "--only", "slow"], "no case matches fast or slow; the groups are dense, causal, masks"),
        (["--threads", "0"], "expected a whole number of at least 1, got '0'"),
    ],
)
def test_bad_arguments_are_explained(arguments, message, capsys):
    with pytest.raises(SystemExit, match="2"):
        command.main(arguments)
    assert message in capsys.readouterr().err


def test_list_measures_nothing(capsys):
    assert command.main(["--list", "--only", "decode"]) == 0
    printed = capsys.readouterr().out.splitlines()
    assert len(printed) == 3
    assert "decode bfloat16" in printed[1]
    assert "speed ≥ 6" in printed[1]


def test_it_runs_as_a_module():
    result = subprocess.run(
        [sys.executable, "-m", "benchmarks", "--help"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    for option in ("--only PATTERN", "--missed", "--quick", "--threads N", "--out DIR", "make bench"):
        assert option in result.stdout
