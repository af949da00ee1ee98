"""A tile is the textbook's matrix, cut out and pooled cell by cell."""

from __future__ import annotations

import numpy as np
import pytest

from clearhead import biases, masks
from clearhead.kernels import recompute
from clearhead.views import look

from ..problems import Row, build, row
from .truth import Truth, options_of_look, tile

ALL = slice(None)
WINDOWS = [
    (ALL, ALL, 16),
    (ALL, ALL, 1000),
    (ALL, ALL, (5, 1)),
    (slice(3, 131), slice(64, None), (7, 31)),
    (slice(100, 101), ALL, 8),
    (ALL, slice(17, 18), (1, 8)),
]
CALLS = [
    row("plain", (2, 3, 131, 17), 197, 19),
    row("causal", (2, 3, 131, 17), 197, 19, mask="causal()"),
    row("lengths", (2, 3, 131, 17), 197, 19, mask="window(29) & key_lengths([150, 0])"),
    row("blocks of each head", (2, 3, 131, 17), 197, 19, mask="block_sparse(flags(.5, 3, 5, 7), 32)"),
    row("array", (2, 3, 131, 17), 197, 19, mask="flags(.4, 3, 131, 197)"),
    row("rule", (2, 3, 131, 17), 197, 19, mask="where(lambda b, h, i, j: (b + h + i + j) % 3 > 0)"),
    row("bias", (2, 3, 131, 17), 197, 19, bias="np.where(flags(.9, 3, 1, 197), draw(3, 1, 197), -inf)"),
    row("alibi", (2, 3, 131, 17), 197, 19, bias="alibi(3)", mask="causal()", sinks="draw(3)"),
    row("grouped, softcap", (2, 6, 131, 17), 197, 19, kv=(2, 2), softcap=2.0, mask="causal()"),
    row("no heads, float64", (131, 17), 197, 19, dtype="float64", mask="causal()"),
    row("few queries", (2, 3, 2, 17), 197, 19, mask="causal()"),
    row("no queries", (2, 3, 0, 17), 7, 19),
    row("no keys", (2, 3, 7, 17), 0, 19),
    row("seven batch axes", (2, 1, 1, 1, 3, 1, 2, 3, 7, 11), 13, 17, mask="causal()"),
    row("NaN in sight", (2, 3, 31, 17), 37, 19, spoil="q[0, 1, 5] = nan", mask="causal()"),
]


@pytest.mark.parametrize("call", CALLS, ids=str)
@pytest.mark.parametrize("reduce", ["mean", "max"])
def test_is_the_textbooks_matrix_pooled(call: Row, reduce):
    problem = build(call)
    view, truth = look(*problem.arrays, **options_of_look(problem)), Truth(problem)
    for rows, cols, size in WINDOWS:
        if (rows, cols) != (ALL, ALL) and not (range(view.n_q)[rows] and range(view.n_k)[cols]):
            continue
        most = size if isinstance(size, tuple) else (size, size)
        for plain in (truth.exact, *truth.plain):
            allowed = np.broadcast_to(truth.allowed, truth.weights.shape)[..., rows, cols]
            plain["tile"] = tile(plain["weights"][..., rows, cols], allowed, most, reduce)
        truth.check("tile", view.tile(None, rows, cols, size, reduce=reduce))


def test_of_one_head_and_one_entry_of_a_batch():
    view = look(draw(2, 3, 37, 7), draw(2, 3, 53, 7, seed=1), mask=masks.causal())
    every = view.tile(size=8)
    assert every.shape == (2, 3, 5, 7)
    np.testing.assert_array_equal(view.tile(1, ALL, ALL, 8, batch=1), every[1, 1])
    np.testing.assert_array_equal(view.tile([2, 0], ALL, ALL, 8), every[:, [2, 0]])
    np.testing.assert_array_equal(view.tile(-1, None, ..., 8, batch=0), every[0, 2])


@pytest.mark.parametrize("mask", [None, masks.causal(), masks.dilated(3)], ids=["no mask", "causal", "dilated"])
def test_coarser_cells_are_made_of_finer_ones(mask):
    """Sums of 2^l cells nest, so zooming out never moves a border."""
    n = 96
    view = look(draw(n, 7), draw(n, 7, seed=1), mask=mask)
    allowed = np.ones((n, n)) if mask is None else mask.array(n).astype(float)

    def sums(cells: int) -> np.ndarray:
        length = n // cells
        count = allowed.reshape(cells, length, cells, length).sum(axis=(1, 3))
        return np.nan_to_num(view.tile(size=cells)) * count

    for cells in (6, 12, 24, 48):
        coarse, fine = sums(cells), sums(2 * cells)
        np.testing.assert_allclose(coarse, fine.reshape(cells, 2, cells, 2).sum(axis=(1, 3)), rtol=1e-12)


@pytest.mark.parametrize("mask", [None, masks.causal(), masks.dilated(3)], ids=["no mask", "causal", "dilated"])
@pytest.mark.parametrize("reduce", ["mean", "max"])
def test_coarse_tiles_are_taken_from_the_map(mask, reduce, monkeypatch):
    """Where their cells are made of those of the map; then nothing is computed again."""
    q, k = draw(2, 3, 107, 7), draw(2, 3, 203, 7, seed=1)
    view, mapless = look(q, k, mask=mask, map_size=14), look(q, k, mask=mask, map_size=0)  # 8 queries by 16 keys
    view.map(reduce)
    windows = [
        (ALL, ALL, 14),
        (ALL, ALL, (3, 1)),
        (slice(8, 72), slice(32, 160), (8, 8)),
        (slice(40, None), slice(192, None), (5, 1)),
    ]
    expected = [(mapless.tile(None, *w, reduce=reduce), mapless.tile(1, *w, reduce=reduce, batch=1)) for w in windows]
    off_the_grid = view.tile(0, slice(1, 65), ALL, 8, reduce=reduce, batch=0)
    np.testing.assert_array_equal(off_the_grid, mapless.tile(0, slice(1, 65), ALL, 8, reduce=reduce, batch=0))
    monkeypatch.setattr(recompute, "pooled", None)
    for window, (every, one) in zip(windows, expected, strict=True):
        np.testing.assert_allclose(view.tile(None, *window, reduce=reduce), every, rtol=1e-12)
        np.testing.assert_allclose(view.tile(1, *window, reduce=reduce, batch=1), one, rtol=1e-12)


def test_at_the_finest_level_it_is_the_weights():
    view = look(draw(3, 37, 7), draw(3, 53, 7, seed=1), mask=masks.causal())
    weights = view.weights(2, slice(5, 20), slice(8, 40))
    allowed = masks.causal().array(37, 53)[5:20, 8:40]
    for reduce in ("mean", "max"):
        got = view.tile(2, slice(5, 20), slice(8, 40), 256, reduce=reduce)
        np.testing.assert_array_equal(got, np.where(allowed, weights, np.nan))


@pytest.mark.parametrize("reduce", ["mean", "max"])
def test_strips_change_nothing(monkeypatch, reduce):
    """Strips of one cell each."""
    mask = masks.where(lambda b, h, i, j: (b + h + i + j) % 3 > 0)
    view = look(draw(3, 41, 7), draw(3, 53, 7, seed=1), mask=mask, bias=biases.alibi(3))
    before = view.tile(1, slice(2, 40), slice(3, 50), 11, reduce=reduce)
    monkeypatch.setattr(recompute, "STRIP", 3)
    np.testing.assert_allclose(view.tile(1, slice(2, 40), slice(3, 50), 11, reduce=reduce), before, rtol=1e-13)


class TestErrors:
    @pytest.mark.parametrize(
        ("arguments", "kind", "message"),
        [
            ({"reduce": "sum"}, ValueError, "reduce must be one of 'mean', 'max', got 'sum'"),
            ({"size": 0}, ValueError, "size must be at least 1, got 0"),
            ({"size": 2.5}, TypeError, "size must be a whole number, got 2.5"),
            ({"size": (1, 2, 3)}, ValueError, r"size must be a number of cells, or two .* got \(1, 2, 3\)"),
            ({"rows": slice(0, 9, 2)}, ValueError, r"rows must be a run of positions such as slice\(0, 40\), of 37"),
            ({"cols": slice(9, 9)}, ValueError, r"cols must be a run of positions such as slice\(0, 40\), of 53"),
            ({"rows": [1, 2]}, ValueError, r"rows must be a run of positions .* got \[1, 2\]"),
            ({"head": 3}, ValueError, "head 3 is out of range; there are 3: 0 … 2"),
        ],
        ids=lambda x: str(x) if isinstance(x, dict) else "",
    )
    def test_of_tiles(self, unchecked, arguments, kind, message):
        with pytest.raises(kind, match=message):
            look(draw(3, 37, 7), draw(3, 53, 7)).tile(**arguments)


def draw(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_more_places_in_a_cell_than_float32_can_count(dtype):
    """Beyond 2²⁴ a float32 passes over odd numbers."""
    n = 6_001
    q = np.random.default_rng(0).standard_normal((2, n, 1)).astype(dtype)
    view = look(q, q, mask=masks.causal(), map_size=1, top_k=0)
    assert view.observed.map_count.tolist() == [[[n * (n + 1) // 2]]] * 2
    np.testing.assert_allclose(view.map(), n / (n * (n + 1) / 2), rtol=1e-6)
