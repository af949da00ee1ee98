"""What crosses between processes arrives as it was."""

from __future__ import annotations

import numpy as np
import pytest

from clearhead.practice import wire
from clearhead.practice.answers import Failure, Foreign, Outcome, Tensor
from clearhead.practice.probes import Moved, Probe
from clearhead.practice.traces import Line


def there_and_back(outcome: Outcome) -> Outcome:
    return wire.outcome_of(wire.message(wire.line(wire.packed_outcome(outcome))))


@pytest.mark.parametrize(
    "answer", [None, True, 3, 0.1, "가", 1 + 2j, (1, (2.0, "x")), {"a": (1,), "b": None}, Foreign("Model")]
)
def test_plain_answers(answer):
    came = there_and_back(Outcome(answer, changed=("x",)))
    assert (came.answer, came.changed) == (answer, ("x",))
    assert type(came.answer) is type(answer)


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "bool", "complex128", "<U2"])
def test_arrays_keep_type_and_shape(dtype):
    array = np.arange(6).reshape(2, 3, 1).astype(dtype)
    came = there_and_back(Outcome(array)).answer
    assert came.dtype == array.dtype
    np.testing.assert_array_equal(came, array)


def test_numbers_that_json_lacks():
    came = there_and_back(Outcome((float("nan"), float("-inf"), Tensor(np.array([np.nan, 1.0]))))).answer
    assert np.isnan(came[0])
    assert came[1] == -np.inf
    np.testing.assert_array_equal(came[2].array, [np.nan, 1.0])


def test_failures_with_their_lines():
    failure = Failure("ValueError", "no\nno", (Line(3, "  x = 1", True),))
    assert there_and_back(Outcome(failure=failure)).failure == failure


def test_probes():
    for moved in (None, Moved("x"), Moved("mask", 1, 2)):
        probe = Probe((("n", 3), ("d", 2)), 5, None, 1, moved)
        assert wire.probe_of(wire.message(wire.line({"p": wire.packed_probe(probe)}))["p"]) == probe


def test_no_pickle_is_ever_read():
    with pytest.raises(ValueError, match="allow_pickle"):
        there_and_back(Outcome(np.array([{}], dtype=object)))
