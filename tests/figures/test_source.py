from __future__ import annotations

import numpy as np
import pytest

from clearhead.figures import visualize_attention
from clearhead.figures.source import STATISTICS, checked_range, mean_window, source
from clearhead.textbook.masks import create_causal_mask

from .seen import Seen


@pytest.mark.parametrize("n", [(5, 7), (13, 11)], ids=str)
def test_an_array_and_a_view_of_it_are_drawn_alike(seen, n):
    view = seen(3, *n)
    array, other = source(view.all), source(view)
    rows, cols = slice(1, 4), slice(2, 6)
    np.testing.assert_array_equal(array.window(1, rows, cols), other.window(1, rows, cols))
    np.testing.assert_array_equal(mean_window(other, None, rows, cols), view.all[:, rows, cols].mean(axis=0))
    for hidden in ([], [0, 3]):
        one, another = (s.maps(100, 100, "mean", hidden) for s in (array, other))
        np.testing.assert_array_equal(one[0], another[0])
        assert one[1] == another[1] == (1.0, 1.0)
    for name in ("entropy", "received", "max_weight", "on_first"):
        np.testing.assert_allclose(array.statistic(name, 2), other.statistic(name, 2), rtol=1e-13, atol=1e-15)


def test_statistics_of_an_array_are_what_they_say(attend):
    weights = attend(2, 3, 7, mask=create_causal_mask(7)[4:])
    places = abs(np.arange(4, 7)[:, None] - np.arange(7))
    array = source(weights)
    np.testing.assert_allclose(array.statistic("distance", 1), (weights[1] * places).sum(axis=-1), rtol=1e-13)
    np.testing.assert_allclose(array.statistic("on_self", 1), np.diagonal(weights[1], 4), rtol=1e-15)
    assert set(STATISTICS) == {"entropy", "max_weight", "distance", "on_first", "on_self"}


def test_a_view_is_never_asked_for_more_than_the_pixels_show(attend):
    n = 997
    view = Seen(attend(8, 5, n), map_size=64)
    visualize_attention(view)
    assert view.asked == []
    cells, by = source(view).maps(100, 100, "mean", [0])
    assert cells.shape == (8, 5, 64)
    assert by == (1.0, n / 64)
    assert np.isnan(cells[:, :, 0]).all()
    np.testing.assert_allclose(cells[3, 2, 7], view.all[3, 2][np.arange(n) * 64 // n == 7].mean(), rtol=1e-12)


@pytest.mark.parametrize("reduce", ["mean", "max"])
def test_the_map_of_a_view_is_pooled_on_to_the_pixels_there_are(seen, reduce):
    view = seen(2, 128, 128, map_size=64)
    cells, by = source(view).maps(16, 32, reduce, [])
    assert by == (8.0, 4.0)
    expected = getattr(view.all.reshape(2, 16, 8, 32, 4), reduce)(axis=(2, 4))
    np.testing.assert_allclose(cells, expected, rtol=1e-12)


def test_an_item_of_a_batch_is_chosen(seen):
    view = seen(2, 3, 5, 7, 7)
    (cells, _) = source(view, batch=(1, 2)).maps(100, 100, "mean", [])
    np.testing.assert_array_equal(cells, view.all[1, 2])
    np.testing.assert_array_equal(source(view, batch=(1, 2)).statistic("received", 4), view.received[1, 2, 4])
    one = seen(1, 3, 5, 5)
    np.testing.assert_array_equal(source(one).window(2, slice(None), slice(None)), one.all[0, 2])


def test_half_precision_and_tensors_of_views_are_read(attend):
    torch = pytest.importorskip("torch")
    weights = attend(2, 3, 5, dtype=np.float32)
    view = Seen(weights)
    view.weights = lambda head, rows, cols: torch.tensor(weights[head, rows, cols]).bfloat16()
    window = source(view).window(1, slice(0, 2), slice(0, 3))
    assert window.dtype == np.float32
    np.testing.assert_array_equal(window, torch.tensor(weights[1, :2, :3]).bfloat16().float().numpy())


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("batch", [None, 5, (0, 1), -1], ids=str)
def test_a_batch_needs_a_place_in_it(seen, batch):
    with pytest.raises(
        ValueError, match=r"a batch of 3 and .* its place along the 1 axis, got .* \(batch=0 is the first"
    ):
        source(seen(3, 2, 5, 5), batch=batch)


def test_an_array_has_no_batch(attend):
    with pytest.raises(ValueError, match=r"batch picks an item of a view; of an array .* weights\[0\] say"):
        source(attend(2, 3, 3), batch=0)


def test_an_empty_view():
    view = Seen(np.ones((2, 1, 1)))
    view.n_q = 0
    with pytest.raises(ValueError, match="is empty; there must be a head, a query and a key to draw"):
        source(view)


@pytest.mark.parametrize("positions", [slice(3, 3), slice(0, 9, 2), slice(50, 60), slice(5, 2)], ids=str)
def test_a_range_has_a_first_and_a_last(positions):
    with pytest.raises(ValueError, match=r"rows must be a run of positions such as slice\(0, 40\), of 11 there are"):
        checked_range("rows", positions, 11)
    assert checked_range("rows", slice(-3, None), 11) == slice(8, 11)
