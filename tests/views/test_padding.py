"""Padding counts nowhere: what is said of a padded batch is what is said of its entries by themselves."""

from __future__ import annotations

import numpy as np
import pytest

from clearhead import masks
from clearhead.dispatch import attention
from clearhead.matrices import Tokens
from clearhead.views import average, look
from clearhead.views.padding import OnlyQueries, find_padding

H, N, D = 3, 23, 7
LENGTHS = [23, 13, 0]
RIGHT = np.arange(N) >= np.array(LENGTHS)[:, None]
OF_QUERIES = ("entropy", "max_weight", "distance", "on_first", "on_self")


def draw(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape)


@pytest.fixture
def arrays() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return draw(3, H, N, D), draw(3, H, N, D, seed=1), draw(3, H, N, D, seed=2)


def flags(padding: np.ndarray) -> np.ndarray:
    return ~padding[:, None, None]


WAYS = {
    "lengths": {"mask": masks.key_lengths(LENGTHS)},
    "flags": {"mask": flags(RIGHT)},
    "floats": {"mask": np.where(flags(RIGHT), 0, -np.inf)},
    "flags on the left": {"mask": flags(RIGHT[:, ::-1])},
    "lengths and a causal mask": {"mask": masks.causal() & masks.key_lengths(LENGTHS)},
    "said": {"mask": masks.array(np.broadcast_to(flags(RIGHT), (3, 1, N, N))), "padding": RIGHT},
}


@pytest.mark.parametrize("way", WAYS)
def test_each_entry_is_what_it_is_by_itself(arrays, way):
    q, k, v = arrays
    options = WAYS[way]
    padded = look(q, k, v, **options, map_size=N)
    causal = masks.causal() if "causal" in way else None
    tokens = np.where(padded.padding.keys, 99, np.random.default_rng(3).integers(0, 5, (3, N)))
    patterns = padded.patterns(tokens)
    for b, length in enumerate(LENGTHS[:2]):
        real = slice(N - length, N) if "left" in way else slice(0, length)
        alone = look(q[b, :, real], k[b, :, real], v[b, :, real], mask=causal, map_size=N)
        for name in OF_QUERIES:
            got = getattr(padded, name)[b]
            np.testing.assert_allclose(got[:, real], getattr(alone, name), rtol=1e-11, atol=1e-14, err_msg=name)
            assert not np.delete(got, np.arange(N)[real], axis=-1).any()
        np.testing.assert_allclose(padded.received[b][:, real], alone.received, rtol=1e-12)
        np.testing.assert_allclose(padded.map()[b][:, real, real], alone.map(), rtol=1e-12)
        expected = alone.patterns(tokens[b, real])
        np.testing.assert_array_equal(patterns.labels[b], expected.labels)
        for name in expected.scores:
            np.testing.assert_allclose(patterns.scores[name][b], expected.scores[name], rtol=1e-9, atol=1e-12)
            np.testing.assert_allclose(patterns.shares[name][b], expected.shares[name], rtol=1e-9, atol=1e-12)
    assert patterns.labels[2].tolist() == ["none"] * H
    assert not padded.received[2].any()
    assert (padded.top_k.indices[padded.padding.queries[:, None].repeat(H, axis=1)] == -1).all()


@pytest.mark.parametrize("way", WAYS)
def test_the_output_is_what_attention_gives(arrays, way):
    options = {name: x for name, x in WAYS[way].items() if name != "padding"}
    output, lse = attention(*arrays, **options, return_lse=True)
    view = look(*arrays, **WAYS[way])
    np.testing.assert_array_equal(view.output, output)
    np.testing.assert_array_equal(view.lse, lse)
    np.testing.assert_array_equal(look(*arrays[:2], **WAYS[way]).lse, lse)


def test_it_is_said_in_the_repr(arrays):
    shown = repr(look(*arrays, mask=masks.key_lengths(LENGTHS)))
    assert shown == "View(a batch of 3, 3 heads, 23 queries × 23 keys, 33 queries of padding left out, float64)"


def test_cells_of_padding_are_masked(arrays):
    view = look(*arrays, mask=masks.key_lengths(LENGTHS), map_size=6)
    mapless = look(*arrays, mask=masks.key_lengths(LENGTHS), map_size=0)
    for reduce in ("mean", "max"):
        assert np.isnan(view.map(reduce)[1, :, 4:]).all()
        np.testing.assert_allclose(view.map(reduce), mapless.tile(size=6, reduce=reduce), rtol=1e-12)


def test_means_leave_it_out(arrays):
    view = look(*arrays, mask=masks.key_lengths(LENGTHS))
    groups = np.zeros(N, int)
    np.testing.assert_allclose(view.grouped(groups)[..., 0, 0], [[1] * H, [1] * H, [0] * H])
    assert average(view).padding is view.padding


class TestWhatIsPadding:
    SIZES = masks.Sizes(4, 4, (2,), H)

    def test_queries_are_the_keys_where_there_are_as_many(self):
        square = find_padding(None, masks.key_lengths([2, 4]), None, self.SIZES)
        assert square.queries.tolist() == square.keys.tolist() == [[False, False, True, True], [False] * 4]
        cross = find_padding(None, masks.key_lengths([2, 4]), None, masks.Sizes(3, 4, (2,), H))
        assert not cross.queries.any()
        assert cross.keys.tolist() == square.keys.tolist()
        assert find_padding(None, masks.causal(), None, self.SIZES) is None

    def test_what_is_said_goes_before_the_mask(self):
        assert find_padding(False, masks.key_lengths([2, 4]), None, self.SIZES) is None
        said = find_padding([True, False, False, True], None, None, masks.Sizes(3, 4, (2,), H))
        assert said.queries.tolist() == [[False, False, True]] * 2

    def test_labels(self):
        names = ["a", "b", "c", "[PAD]"]
        both = find_padding(None, None, Tokens(names, names), self.SIZES)
        assert both.queries.tolist() == both.keys.tolist() == [[False, False, False, True]] * 2
        apart = find_padding(None, masks.key_lengths([2, 4]), Tokens(["<pad>", "x", "y", "z"], names), self.SIZES)
        assert apart.queries.tolist() == [[True, False, False, False]] * 2
        assert apart.keys.tolist() == [[False, False, True, True], [False, False, False, True]]
        assert find_padding(None, None, Tokens(list(range(4)), list("abcd")), self.SIZES) is None

    def test_labels_are_enough(self, arrays):
        """Without a mask the model does attend to padding, and what it gives there can be seen."""
        q, k, _ = (x[0] for x in arrays)
        names = ["a"] * 20 + ["[PAD]"] * 3
        view, plain = look(q, k, tokens=names), look(q, k)
        assert not view.entropy[:, 20:].any()
        np.testing.assert_array_equal(view.entropy[:, :20], plain.entropy[:, :20])
        np.testing.assert_allclose(view.received, plain.weights(rows=slice(0, 20)).sum(axis=-2), rtol=1e-12)
        later = plain.patterns(np.array(names))
        for name, score in view.patterns().scores.items():
            np.testing.assert_allclose(later.scores[name], score, rtol=1e-12, err_msg=name)

    def test_errors(self, arrays, unchecked):
        with pytest.raises(
            TypeError, match=r"padding must be boolean \(True = padding, as in ids == pad_id\), got int64"
        ):
            look(*arrays, padding=np.zeros(N, int))
        with pytest.raises(
            ValueError, match=r"padding needs a flag for each of the 23 keys, shape \(3, 23\) or \(23,\)"
        ):
            look(*arrays, padding=np.zeros(5, bool))


def test_only_some_queries():
    mask = OnlyQueries(np.array([[True, False, True], [False, False, True]]))
    written = mask.array(3, 5, batch_shape=(2,), heads=H)
    assert written.any(axis=-1).tolist() == [[[True, False, True]] * H, [[False, False, True]] * H]
    low, high = mask.ranges(masks.Sizes(3, 5, (2,), H))
    assert (high - low).tolist() == [[[[5, 0, 5]]], [[[0, 0, 5]]]]
    assert (written.sum(axis=-1) == (high - low)[:, :, 0]).all()
