from __future__ import annotations

import numpy as np
import pytest

from clearhead.figures import plot, visualize_attention, visualize_head, visualize_layers, visualize_lines
from clearhead.figures.source import checked_range, source
from clearhead.matrices import Tokens
from clearhead.textbook.attention import scaled_dot_product_attention

from .seen import Seen


@pytest.mark.parametrize("n", [(5, 7), (13, 11)], ids=str)
def test_an_array_and_a_view_of_it_are_drawn_alike(seen, n):
    view = seen(3, *n)
    array, other = source(view.all), source(view)
    rows, cols = slice(1, 4), slice(2, 6)
    np.testing.assert_array_equal(array.window(1, rows, cols), other.window(1, rows, cols))
    for size in ((100, 100), (2, 3)):
        one, another = (x.cells(2, slice(0, n[0]), slice(0, n[1]), size, "mean") for x in (array, other))
        np.testing.assert_array_equal(one, another)
    for name in ("entropy", "received", "max_weight", "on_first"):
        np.testing.assert_array_equal(array.statistic(name, 2), other.statistic(name, 2))
    for given in (array, other):
        mean, head = given.one(None)
        np.testing.assert_allclose(mean.window(head, rows, cols), view.all[:, rows, cols].mean(axis=0), rtol=1e-14)
        assert given.one(1) == (given, 1)


def test_a_view_is_never_asked_for_more_than_the_pixels_show(attend):
    view = Seen(attend(8, 5, 997))
    figure = visualize_attention(view)
    assert view.asked == []
    assert len(view.tiled) == 8
    pixels = figure.axes[0].bbox.size
    assert all(down <= pixels[1] and across <= pixels[0] for down, across in view.tiled)


def test_an_item_of_a_batch_is_chosen(seen):
    view = seen(2, 3, 5, 7, 7)
    drawn = source(view, batch=(1, 2))
    np.testing.assert_array_equal(drawn.window(4, slice(0, 7), slice(0, 7)), view.all[1, 2, 4])
    np.testing.assert_array_equal(drawn.statistic("received", 4), view.received[1, 2, 4])
    mean, head = drawn.one(None)
    np.testing.assert_allclose(mean.window(head, slice(0, 7), slice(0, 7)), view.all[1, 2].mean(axis=0), rtol=1e-14)
    one = seen(1, 3, 5, 5)
    np.testing.assert_array_equal(source(one).window(2, slice(0, 5), slice(0, 5)), one.all[0, 2])


def test_half_precision_and_tensors_of_views_are_read(attend):
    torch = pytest.importorskip("torch")
    weights = attend(2, 3, 5, dtype=np.float32)
    view = Seen(weights)
    view.weights = lambda head, rows, cols: torch.tensor(weights[head, rows, cols]).bfloat16()
    window = source(view).window(1, slice(0, 2), slice(0, 3))
    assert window.dtype == np.float32
    np.testing.assert_array_equal(window, torch.tensor(weights[1, :2, :3]).bfloat16().float().numpy())


def test_tokens_are_those_given_or_those_the_matrix_carries(seen):
    square, oblong = seen(1, 2, 2), seen(1, 2, 3)
    drawn = source(square)
    assert drawn.axis_tokens(None, None) == (None, None)
    square.stored.tokens, oblong.stored.tokens = Tokens(["x", "y"], ["v", "w"]), Tokens(["x", "y"], ["u", "v", "w"])
    assert drawn.axis_tokens(None, None) == (["x", "y"], ["v", "w"])
    assert drawn.axis_tokens(["a", "b"], None) == (["a", "b"], ["a", "b"])
    assert drawn.axis_tokens(None, ["a", "b"]) == (["x", "y"], ["a", "b"])
    assert source(oblong).axis_tokens(["a", "b"], None) == (["a", "b"], ["u", "v", "w"])
    assert source(oblong).cross_tokens(None, ["1", "2", "3"]) == (["x", "y"], ["1", "2", "3"])


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


def test_what_only_has_weights_is_not_drawn():
    class Model:
        def weights(self):
            return np.eye(3)

    with pytest.raises(TypeError, match=r"an array or a view, got Model \(draw what its .weights\(\) gives"):
        source(Model())


@pytest.mark.parametrize("draw", [visualize_attention, visualize_head, visualize_lines, visualize_layers, plot])
def test_output_and_weights_together_are_told_apart(rng, draw):
    x = rng.normal(size=(5, 7))
    pair = scaled_dot_product_attention(x, x, x)
    with pytest.raises(TypeError, match=r"a pair of arrays of shape \(5, 7\) and \(5, 5\).* the second, pair\[1\]\?"):
        draw(pair)
    draw(pair[1])


def test_two_layers_are_no_such_pair(attend):
    layers = attend(3, 5, 5), attend(2, 5, 5)
    assert plot(layers).axes[0].images[0].get_array().shape == (2, 3)


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
