"""What is read off a view is what the view says, and of stored weights the same."""

from __future__ import annotations

import numpy as np
import pytest
from tests.page.conftest import WORDS, seen

from clearhead.matrices import StoredMatrix
from clearhead.page.packing import HIDDEN
from clearhead.page.reading import Layer, shrunk


@pytest.fixture
def both() -> tuple[Layer, Layer]:
    view = seen(13, tokens=WORDS)
    allowed = np.tril(np.ones((13, 13), bool))
    return Layer("view", view), Layer("stored", StoredMatrix(view.weights(), allowed=allowed))


def test_a_view_and_its_weights_read_alike(both):
    view, stored = both
    for name in view.statistics:
        np.testing.assert_allclose(view.statistics[name], stored.statistics[name], rtol=2e-5, err_msg=name)
    np.testing.assert_allclose(view.received, stored.received, rtol=2e-5)
    np.testing.assert_allclose(view.telling, stored.telling, rtol=2e-5)
    np.testing.assert_array_equal(view.strongest.indices, stored.strongest.indices)
    np.testing.assert_allclose(view.strongest.weights, stored.strongest.weights, rtol=2e-5)
    assert view.patterns[0] == stored.patterns[0]
    np.testing.assert_allclose(view.patterns[1], stored.patterns[1], rtol=2e-5)


def test_a_clear_pattern_tells_more_than_a_tendency():
    """Weights of heads that look at the token before, at themselves, a little at what came after, and evenly."""
    n = 16
    rest = np.tril(np.ones((n, n))) / np.arange(1, n + 1)[:, None]
    before = 0.9 * np.eye(n, k=-1) + 0.1 * rest
    own = 0.96 * np.eye(n) + 0.04 * rest
    first = 0.9 * np.eye(1, n) + 0.1 * rest
    decided = rest[np.arange(n)] * 0.1
    decided[np.arange(n), (np.arange(n) * 7) % np.arange(1, n + 1)] += 0.9
    weights = np.stack([rest, first, decided, own, before]).astype(np.float32)
    weights /= weights.sum(-1, keepdims=True)
    layer = Layer("heads", StoredMatrix(weights, allowed=np.tril(np.ones((n, n), bool))))
    assert layer.patterns[0][3:] == ["self", "previous_token"]
    assert np.argsort(layer.telling).tolist() == [0, 1, 2, 3, 4]


def test_masked_places_are_hidden_and_the_rest_is_exact(both):
    for layer in both:
        weights = layer.exact(1)
        above = np.triu(np.ones((13, 13), bool), 1)
        assert (weights[above] == HIDDEN).all()
        np.testing.assert_allclose(np.where(above, 0, weights), both[0].matrix.weights(head=1), rtol=1e-6)


def test_a_row_that_is_not_a_number_is_told_from_a_masked_one():
    q = np.random.default_rng(2).standard_normal((1, 7, 5)).astype(np.float32)
    q[0, 3] = np.nan
    from clearhead import look

    layer = Layer("odd", look(q, np.nan_to_num(q), tokens=None))
    weights = layer.exact(0)
    assert np.isnan(weights[3]).all()
    assert np.isfinite(np.delete(weights, 3, axis=0)).all()
    assert np.isnan(layer.statistics["entropy"][0])


def test_a_batch_is_read_at_its_place():
    q = np.random.default_rng(2).standard_normal((2, 3, 7, 5)).astype(np.float32)
    from clearhead import look

    view = look(q, q)
    layer = Layer("second", view, (1,))
    np.testing.assert_array_equal(layer.exact(2), view.weights(head=2, batch=1))
    np.testing.assert_array_equal(layer.by_query["entropy"], view.entropy[1])
    assert len(layer.patterns[0]) == 3


def test_without_heads_there_is_one():
    q = np.random.default_rng(2).standard_normal((7, 5)).astype(np.float32)
    from clearhead import look

    view = look(q, q)
    layer = Layer("plain", view)
    np.testing.assert_array_equal(layer.exact(0), view.weights())
    assert len(layer.patterns[0]) == 1


def test_a_stamp_keeps_what_is_hidden_and_odd():
    cells = np.full((100, 100), 0.25, np.float32)
    cells[:, 50:], cells[0, 0] = HIDDEN, np.nan
    small = shrunk(cells, 48)
    assert small.shape == (25, 25)
    assert np.isnan(small[0, 0])
    assert (small[:, 13:] == HIDDEN).all()
    assert small[5, 5] == 0.25
