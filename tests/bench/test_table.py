"""The table has every goal of the design, and rows are found by name and group."""

from __future__ import annotations

import pytest
from benchmarks import table
from benchmarks.rows import (
    COLD,
    COST,
    EXTRA,
    FROM_DISK,
    INTERFACE,
    LARGEST,
    MEMORY,
    MICROSECONDS,
    MILLISECONDS,
    RMS,
    SHARE,
    SPEED,
    Goal,
    over,
)
from tests.bench.examples import EXACT

STATED = {case.name: {goal.value: goal.bound for goal in case.goals} for case in table.CASES}
LONG = (512, 1024, 2048, 4096)


def of(group: str) -> dict[str, dict[str, float]]:
    return {case.name: STATED[case.name] for case in table.CASES if case.group == group}


def bounds(names: list[str], value: str = SPEED) -> list[float]:
    return [STATED[name][value] for name in names]


def test_names_are_unique():
    assert len(STATED) == len(table.CASES)


def test_the_goals_of_calls_alone():
    assert set(map(tuple, (goals.items() for goals in of("dense").values()))) == {
        ((SPEED, 1.05), (over("openvino"), 1.2), (SHARE, 0.8))
    }
    assert list(table.MEAN_GOALS.items()) == [("dense", Goal(SPEED, 1.25))]
    assert bounds([f"causal n={n}" for n in (256, 512, 1024)]) == [1.6] * 3
    assert bounds([f"causal n={n}" for n in (2048, 4096, 8192)]) == [1.35] * 3
    assert bounds([f"causal n={n}" for n in (512, 1024, 2048, 4096, 8192)], over("openvino")) == [1.2] * 5
    named = {name: goals.get(SPEED) for group in ("masks", "decode", "options") for name, goals in of(group).items()}
    assert {name: bound for name, bound in named.items() if bound} == {
        "causal window 256 n=8192": 28,
        "padded batch 16 × 1024": 2,
        "decode float32": 2,
        "decode bfloat16": 6,
        "decode float16": 4,
        "wide values d_v=96 n=2048": 3.5,
        "dropout 0.1 n=2048": 8,
    }
    assert of("bfloat16") == {
        "bfloat16 n=2048": {SPEED: 2.0, over("openvino"): 1.2},
        "bfloat16 causal n=2048": {SPEED: 2.3},
        "bfloat16 decode, own keys": {},
    }
    assert of("small") == {
        "small h=8 n=8": {SPEED: 0.8},
        "small h=8 n=32": {SPEED: 1.2},
        "small h=12 n=32": {over("onnxruntime"): 1.0},
        "small h=12 n=128": {SPEED: 1.4, over("onnxruntime"): 1.2},
        "small h=12 n=512": {over("onnxruntime"): 1.2},
    }


def test_the_goals_of_calls_in_place():
    assert bounds([name for name in of("product") if "causal" in name]) == [1.6] * 4
    assert bounds([name for name in of("product") if "causal" not in name]) == [1.3] * 5
    assert bounds(list(of("busy"))) == [1.0] * 6
    models = {64: 1.0, 128: 1.0, 256: 1.05, 512: 1.05, 1024: 1.05, 4096: 1.15}
    expected = {f"{name} n={n}": x for name in ("BERT", "Llama", "Llama generate") for n, x in models.items()}
    expected["Mistral window 512 n=4096"] = 2.3
    assert of("models") == {name: {SPEED: x, INTERFACE: x} for name, x in expected.items()}


def test_the_goals_of_training():
    assert bounds([f"backward n={n}" for n in LONG]) == [1.25] * 4
    assert bounds([f"backward causal n={n}" for n in LONG]) == [1.5] * 4
    assert bounds([f"backward one head n={n}" for n in LONG]) == [1.4] * 4
    assert bounds(["backward bias n=2048", "backward d_v=96 n=2048", "backward dropout 0.1 n=2048"]) == [2.3, 4, 4]
    assert bounds(["GPT step 8 × 256", "GPT step 2 × 1024", "translator of dates"]) == [1.1, 1.1, 1.0]


def test_the_goals_of_the_rest():
    for name in ("look n=4096", "look causal n=4096"):
        assert STATED[name] == {SPEED: 7, COST: 1.25, MEMORY: 1 / 50}
    assert STATED["look causal n=65536"] == {EXTRA: 400}
    computed = "tile of 8192 × 8192"  # what the page does before it has the map of a head at hand
    assert STATED[computed] == {}
    assert bounds([name for name in of("tile") if name != computed], MILLISECONDS) == [50] * 13
    assert bounds(list(of("cost")), MICROSECONDS) == [15, 20, 25, 60, 80]
    assert STATED["first call"] == {COLD: 5, FROM_DISK: 0.3}
    assert all(STATED[case.name] == {LARGEST: 1.0, RMS: 1.0} for case in EXACT)
    upper = {goal.value for case in table.CASES for goal in case.goals if goal.most}
    assert upper == {COST, MEMORY, EXTRA, MILLISECONDS, MICROSECONDS, COLD, FROM_DISK, LARGEST, RMS}


@pytest.mark.parametrize(
    ("patterns", "found"),
    [
        (["decode"], ["decode float32", "decode bfloat16", "decode float16"]),
        (["masks"], ["causal window 256 n=8192", "padded batch 16 × 1024", "packed documents"]),
        (["causal"], [f"causal n={n}" for n in (256, 512, 1024, 2048, 4096, 8192)]),
        (["DENSE n=512 d=1"], ["dense n=512 d=128"]),
        (["backward causal n=5?2", "accuracy causal n=51"], ["backward causal n=512", "accuracy causal n=512"]),
        (["backward causal*24", "training"], ["backward causal n=1024", "GPT step 8 × 256", "GPT step 2 × 1024"]),
        (["training"], ["GPT step 8 × 256", "GPT step 2 × 1024"]),
        (["nothing of the kind"], []),
    ],
)  # fmt: skip
def test_only_filters_by_group_and_name(patterns, found):
    assert [case.name for case in table.select(patterns)] == found


def test_no_pattern_is_all_of_them():
    assert table.select([]) == list(table.CASES)
