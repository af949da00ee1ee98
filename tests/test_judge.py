"""The judge itself: it passes the textbook's answer in the type under test, and no answer with a mistake in it.

Its verdict depends on nothing but the answer: not on what was asked before.
"""

from __future__ import annotations

import numpy as np
import pytest

from clearhead import checks
from clearhead.textbook.attention import scaled_dot_product_attention

from .judge import judge
from .problems import Problem, build, row

SHAPE = (2, 3, 67, 31)
PLAIN = [row(f"to judge, {kind}", SHAPE, 211, 19, dtype=kind, mask="causal()") for kind in ("float32", "float64")]

# What a kernel might do to one of its last keys, to a query, or to every number.
MISTAKES = {
    "the last key is left out": lambda p: {"k": p.k[..., :-1, :], "v": p.v[..., :-1, :], "offset": 1},
    "one more key is in sight": lambda p: {"offset": 1},
    "one key less is in sight": lambda p: {"offset": -1},
    "the scale is off by a part in 50,000": lambda p: {"q": p.q * p.q.dtype.type(1 + 2e-5)},
    "a value is in the wrong place": lambda p: {"v": np.concatenate([p.v[..., :9, :], p.v[..., 8:-1, :]], axis=-2)},
}


def answer(problem: Problem, *, offset: int = 0, **changed: np.ndarray) -> np.ndarray:
    """The textbook's answer under a causal mask with some of the arrays, or the mask's place, changed."""
    Q, K, V = (changed.get(name, getattr(problem, name)) for name in "qkv")
    n_q, n_k = Q.shape[-2], K.shape[-2]
    mask = np.arange(n_k) <= np.arange(n_q)[:, None] + problem.k.shape[-2] - n_q + offset
    return scaled_dot_product_attention(Q, K, V, mask)[0]


@pytest.mark.parametrize("asked", PLAIN, ids=str)
class TestWhatItSays:
    def test_the_textbook_is_right(self, asked):
        problem = build(asked)
        judge(problem).check(answer(problem))

    @pytest.mark.parametrize("name", MISTAKES)
    def test_a_mistake_is_found(self, asked, name):
        problem = build(asked)
        wrong = answer(problem, **MISTAKES[name](problem))
        with pytest.raises(AssertionError, match=r"output: the (largest|RMS) error is"):
            judge(problem).check(wrong, slack=3)

    @pytest.mark.parametrize("place", [(0, 0, 0, 0), (1, 2, 66, 18)], ids=["first", "last"])
    @pytest.mark.parametrize("wrong", [np.nan, np.inf, 0.0], ids=str)
    def test_one_wrong_number_is_found(self, asked, place, wrong):
        problem = build(asked)
        output = answer(problem)
        output[place] = wrong
        with pytest.raises(AssertionError, match="output: the largest error is"):
            judge(problem).check(output, slack=3)

    def test_a_wrong_lse_is_found(self, asked):
        problem = build(asked)
        whole = judge(problem)
        lse = whole.exact.lse.astype(problem.kind)
        whole.check(answer(problem), lse)
        lse[1, 2, 66] *= 1 + 1e-4
        with pytest.raises(AssertionError, match="lse: the largest error is"):
            whole.check(answer(problem), lse, slack=3)


@pytest.mark.skipif(np.dtype(np.longdouble).name in checks.FLOAT_TYPES, reason="nothing is wider than float64 here")
def test_what_was_asked_before_changes_nothing():
    """Whether a type is one of the four is remembered; the judge's wider type must not be, nor meet what was."""
    wide = np.dtype(np.longdouble)
    assert not checks.is_float(wide)
    assert build(PLAIN[1]).textbook(wide).output.dtype == wide
    assert not checks.is_float(wide)
    with pytest.raises(TypeError, match="weights must be float16, bfloat16, float32 or float64"):
        checks.float_array("weights", np.zeros(3, wide))
