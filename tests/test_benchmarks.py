"""The benchmark measures what it says: the same problem for everyone, in turn, judged by the stated goals.

No time is asserted here. Cases are built a fraction of their size.
"""

from __future__ import annotations

import io
import itertools
import json
import math
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import matplotlib.image
import numpy as np
import pytest
import torch
from benchmarks import __main__ as command, accuracy, cases, machine, measure, peers, plot, report, run
from benchmarks.measure import Effort
from benchmarks.rows import LARGEST, RMS, SHARE, SPEED, Goal, Mean, Peer, Row, Value, geometric_mean, means, spread
from rich.console import Console

import clearhead as ch
from clearhead import masks

ROOT = Path(__file__).parents[1]
SIZE = 1 / 61
THREADS = machine.cores()  # with fewer, not everyone takes part
TIMED = [case for case in cases.CASES if isinstance(case, cases.Case)]
FORWARD = [case for case in TIMED if case.group not in ("backward", "training", "look")]
EXACT = [case for case in cases.CASES if isinstance(case, cases.AccuracyCase)]
TOLERANCE = {"float32": 4e-6, "float16": 1e-3, "bfloat16": 1e-2}
MINIMAL = Effort(rounds=2, seconds=0.0, inputs=2)


@pytest.fixture(autouse=True)
def same_threads_afterwards():
    before = ch.get_num_threads(), torch.get_num_threads()
    yield
    ch.set_num_threads(before[0])
    torch.set_num_threads(before[1])


@pytest.fixture
def minimal(monkeypatch):
    monkeypatch.setattr(measure, "QUICK", MINIMAL)


def named(name: str) -> cases.Case | cases.AccuracyCase:
    return next(case for case in cases.CASES if case.name == name)


# The cases


@pytest.mark.parametrize("case", TIMED, ids=lambda case: case.name)
def test_everyone_computes_the_same(case):
    work = case.build(SIZE, THREADS)
    truth = work.problem.truth()
    assert measure.OURS in work.calls
    assert case not in FORWARD or "textbook" in work.calls
    tolerance = TOLERANCE[work.problem.q.dtype.name if case in FORWARD else "float32"]
    for name, call in work.calls.items():
        if name in measure.BESIDE or call.random:
            continue
        answer = call.read(call.run()).astype(np.float64)
        assert answer.shape == truth.shape
        error = np.abs(answer - truth).max()
        assert error < tolerance, f"{name} is off by {error}"


def test_who_takes_part_where():
    without = {case.name for case in FORWARD if "onnxruntime" not in case.build(SIZE, THREADS).calls}
    assert without == {"decode bfloat16", "dropout 0.1 n=2048"}
    for case in TIMED:
        others = set(case.build(SIZE, THREADS).calls) - {*measure.BESIDE, measure.OURS}
        assert case in FORWARD or others == ({measure.THEIRS} if case.name != "look causal n=65536" else set())
    beside_sgemm = [case.name for case in TIMED if measure.YARDSTICK in case.build(SIZE, THREADS).calls]
    assert beside_sgemm == [case.name for case in TIMED if case.group in ("dense", "backward")]


@pytest.mark.parametrize("name", ["dropout 0.1 n=2048", "backward dropout 0.1 n=2048"])
def test_dropout_is_compared_only_with_who_drops_the_same(name):
    calls = named(name).build(SIZE, THREADS).calls
    assert {name for name, call in calls.items() if call.random} == {"torch"}


def test_gradients_are_those_of_everything_that_went_in():
    problem = named("backward bias n=2048").build(SIZE, THREADS).problem
    of = problem.of
    assert problem.truth().size == of.q.size + of.k.size + of.v.size + of.addition.size
    assert problem.operations == 3.5 * of.operations
    step = 1e-6  # one of them by difference quotient
    moved = replace(of, v=of.v.astype(np.float64))
    moved.v[0, 3, 5, 7] += step
    difference = ((moved.truth() - of.truth()) * problem.weighing).sum() / step
    place = of.q.size + of.k.size + np.ravel_multi_index((0, 3, 5, 7), of.v.shape)
    assert problem.truth()[place] == pytest.approx(difference, rel=1e-6)


def test_a_training_case_goes_on_from_step_to_step():
    work = named("GPT step 8 × 256").build(1 / 16, THREADS)
    ours, theirs = ([work.calls[name].run() for _ in range(3)] for name in (measure.OURS, measure.THEIRS))
    assert len({*ours}) == 3
    assert ours == pytest.approx(theirs, abs=1e-5)
    assert ours[0] == pytest.approx(float(work.problem.truth()), abs=1e-5)


def test_large_problems_are_kept_from_the_textbook():
    problem = cases.draw(3, h=2)
    assert peers.with_textbook(problem, 1) is not None
    large = replace(problem, **{x: np.broadcast_to(getattr(problem, x), (2**20, 2, 3, 64)) for x in "qkv"})
    assert large.scores > peers.MOST_TEXTBOOK_SCORES
    assert peers.with_textbook(large, 1) is None


def test_torch_sees_the_same_memory():
    for dtype in cases.TYPES:
        x = cases.draw(5, dtype=dtype).q
        x[..., 3, 2] = 7
        assert peers.tensor(x)[..., 3, 2].float().eq(7).all()
        assert peers.tensor(x).data_ptr() == x.ctypes.data


def test_operations_are_those_of_two_products():
    problem = cases.draw(3, 5, b=2, h=7, h_kv=1, d=11, d_v=13)
    assert problem.operations == 2 * 7 * (2 * 3 * 5 * 11 + 2 * 3 * 5 * 13)
    assert peers.sgemm(17).operations == 2 * 17**3


def test_a_mask_says_the_same_written_out():
    for name in ("causal window 256 n=8192", "padded batch 16 × 1024"):
        problem = named(name).build(SIZE, THREADS).problem
        b, h, n, _ = problem.q.shape
        written = problem.mask.array(n, batch_shape=(b,), heads=h)
        np.testing.assert_array_equal(np.broadcast_to(problem.allowed, written.shape), written)


def test_names_are_unique_and_every_goal_of_the_design_is_there():
    names = [case.name for case in cases.CASES]
    assert len(set(names)) == len(names)
    stated = {case.name: {goal.value: goal.bound for goal in case.goals} for case in cases.CASES}
    assert [stated[f"causal n={n}"][SPEED] for n in (256, 512, 1024)] == [1.7] * 3
    assert [stated[f"causal n={n}"][SPEED] for n in (2048, 4096, 8192)] == [1.4] * 3
    assert all(stated[case.name] == {SPEED: 1.0, SHARE: 0.8} for case in TIMED if case.group == "dense")
    assert all(stated[case.name] == {LARGEST: 1.0, RMS: 1.0} for case in EXACT)
    assert list(cases.MEAN_GOALS.items()) == [("dense", Goal(SPEED, 1.2))]
    others = {case.name: stated[case.name].get(SPEED) for case in TIMED if case.group not in ("dense", "causal")}
    assert others == {
        "causal window 256 n=8192": 12,
        "padded batch 16 × 1024": 2,
        "packed documents": None,
        "decode float32": 1.5,
        "decode bfloat16": 4,
        "decode float16": 4,
        "wide values d_v=96 n=2048": 4,
        "dropout 0.1 n=2048": 4,
        "bias array n=2048": None,
        "bias ALiBi n=2048": None,
        "grouped heads 32/8 n=2048": None,
        "small n=32": 0.5,
        **{f"backward n={n}": 1.2 for n in (512, 1024, 2048, 4096)},
        **{f"backward causal n={n}": 1.5 for n in (512, 1024, 2048, 4096)},
        "backward bias n=2048": 4,
        "backward d_v=96 n=2048": 4,
        "backward dropout 0.1 n=2048": 4,
        "look n=4096": 6,
        "look causal n=4096": 6,
        "look causal n=65536": None,
        "GPT step 8 × 256": None,
        "GPT step 2 × 1024": None,
    }


@pytest.mark.parametrize(
    ("patterns", "found"),
    [
        (["decode"], ["decode float32", "decode bfloat16", "decode float16"]),
        (["masks"], ["causal window 256 n=8192", "padded batch 16 × 1024", "packed documents"]),
        (["causal"], [f"causal n={n}" for n in (256, 512, 1024, 2048, 4096, 8192)]),
        (["DENSE n=512 d=1"], ["dense n=512 d=128"]),
        (["causal n=5?2"], ["causal n=512", "backward causal n=512", "accuracy causal n=512"]),
        (["causal*24", "small"], ["causal n=1024", "small n=32", "backward causal n=1024"]),
        (["training"], ["GPT step 8 × 256", "GPT step 2 × 1024"]),
        (["nothing of the kind"], []),
    ],
)  # fmt: skip
def test_only_filters_by_group_and_name(patterns, found):
    assert [case.name for case in cases.select(patterns)] == found


def test_no_pattern_is_all_of_them():
    assert cases.select([]) == list(cases.CASES)


# Goals


def row(name: str = "a", group: str = "dense", goals: tuple[Goal, ...] = (), **values: float) -> Row:
    found = {key.replace("_", " "): Value(x, 0.9 * x, 1.1 * x) for key, x in values.items()}
    peer = Peer(Value(0.002, 0.001, 0.003), 3 * 2**20)
    return Row(name, group, "SDPA", found, goals, {"clearhead": peer, "torch": replace(peer, extra_bytes=None)}, 7)


@pytest.mark.parametrize(
    ("speed", "share", "verdict", "missed"),
    [
        (1.5, 0.9, "met", []),
        (1.2, 0.8, "met", []),
        (1.19, 0.9, "missed", ["speed"]),
        (1.5, 0.79, "missed", ["share of sgemm"]),
        (1.0, 0.1, "missed", ["speed", "share of sgemm"]),
    ],
)
def test_a_row_meets_its_goals_only_if_it_meets_all(speed, share, verdict, missed):
    measured = row(goals=(Goal(SPEED, 1.2), Goal(SHARE, 0.8)), speed=speed, share_of_sgemm=share)
    assert measured.verdict == verdict
    assert [goal.value for goal in measured.missed] == missed


def test_some_goals_are_upper_bounds():
    goal = Goal(LARGEST, 1.0, most=True)
    assert [goal.met(x) for x in (0.5, 1.0, 1.01)] == [True, True, False]
    assert str(goal) == "largest error ≤ 1"
    assert str(Goal(SPEED, 1.7)) == "speed ≥ 1.7"


def test_without_a_goal_or_its_value_there_is_no_verdict():
    assert row(speed=0.1).verdict == ""
    assert row(goals=(Goal(SHARE, 0.8),), speed=0.1).verdict == ""


def test_the_geometric_mean_of_a_group_has_its_own_goal():
    rows = [row("a", speed=1.0), row("b", speed=4.0), row("c", group="causal", speed=100.0)]
    (mean,) = means(rows, {"dense": Goal(SPEED, 2.1), "small": Goal(SPEED, 1)}, {"dense": 10})
    assert mean.number == pytest.approx(2.0, rel=1e-15)
    assert (mean.rows, mean.of, mean.verdict) == (2, 10, "missed")
    assert replace(mean, goal=Goal(SPEED, 1.9)).verdict == "met"
    assert geometric_mean([2.0, 3.0, 5.0]) == pytest.approx(30 ** (1 / 3), rel=1e-15)


# Measuring


def test_ratios_are_of_medians_and_their_spread_is_of_rounds():
    theirs, ours = [2.0, 4.0, 6.0, 8.0, 100.0], [1.0, 2.0, 2.0, 8.0, 2.0]
    assert measure.ratio(theirs, ours) == Value(3.0, 2.0, 3.0)
    assert spread(theirs) == Value(6.0, 4.0, 8.0)


def test_values_are_speed_against_torch_and_share_of_the_yardstick():
    seconds = {"clearhead": [2.0, 2.0], "torch": [3.0, 3.0], "sgemm": [4.0, 4.0], "jax": [9.0, 9.0]}
    calls = {"sgemm": peers.Call(lambda: None, operations=50.0)}
    found = measure.values(seconds, calls, operations=20.0)
    assert {name: x.number for name, x in found.items()} == {SPEED: 1.5, SHARE: (20 / 2) / (50 / 4)}
    assert measure.values({"clearhead": [2.0], "torch": [3.0]}, {}, 20.0).keys() == {SPEED}


def test_every_round_calls_everyone_and_begins_with_another(monkeypatch):
    turns: list[str] = []
    monkeypatch.setattr(measure, "turn", lambda run, repeats: turns.append(run()) or 1.0)
    calls = {name: peers.Call(lambda name=name: name) for name in "abc"}
    shares: list[float] = []
    seconds = measure.timings(calls, Effort(rounds=4, seconds=0.0), shares.append)
    assert "".join(turns) == "abcbcacababc"
    assert seconds == {name: [1.0] * 4 for name in "abc"}
    assert shares == sorted(shares)
    assert shares[-1] == 1.0


def test_rounds_go_on_while_there_is_time_and_end_at_the_most():
    calls = {"a": peers.Call(lambda: None)}
    assert len(measure.timings(calls, Effort(rounds=2, seconds=60.0, most_rounds=5))["a"]) == 5


def test_short_calls_are_repeated_and_warmed_up():
    called: list[int] = []
    measure.turn(lambda: called.append(1), repeats=5)
    assert len(called) == 6
    measure.turn(lambda: called.append(1), repeats=1)
    assert len(called) == 7


def test_memory_is_the_peak_of_a_call():
    def run():
        first = np.ones(2**23)  # 64 MiB, and another while the first is there
        return (first + 1).sum()

    extra = measure.extra_bytes(peers.Call(run))
    if not Path("/proc/self/clear_refs").exists():
        assert extra is None
    else:
        assert extra == pytest.approx(2 * 2**26, rel=0.05)


def test_memory_is_unknown_where_it_cannot_be_measured(monkeypatch):
    def refuse(*_):
        raise PermissionError

    monkeypatch.setattr(Path, "write_text", refuse)
    assert measure.extra_bytes(peers.Call(lambda: None)) is None


def test_errors_are_compared_input_by_input():
    problem = cases.causal_problem(7, h=2)
    values, figures = accuracy.compare([problem, problem], 2)
    truth = problem.truth()
    ours = accuracy.error(ch.attention(problem.q, problem.k, problem.v, mask=masks.causal()), truth)
    theirs = accuracy.error(problem.truth(np.float32), truth)
    for kind in (LARGEST, RMS):
        assert values[kind].number == ours[kind] / theirs[kind] == figures[f"{kind}, worst ratio"]
        assert figures[f"{kind}, clearhead"] == ours[kind]
    assert accuracy.error(np.array([3.0, 1.0]), np.array([0.0, 5.0])) == {LARGEST: 4.0, RMS: math.sqrt(12.5)}


# The command


def test_a_run_writes_table_json_and_plot(tmp_path, capsys, minimal):
    chosen = ["dense n=512 d=64", "small n=32", "accuracy causal n=512"]
    arguments = [*itertools.chain(*(("--only", name) for name in chosen)), "--quick", "--out", str(tmp_path / "new")]
    assert command.main(arguments, size=1 / 16) == 0

    text = (tmp_path / "new" / "bench.json").read_text(encoding="utf-8")
    found = json.loads(text)
    assert [row["name"] for row in found["rows"]] == chosen
    assert found["complete"] is True
    assert found["machine"]["versions"]["torch"] == torch.__version__
    assert found["rows"][0]["values"].keys() == {SPEED, SHARE}
    assert {"clearhead", "torch", "onnxruntime", "textbook", "sgemm"} <= found["rows"][0]["peers"].keys()
    assert found["rows"][2]["values"].keys() == {LARGEST, RMS}
    assert all(row["verdict"] in ("met", "missed") and row["rounds"] == 2 for row in found["rows"])
    assert found["geometric_means"][0]["of"] == 10
    assert found["machine"].keys() == {"processor", "cores", "vectors", "system", "versions"}
    assert not re.search(r"/(home|root|tmp|work|usr)\b", text), "a path says where somebody works"

    picture = matplotlib.image.imread(tmp_path / "new" / "bench.png")
    assert picture.min() < 0.3 < 0.9 < picture.mean() < 1

    printed = capsys.readouterr().out
    assert all(printed.count(name) == 2 for name in chosen), "once when it is measured and once in the table"
    assert "geometric mean over dense (1 of 10 rows)" in printed


def stopped_at_the_second(monkeypatch, error: BaseException) -> list[str]:
    def stop(*_):
        raise error

    first, second = named("small n=32"), named("decode float32")
    broken = replace(second, build=stop)
    monkeypatch.setattr(cases, "CASES", (first, broken))
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
    assert command.main(["--only", "small", "--quick", "--threads", "3", "--out", str(tmp_path)]) == 0
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
    assert "speed ≥ 4" in printed[1]


def test_it_runs_as_a_module():
    result = subprocess.run(
        [sys.executable, "-m", "benchmarks", "--help"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    for option in ("--only PATTERN", "--quick", "--threads N", "--out DIR", "make bench"):
        assert option in result.stdout


# The report


def shown(rows: list[Row], width: int, means: tuple[Mean, ...] = ()) -> str:
    console = Console(width=width, file=io.StringIO())
    report.show(report.Report({}, {}, rows, means, True), console)
    return console.file.getvalue()


ROWS = [
    row("quick", goals=(Goal(SPEED, 1.2), Goal(SHARE, 0.8)), speed=1.5, share_of_sgemm=0.95),
    row("slow", goals=(Goal(SPEED, 1.2),), speed=0.5),
    row("aimless", "options", speed=3.0),
]


def test_the_table_tells_met_from_missed():
    lines = {line.split()[0]: line for line in shown(ROWS, 200).splitlines() if line.split()}
    assert " ".join(lines["quick"].split()) == "quick 2.00 ms 2.00 ms 1.50 (1.35–1.65) 1.2 met 95% 3.0 MiB —"
    assert "missed" in lines["slow"]
    assert "met" not in lines["aimless"]
    assert "missed" not in lines["aimless"]
    assert lines["goals:"] == "goals: 1 met, 1 missed"


def test_a_narrow_terminal_gets_two_tables_and_nothing_cut_off():
    text = shown(ROWS, 80)
    assert "…" not in text
    assert [text.count(name) for name in ("quick", "slow", "aimless")] == [2, 2, 2]


@pytest.mark.parametrize(
    ("number", "text"),
    [(1.2345, "1.23 s"), (123.4, "123 s"), (0.0456, "45.6 ms"), (0.001, "1.00 ms"), (45.67e-6, "45.7 µs")],
)
def test_times_have_three_digits(number, text):
    assert report.seconds(number) == text


def test_the_plot_tells_met_from_missed():
    found = report.Report(machine.describe(), {"threads": 2, "quick": False}, ROWS, [], True)
    (axes,) = plot.draw(found).axes
    markers = [line.get_marker() for line in axes.lines if line.get_markersize() == 7 and len(line.get_xdata()) == 1]
    assert markers == ["o", "X", "o"]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["quick", "slow", "aimless"]
    assert axes.get_xscale() == "log"
