"""What can be asked of a view, and what it refuses. That its statistics are right is shown in test_statistics.py."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.text import Text

from clearhead import masks
from clearhead.views import look

NAMES = ("entropy", "max_weight", "received", "distance", "on_first", "on_self")
H, N_Q, N_K, D = 3, 37, 53, 7


def draw(*shape: int, seed: int = 0, dtype: str = "float64") -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


@pytest.fixture
def arrays() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return draw(2, H, N_Q, D), draw(2, H, N_K, D, seed=1), draw(2, H, N_K, 11, seed=2)


class TestTopK:
    def test_of_equal_scores_the_lower_key_comes_first(self):
        q, k = np.ones((1, 5, 1)), np.array([1.0, 3, 2, 3, 2, 3, 1])[None, :, None]
        top = look(q, k, top_k=6).top_k
        np.testing.assert_array_equal(top.indices, np.broadcast_to([1, 3, 5, 2, 4, 0], (1, 5, 6)))
        assert (top.weights[..., 0] == top.weights[..., 2]).all()

    @pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
    def test_ties_keep_their_order_through_many_tiles(self, dtype):
        """Every seventh key is the best; queries and keys of several panels and blocks."""
        k = np.zeros((1, 1009, 3), dtype)
        k[:, ::7] = 1
        top = look(np.ones((1, 131, 3), dtype), k, top_k=11).top_k
        np.testing.assert_array_equal(top.indices, np.broadcast_to(np.arange(11) * 7, (1, 131, 11)))

    def test_fewer_keys_than_asked_for(self):
        q, k = draw(2, 5, 3), draw(2, 5, 3, seed=1)
        top = look(q, k, mask=masks.causal(), top_k=7).top_k
        there = np.arange(7) <= np.arange(5)[:, None]
        np.testing.assert_array_equal(top.indices >= 0, np.broadcast_to(there, (2, 5, 7)))
        np.testing.assert_array_equal(top.indices[:, ~there], -1)
        np.testing.assert_array_equal(top.weights[:, ~there], 0)

    def test_none_at_all(self):
        top = look(draw(2, 5, 3), draw(2, 7, 3, seed=1), top_k=0).top_k
        assert top.indices.shape == top.weights.shape == (2, 5, 0)


class TestWhatAViewIs:
    def test_it_says_what_it_is(self, arrays):
        assert repr(look(*arrays)) == "View(a batch of 2, 3 heads, 37 queries × 53 keys, float64)"
        assert repr(look(draw(5, 3), draw(7, 3))) == "View(1 head, 5 queries × 7 keys, float64)"

    def test_it_says_which_axis_was_taken_for_what_where_that_is_doubtful(self):
        """(b, n, h, d) given for (b, h, n, d)."""
        mistaken = draw(2, 300, 8, 5)
        first, doubt = repr(look(mistaken, mistaken)).splitlines()
        assert first == "View(a batch of 2, 300 heads, 8 queries × 8 keys, float64)"
        assert doubt.startswith("(300 heads of 8 positions: the axes are (…, heads, positions, width);")
        assert "x.swapaxes(-3, -2)" in doubt
        right = mistaken.swapaxes(-3, -2)
        assert len(repr(look(right, right)).splitlines()) == 1
        assert len(repr(look(draw(2, 12, 3, 5), draw(2, 12, 3, 5))).splitlines()) == 1  # twelve heads of three tokens

    def test_its_sizes(self, arrays):
        view = look(*arrays)
        assert (view.heads, view.n_q, view.n_k, view.batch_shape, view.lead) == (H, N_Q, N_K, (2,), (2, H))
        assert look(draw(5, 3), draw(7, 3)).lead == ()

    def test_without_values_all_but_the_output_is_the_same(self, arrays):
        whole, alone = look(*arrays, mask=masks.causal()), look(*arrays[:2], mask=masks.causal())
        for name in NAMES:
            np.testing.assert_array_equal(getattr(whole, name), getattr(alone, name))
        with pytest.raises(AttributeError, match=r"there is no output without values: look\(q, k, v\) gives one"):
            alone.output  # noqa: B018

    def test_it_can_be_drawn(self, arrays):
        figure = look(*arrays, mask=masks.causal()).plot(batch=0, title="what was seen")
        assert any(text.get_text() == "what was seen" for text in figure.findobj(Text))

    def test_inputs_are_not_touched(self, arrays):
        before = [x.copy() for x in arrays]
        view = look(*arrays, mask=masks.causal())
        view.weights(), view.on_self, view.patterns(np.arange(N_K) % 5), view.distance
        for x, y in zip(arrays, before, strict=True):
            np.testing.assert_array_equal(x, y)

    def test_queries_that_are_nan_spoil_nobody_else(self):
        q, k = draw(2, 5, 3), draw(2, 7, 3, seed=1)
        clean = look(q, k, map_size=5)
        q[0, 2] = np.nan
        view = look(q, k, map_size=5)
        for name in ("entropy", "max_weight", "distance", "on_first", "on_self"):
            got = getattr(view, name)
            assert np.isnan(got[0, 2])
            got[0, 2] = getattr(clean, name)[0, 2]
            np.testing.assert_allclose(got, getattr(clean, name), rtol=1e-12)


class TestTokens:
    NAMES = tuple(f"word {i}" for i in range(N_K))

    def test_queries_and_keys_are_named_alike_unless_keys_have_names_of_their_own(self, arrays):
        q, k, _ = arrays
        both = look(k, k, tokens=self.NAMES).tokens
        assert (both.queries, both.keys) == (list(self.NAMES), list(self.NAMES))
        apart = look(q, k, tokens=range(N_Q), key_tokens=self.NAMES).tokens
        assert (apart.queries, apart.keys) == (list(range(N_Q)), list(self.NAMES))
        keys = look(q, k, key_tokens=self.NAMES).tokens
        assert (keys.queries, keys.keys) == (None, list(self.NAMES))
        assert look(q, k).tokens is None

    @pytest.mark.parametrize("kind", [None, "head", "lines", "cross"])
    def test_figures_show_them(self, kind):
        q, k = draw(5, D), draw(7, D, seed=1)
        view = look(q, k, tokens=["나는", "어제", "책을", "다", "읽었다"], key_tokens=list("ABCDEFG"))
        shown = {text.get_text() for text in view.plot(kind).findobj(Text)}
        assert {"어제", "F"} <= shown
        shown = {
            text.get_text() for text in view.plot(kind, tokens=list("hello"), key_tokens=list("goodbye")).findobj(Text)
        }
        assert {"h", "g"} <= shown
        assert "어제" not in shown

    def test_an_image_has_no_use_for_them(self):
        view = look(draw(2, 5, D), draw(2, 5, D, seed=1), tokens=list("hello"))
        assert view.plot(image=np.zeros((4, 4, 3)), patch=1, patch_size=2)

    @pytest.mark.parametrize(
        ("options", "kind", "message"),
        [
            ({"tokens": ["a"] * N_Q}, ValueError, "weights have 37 queries but 53 keys, so tokens cannot name both"),
            ({"tokens": ["a"] * 3, "key_tokens": NAMES}, ValueError, "tokens must name all 37 queries, got 3 names"),
            ({"key_tokens": ["a"] * 3}, ValueError, "key_tokens must name all 53 keys, got 3 names"),
            ({"key_tokens": "word"}, TypeError, "key_tokens must be a list with one entry per position, got one text"),
        ],
        ids=["for both", "too few", "too few keys", "one text"],
    )
    def test_one_for_each_position(self, arrays, unchecked, options, kind, message):
        with pytest.raises(kind, match=message):
            look(*arrays, **options)


class TestErrors:
    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"top_k": -1}, "top_k must be at least 0, got -1"),
            ({"map_size": -5}, "map_size must be at least 0, got -5"),
            ({"mask": np.ones((5, 5), bool)}, r"mask of shape \(5, 5\) does not broadcast"),
        ],
        ids=["top_k", "map_size", "mask"],
    )
    def test_of_look(self, arrays, unchecked, options, message):
        with pytest.raises(ValueError, match=message):
            look(*arrays, **options)

    @pytest.mark.parametrize("name", ["top_k", "map_size"])
    def test_numbers_must_be_whole(self, arrays, unchecked, name):
        with pytest.raises(TypeError, match=f"{name} must be a whole number, got 2.5"):
            look(*arrays, **{name: 2.5})

    def test_widths(self, arrays, unchecked):
        with pytest.raises(ValueError, match="keys have 11 columns but queries have 7"):
            look(arrays[0], arrays[2])
        with pytest.raises(TypeError, match="k must be float16, bfloat16, float32 or float64, got int64"):
            look(arrays[0], np.ones((2, H, N_K, D), np.int64))

    def test_of_maps(self, arrays, unchecked):
        with pytest.raises(ValueError, match="reduce must be one of 'mean', 'max', got 'sum'"):
            look(*arrays).map("sum")
        with pytest.raises(ValueError, match="this view has no map, as it was made with map_size=0"):
            look(*arrays, map_size=0).map()
