"""Every library is given the same problem, and solves it. Cases are built a fraction of their size."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from benchmarks import measure, peers, problems
from tests.bench.examples import SIZE, THREADS, TIMED, named

FORWARD = [
    case for case in TIMED if case.group not in ("backward", "training", "look", "tile", "cost", "models", "trace")
]
TOLERANCE = {"float32": 4e-6, "float16": 1e-3, "bfloat16": 1e-2}


@pytest.mark.parametrize(
    "case", [case for case in TIMED if case.group not in ("models", "trace")], ids=lambda case: case.name
)
def test_everyone_computes_the_same(case):
    work = case.build(SIZE, THREADS)
    truth = work.problem.truth()
    assert measure.OURS in work.calls
    assert case not in FORWARD or case.group in ("product", "busy") or "textbook" in work.calls
    kind = work.problem.q.dtype.name if case in FORWARD else "float32"
    # An output of 3 in bfloat16 is off by 1/128 when it is rounded.
    tolerance = TOLERANCE[kind] * (np.abs(truth).max() if kind == "bfloat16" else 1)
    for name, call in work.calls.items():
        if name in measure.BESIDE or call.random:
            continue
        answer = call.read(measure.once(call)).astype(np.float64)
        assert answer.shape == truth.shape
        error = np.abs(answer - truth).max()
        assert error < tolerance, f"{name} is off by {error}"


def taking_part(case):
    return set(case.build(SIZE, THREADS).calls) - {*measure.BESIDE, measure.OURS}


def test_who_takes_part_where():
    everybody = [case for case in FORWARD if case.group not in ("product", "busy")]
    half = {"decode bfloat16", "bfloat16 n=2048", "bfloat16 causal n=2048", "bfloat16 decode, own keys"}
    grouped = {"decode float32", "decode bfloat16", "decode float16", "grouped heads 32/8 n=2048"}
    without = {
        name: {case.name for case in everybody if name not in taking_part(case)} for name in ("onnxruntime", "openvino")
    }
    assert without == {
        "onnxruntime": {"dropout 0.1 n=2048", *half},
        "openvino": {"dropout 0.1 n=2048", *grouped},
    }
    for case in TIMED:
        if case not in everybody and case.group not in ("models", "trace"):
            alone = case.group == "tile" or case.name == "look causal n=65536"
            assert taking_part(case) == (set() if alone else {measure.THEIRS})
    beside_sgemm = {case.group for case in TIMED if measure.YARDSTICK in case.build(SIZE, THREADS).calls}
    assert beside_sgemm == {"dense", "backward"}


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
    problem = problems.draw(3, h=2)
    assert peers.with_textbook(problem, 1) is not None
    large = replace(problem, **{x: np.broadcast_to(getattr(problem, x), (2**20, 2, 3, 64)) for x in "qkv"})
    assert large.scores > peers.MOST_TEXTBOOK_SCORES
    assert peers.with_textbook(large, 1) is None


def test_torch_sees_the_same_memory():
    for dtype in problems.TYPES:
        x = problems.draw(5, dtype=dtype).q
        x[..., 3, 2] = 7
        assert peers.tensor(x)[..., 3, 2].float().eq(7).all()
        assert peers.tensor(x).data_ptr() == x.ctypes.data


def test_operations_are_those_of_two_products():
    problem = problems.draw(3, 5, b=2, h=7, h_kv=1, d=11, d_v=13)
    assert problem.operations == 2 * 7 * (2 * 3 * 5 * 11 + 2 * 3 * 5 * 13)
    assert peers.sgemm(17).operations == 2 * 17**3


def test_a_mask_says_the_same_written_out():
    for name in ("causal window 256 n=8192", "padded batch 16 × 1024"):
        problem = named(name).build(SIZE, THREADS).problem
        b, h, n, _ = problem.q.shape
        written = problem.mask.array(n, batch_shape=(b,), heads=h)
        np.testing.assert_array_equal(np.broadcast_to(problem.allowed, written.shape), written)
