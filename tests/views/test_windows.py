"""Any window is what is cut out of the whole."""

from __future__ import annotations

import numpy as np
import pytest

from clearhead import biases, kernels, masks
from clearhead.views import look, windows

H, N_Q, N_K, D = 3, 37, 53, 7


def draw(*shape: int, seed: int = 0, dtype: str = "float64") -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


@pytest.fixture
def arrays() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return draw(2, H, N_Q, D), draw(2, H, N_K, D, seed=1), draw(2, H, N_K, 11, seed=2)


class TestWindows:
    """Any window is what is cut out of the whole."""

    @pytest.mark.parametrize(
        ("head", "rows", "cols", "batch"),
        [
            (None, slice(3, 20), slice(50, None), None),
            (1, slice(None), 5, None),
            (-1, 7, slice(None, None, 3), 1),
            ([2, 0], slice(30, 3, -4), [5, 5, -1], (0,)),
            (slice(1, None), ..., range(4, 9), -1),
            (np.int64(2), np.array([], np.int64), slice(4), 0),
            (None, slice(20, 10), slice(None), None),
        ],
        ids=["slices", "one key", "one of each", "sequences", "everything else", "no rows", "empty slice"],
    )
    def test_is_cut_out_of_the_whole(self, arrays, head, rows, cols, batch):
        view = look(*arrays, mask=masks.causal(), bias=draw(H, N_Q, N_K, seed=4), sinks=draw(H, seed=5))
        expected = view.weights()
        expected = expected if batch is None else expected[batch]
        expected = expected if head is None else expected[..., head, :, :]
        expected = expected[..., rows, :] if rows is not ... else expected
        got = view.weights(head, rows, cols, batch=batch)
        np.testing.assert_array_equal(got, expected[..., cols])

    def test_a_row(self, arrays):
        view = look(*arrays, mask=masks.window(11))
        np.testing.assert_allclose(view.row(5), view.weights()[..., 5, :], rtol=1e-13)
        np.testing.assert_allclose(view.row(-2, head=1, batch=0), view.weights()[0, 1, -2], rtol=1e-13)

    def test_rows_sum_to_one_whatever_the_scores(self):
        """An lse of 1e30 says nothing about the sum in it."""
        q, k = draw(2, 5, 3, dtype="float32"), draw(2, 7, 3, seed=1, dtype="float32")
        for bias in (np.full((5, 7), -1e30), np.full((5, 7), 3e9), np.linspace(0, 1e5, 35).reshape(5, 7)):
            view = look(q, k, bias=bias)
            np.testing.assert_allclose(view.weights().sum(axis=-1), 1, rtol=1e-6)
            np.testing.assert_allclose(view.mass(), 1, rtol=1e-6)
            np.testing.assert_allclose(view.on_first, view.weights()[..., 0], rtol=1e-6, atol=1e-30)
            half = masks.prefix(3)
            np.testing.assert_allclose(view.mass(half), view.weights()[..., :3].sum(axis=-1), rtol=1e-6, atol=1e-30)

    def test_without_heads(self):
        q, k = draw(5, 3), draw(7, 3, seed=1)
        view = look(q, k, mask=masks.causal())
        assert view.weights().shape == (5, 7)
        np.testing.assert_allclose(view.weights(rows=2, cols=slice(1, 4)), view.weights()[2, 1:4], rtol=1e-13)


def test_the_first_key_of_each_entry_under_left_padding_and_no_other(monkeypatch):
    """As many weights are computed again as are asked for, however many first keys there are."""
    q, k = draw(5, 3, 7, 2), draw(5, 3, 7, 2, seed=1)
    real = np.arange(7) >= np.array([2, 0, 5, 3, 2])[:, None]
    view = look(q, k, mask=masks.causal() & real[:, None, None, :])
    expected = np.stack([view.weights(batch=b, cols=int(real[b].argmax())) for b in range(5)])
    computed = []
    weights = kernels.recompute.weights
    monkeypatch.setattr(kernels.recompute, "weights", lambda *a, **o: computed.append(weights(*a, **o)) or computed[-1])
    np.testing.assert_array_equal(view.on_first, expected)
    assert sum(x.size for x in computed) == 5 * 3 * 7
    many = look(*(x.reshape(1, 1, 1, 1, 1, *x.shape) for x in (q, k)), mask=masks.causal() & real[:, None, None, :])
    np.testing.assert_array_equal(many.on_first, expected.reshape(1, 1, 1, 1, 1, *expected.shape))


KEYS = {
    "the first": np.zeros(N_Q, int),
    "its own": np.arange(N_Q) + N_K - N_Q,
    "the one before": np.arange(N_Q) - 1,
    "any": np.random.default_rng(3).integers(-2, N_K + 2, N_Q),
    "none": np.full(N_Q, N_K),
}


@pytest.mark.parametrize("keys", KEYS)
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"mask": masks.causal() & masks.window(11)},
        {"mask": draw(2, 1, N_Q, N_K, seed=1) > 0},
        {"mask": masks.where(lambda b, h, i, j: (b + h + i + j) % 3 > 0)},
        {"bias": np.where(draw(3, 1, N_K, seed=2) > 0, 0.0, -np.inf), "sinks": draw(3, seed=3)},
        {"bias": biases.alibi(3), "softcap": 3.0},
    ],
    ids=["nothing", "ranges", "array", "rule", "bias", "alibi"],
)
def test_one_key_of_its_own_for_each_query(arrays, options, keys, monkeypatch):
    """0 where there is no such key; some queries at a time."""
    monkeypatch.setattr(windows, "MOST_ROWS", 16)
    view = look(*arrays[:2], **options)
    whole = np.pad(view.weights(), ((0, 0), (0, 0), (0, 0), (2, 2)))
    np.testing.assert_array_equal(windows.at(view, KEYS[keys]), whole[..., np.arange(N_Q), KEYS[keys] + 2])


class TestErrors:
    @pytest.mark.parametrize(
        ("arguments", "kind", "message"),
        [
            ({"head": 3}, ValueError, "head 3 is out of range; there are 3: 0 … 2"),
            ({"head": [0, -4]}, ValueError, "head -4 is out of range; there are 3: 0 … 2"),
            ({"rows": 37}, ValueError, "rows 37 is out of range; there are 37: 0 … 36"),
            ({"cols": [1, 53]}, ValueError, "cols 53 is out of range; there are 53: 0 … 52"),
            ({"rows": 1.5}, TypeError, "rows must be a whole number, got 1.5"),
            ({"rows": True}, TypeError, "rows must be a whole number, got the boolean True"),
            (
                {"cols": [1.5]},
                TypeError,
                r"cols must be a number, a slice or a sequence of numbers, got float64 of sha",
            ),
            ({"rows": slice(0, 5, 0)}, ValueError, "the step of rows must not be 0"),
            ({"batch": 2}, ValueError, "batch 2 is out of range; there are 2: 0 … 1"),
            ({"batch": (0, 0)}, ValueError, r"batch \(0, 0\) has 2 numbers; the batch axes are \(2,\)"),
        ],
        ids=lambda x: str(x).replace(" ", "") if isinstance(x, dict) else "",
    )
    def test_of_windows(self, arrays, unchecked, arguments, kind, message):
        with pytest.raises(kind, match=message):
            look(*arrays).weights(**arguments)

    def test_a_head_where_there_is_no_axis_for_it(self, unchecked):
        with pytest.raises(ValueError, match="this view has no head axis; leave head out, got 0"):
            look(draw(5, 3), draw(7, 3)).weights(head=0)
