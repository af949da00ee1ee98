from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, strategies as st

from clearhead import masks
from clearhead.textbook import patterns
from clearhead.textbook.attention import attention_weights
from clearhead.textbook.masks import create_causal_mask
from clearhead.textbook.patterns import NAMES, name_pattern
from clearhead.textbook.validate import validate_attention

NAME_OF = {
    "diagonal": "self",
    "previous_token": "previous_token",
    "next_token": "next_token",
    "first_token": "first_token",
    "uniform": "uniform",
    "causal_uniform": "uniform",
    "local": "local",
}


@pytest.mark.parametrize(
    ("matrix", "expected"),
    [
        (patterns.diagonal(3), [[1, 0, 0], [0, 1, 0], [0, 0, 1]]),
        (patterns.previous_token(3), [[1, 0, 0], [1, 0, 0], [0, 1, 0]]),
        (patterns.next_token(3), [[0, 1, 0], [0, 0, 1], [0, 0, 1]]),
        (patterns.first_token(3), [[1, 0, 0], [1, 0, 0], [1, 0, 0]]),
        (patterns.uniform(3), [[1 / 3, 1 / 3, 1 / 3]] * 3),
        (patterns.causal_uniform(3), [[1, 0, 0], [1 / 2, 1 / 2, 0], [1 / 3, 1 / 3, 1 / 3]]),
        (patterns.local(4), [[1 / 2, 1 / 2, 0, 0], [1 / 3] * 3 + [0], [0] + [1 / 3] * 3, [0, 0, 1 / 2, 1 / 2]]),
        (patterns.local(4, 2), [[1 / 3] * 3 + [0], [1 / 4] * 4, [1 / 4] * 4, [0] + [1 / 3] * 3]),
        (patterns.local(3, 0), [[1, 0, 0], [0, 1, 0], [0, 0, 1]]),
        (patterns.local(3, 7), [[1 / 3, 1 / 3, 1 / 3]] * 3),
    ],
)
def test_the_zoo_written_out(matrix, expected):
    np.testing.assert_array_equal(matrix, expected)


@given(st.integers(1, 60), st.integers(0, 60))
def test_the_zoo_is_made_of_valid_weights(n, radius):
    for matrix in [*(getattr(patterns, name)(n) for name in NAME_OF), patterns.local(n, radius)]:
        assert matrix.shape == (n, n)
        validate_attention(matrix)


@pytest.mark.parametrize("mask", [None, True], ids=["no mask", "nothing masked"])
@given(
    name=st.sampled_from([name for name in NAME_OF if name not in ("causal_uniform", "local")]), n=st.integers(3, 60)
)
def test_every_pattern_gets_its_name_back(mask, name, n):
    found = name_pattern(getattr(patterns, name)(n), mask)
    assert (found.name, found.tied) == (NAME_OF[name], (NAME_OF[name],))
    assert found.score == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("mask", [None, masks.causal(), "array", "floats"], ids=str)
@given(n=st.integers(3, 60))
def test_what_is_uniform_under_a_causal_mask(mask, n):
    written = {"array": create_causal_mask(n), "floats": np.where(create_causal_mask(n), 0, -np.inf)}
    found = name_pattern(patterns.causal_uniform(n), written[mask] if isinstance(mask, str) else mask)
    assert (found.name, found.tied) == ("uniform", ("uniform",))
    assert found.score == pytest.approx(1, abs=1e-12)
    assert name_pattern(patterns.causal_uniform(n), True).score == pytest.approx((n + 1) / (2 * n), abs=1e-12)


@given(st.integers(3, 60).flatmap(lambda n: st.tuples(st.just(n), st.integers(1, min(n - 2, 32)))))
def test_every_window_gets_its_name_and_radius_back(size):
    n, radius = size
    found = name_pattern(patterns.local(n, radius))
    assert (found.name, found.radius, found.tied) == ("local", radius, ("local",))
    assert found.score == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("radius", [64, 128])
def test_wide_windows_are_found_too(radius):
    found = name_pattern(patterns.local(307, radius))
    assert (found.name, found.radius) == ("local", radius)
    assert found.score == pytest.approx(1, abs=1e-12)


@given(st.sampled_from(list(NAME_OF)), st.integers(5, 23), st.floats(0, 0.3), st.integers(0, 2**32))
def test_the_name_survives_noise(name, n, noise, seed):
    blurred = np.random.default_rng(seed).dirichlet(np.full(n, 3.0), size=n)
    mask = None
    if name == "causal_uniform":
        mask, blurred = masks.causal(), np.tril(blurred) / np.tril(blurred).sum(axis=-1, keepdims=True)
    weights = (1 - noise) * getattr(patterns, name)(n) + noise * blurred
    found = name_pattern(weights, mask)
    assert found.name == NAME_OF[name]
    assert (1 - noise) ** 2 - 1e-12 <= found.score <= 1


def test_noise_around_uniform_is_not_taken_for_a_wide_window(rng):
    names = name_pattern(rng.dirichlet(np.ones(17), size=(101, 17))).name
    assert set(names) == {"uniform"}


def test_the_score_is_mass_times_evenness():
    weights = np.array([[1.0, 0, 0, 0], [0.7, 0.3, 0, 0], [0, 0.6, 0.4, 0], [0, 0, 0.2, 0.8]])

    def keys_in_use(*shares):
        return np.exp(-sum(share * np.log(share) for share in shares))

    found = name_pattern(weights)
    assert found.scores["self"] == pytest.approx((1 + 0.3 + 0.4 + 0.8) / 4)
    assert found.scores["previous_token"] == pytest.approx((1 + 0.7 + 0.6 + 0.2) / 4)
    assert found.scores["first_token"] == pytest.approx((1 + 0.7) / 4)
    used = [1, keys_in_use(0.7, 0.3), keys_in_use(0.6, 0.4), keys_in_use(0.2, 0.8)]
    assert found.scores["uniform"] == pytest.approx((used[0] + used[1] / 2 + used[2] / 3 + used[3] / 4) / 4)
    assert name_pattern(weights, True).scores["uniform"] == pytest.approx(sum(used) / 16)
    assert found.scores["local"] == pytest.approx((used[0] + used[1] / 2 + used[2] / 2 + used[3] / 2) / 4)
    assert (found.name, found.score, found.radius) == ("local", found.scores["local"], 1)
    assert found.shares["local"] == found.shares["uniform"] == 1
    assert [found.shares[name] for name in NAMES[:3]] == [found.scores[name] for name in NAMES[:3]]


def test_patterns_that_resemble_each_other_are_told_apart():
    scores = name_pattern(np.stack([patterns.diagonal(17), patterns.local(17), patterns.uniform(17)]), True).scores
    np.testing.assert_allclose(scores["self"], [1, (15 / 3 + 2 / 2) / 17, 1 / 17], atol=1e-12)
    np.testing.assert_allclose(scores["local"][:2], [(15 / 3 + 2 / 2) / 17, 1], atol=1e-12)
    np.testing.assert_allclose(scores["uniform"], [1 / 17, (15 * 3 + 2 * 2) / 17**2, 1], atol=1e-12)


@pytest.mark.parametrize(
    ("matrix", "name", "tied"),
    [
        (patterns.uniform(1), "self", NAMES),
        (patterns.first_token(2), "previous_token", ("previous_token", "first_token")),
        (patterns.local(2, 1), "uniform", ("uniform", "local")),
        (patterns.diagonal(2), "self", ("self",)),
        (patterns.causal_uniform(2), "uniform", ("uniform", "local")),
    ],
)
def test_what_coincides_is_named_by_order_and_says_so(matrix, name, tied):
    found = name_pattern(matrix)
    assert (found.name, found.score, found.tied) == (name, pytest.approx(1, abs=1e-12), tied)


def test_one_name_per_head():
    zoo = [getattr(patterns, name)(7) for name in NAME_OF if name != "local"] + [patterns.local(7, 2)]
    found = name_pattern(np.stack([zoo, zoo[::-1]]))
    expected = np.array([list(NAME_OF.values()), list(NAME_OF.values())[::-1]])
    np.testing.assert_array_equal(found.name, expected)
    np.testing.assert_allclose(found.score, np.ones((2, 7)), atol=1e-12)
    assert (found.radius[0, 6], found.radius[1, 0], found.tied[1, 2]) == (2, 2, ("uniform",))


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16, np.float32])
@pytest.mark.parametrize("name", NAME_OF)
def test_names_do_not_depend_on_the_type(name, dtype):
    found = name_pattern(getattr(patterns, name)(11).astype(dtype))
    assert found.name == NAME_OF[name]
    assert found.score == pytest.approx(1, abs=2e-2 if dtype == ml_dtypes.bfloat16 else 1e-3)


@pytest.mark.parametrize("name", NAME_OF)
def test_the_last_queries_stand_at_the_last_keys(name):
    found = name_pattern(getattr(patterns, name)(11)[-5:])
    assert (found.name, found.score) == (NAME_OF[name], pytest.approx(1, abs=1e-12))


def test_more_queries_than_keys():
    diagonal = np.concatenate([np.zeros((2, 3)), np.eye(3)])  # queries 0 and 1 stand before the first key
    assert (name_pattern(diagonal).name, name_pattern(diagonal).score) == ("self", 1.0)
    assert name_pattern(np.full((5, 3), 1 / 3)).name == "uniform"
    assert name_pattern(np.eye(3)[[0] * 5]).name == "first_token"


def test_queries_with_no_key_left_do_not_count():
    weights = patterns.previous_token(7)
    weights[[1, 4]] = 0
    found = name_pattern(weights)
    assert (found.name, found.score) == ("previous_token", 1.0)


@pytest.mark.parametrize("shape", [(5, 7), (5, 0), (0, 7)])
def test_a_head_without_weight_has_no_pattern(shape):
    found = name_pattern(np.zeros(shape))
    assert (found.name, found.score, found.tied) == ("none", 0.0, ())


def test_a_sharp_head_of_no_pattern_is_mixed(rng):
    found = name_pattern(np.eye(37)[rng.permuted(np.tile(np.arange(37), (5, 1)), axis=1)])
    assert set(found.name) == {"mixed"}
    assert (found.score < 0.2).all()
    assert set(found.tied) == {()}


def test_a_sink_costs_score(rng):
    scores = np.where(np.eye(7, dtype=bool), 3.0, -np.inf)
    found = name_pattern(attention_weights(scores, sinks=3.0))
    assert (found.name, found.score) == ("self", pytest.approx(0.5))


class TestNames:
    def test_a_head_whose_best_score_is_no_better_than_an_even_head_has_no_name(self):
        """At n = 5 the diagonal gets a fifth by chance: 0.3 of the weight there says nothing."""
        rows = np.array([0.3, 0.7, 0, 0, 0])
        weights = np.stack([np.roll(rows if i % 2 else np.array([0.3, 0, 0, 0.7, 0]), i) for i in range(5)])
        found = name_pattern(weights, True)
        assert found.scores["self"] == pytest.approx(0.3)
        assert (found.name, found.score) == ("mixed", max(found.scores.values()))
        assert found.closest == tuple(sorted(found.scores, key=lambda name: -round(found.scores[name], 5))[:2])

    def test_the_two_closest(self):
        weights = 0.6 * patterns.next_token(31) + 0.4 * patterns.first_token(31)
        found = name_pattern(np.stack([weights, weights]), True)
        assert found.name.tolist() == ["next_token"] * 2
        assert found.closest.tolist() == [["next_token", "first_token"]] * 2

    def test_nobody_sees_the_next_token_under_a_causal_mask(self):
        found = name_pattern(patterns.diagonal(31), masks.causal())
        assert found.scores["next_token"] == pytest.approx(1 / 31)  # the last query's own place


class TestPadding:
    def padded(self, matrix, lengths=(7, 4), n=7):
        """The pattern among the first positions of each batch entry; all others look at the first key."""
        weights = np.zeros((len(lengths), 1, n, n))
        for entry, length in zip(weights, lengths, strict=True):
            entry[0, :length, :length] = matrix(length)
            entry[0, length:, 0] = 1
        return weights

    @pytest.mark.parametrize("name", [name for name in NAME_OF if name not in ("causal_uniform", "local")])
    @pytest.mark.parametrize("side", ["right", "left"])
    def test_counts_nowhere(self, name, side):
        weights, padding = self.padded(getattr(patterns, name)), np.arange(7) >= np.array([[7], [4]])
        mask: object = masks.key_lengths([7, 4])
        if side == "left":
            weights, padding = weights[..., ::-1, ::-1].copy(), padding[:, ::-1]
            for entry, length in zip(weights, (7, 4), strict=True):
                entry[0, 7 - length :, 7 - length :] = getattr(patterns, name)(length)
            mask = ~padding[:, None, None]
        for options in ({"mask": mask}, {"mask": mask, "padding": padding}):
            found = name_pattern(weights, **options)
            assert found.name.tolist() == [[NAME_OF[name]]] * 2
            if options["mask"] is mask:
                np.testing.assert_allclose(found.score, 1, atol=1e-12)

    def test_labels_say_so(self):
        labels = [["a", "b", "c", "d", "e", "f", "g"], ["a", "b", "c", "d", "[PAD]", "[PAD]", "[PAD]"]]
        found = name_pattern(self.padded(patterns.next_token), masks.key_lengths([7, 7]), labels)
        np.testing.assert_allclose(found.scores["next_token"], 1)

    def test_fewer_queries_than_keys_are_not_told_by_the_mask(self):
        found = name_pattern(np.eye(7)[None, None, 5:], masks.key_lengths([7]))
        assert name_pattern(np.eye(7)[[0, 0]][None, None], masks.key_lengths([5])).name == [["first_token"]]
        assert found.name == [["self"]]


class TestTokens:
    LABELS = ("[CLS]", "Yes", ",", "we", "can", ".", "[SEP]")

    @pytest.mark.parametrize(("name", "places"), [("separator", [0, 6]), ("punctuation", [2, 5])])
    def test_separators_and_punctuation(self, name, places):
        weights = np.zeros((7, 7))
        weights[:, places] = 0.5
        found = name_pattern(weights, True, list(self.LABELS))
        assert (found.name, found.score, found.shares[name]) == (name, pytest.approx(1), pytest.approx(1))
        even = name_pattern(patterns.uniform(7), True, list(self.LABELS))
        assert (even.name, even.scores[name], even.shares[name]) == ("uniform", pytest.approx(0), pytest.approx(2 / 7))
        ids = np.array([101, 5, 6, 7, 8, 9, 102])
        options = {"separators": [101, 102]} if name == "separator" else {"punctuation": [6, 9]}
        assert name_pattern(weights, True, ids, **options).name == name
        assert name not in name_pattern(weights, True, ids).scores

    def test_a_name_needs_the_best_score_and_not_only_one_that_would_do(self):
        """A quarter on the first token is far above chance, but most of the head is even: it is between the two."""
        weights = 0.25 * patterns.first_token(24) + 0.75 * _some_of_the_keys(24, 12)
        found = name_pattern(weights, True)
        assert found.scores["first_token"] > 0.2 + 0.8 / 24, "supported by itself"
        assert found.scores["uniform"] > found.scores["first_token"]
        assert found.name == "mixed"
        assert "uniform" in found.closest

    @pytest.mark.parametrize(("share", "name"), [(0.25, "mixed"), (0.6, "induction")])
    def test_a_few_repeated_words_make_no_induction_head(self, share, name):
        """On the queries with something to copy, it must be ahead of what positions explain there."""
        n, ids = 20, np.arange(20)
        ids[15:] = ids[5:10]
        copied = np.zeros((n, n))
        copied[np.arange(15, 20), np.arange(6, 11)] = 1
        spread = _some_of_the_keys(n, n // 2)
        rest = share * copied + (1 - share) * _some_of_the_keys(n, 3)
        weights = np.where(copied.any(axis=-1, keepdims=True), rest, spread)
        found = name_pattern(weights, True, ids)
        assert found.scores["induction"] > 0.2, "above chance in either case"
        assert found.name == name

    def test_the_first_token_is_called_so_even_if_it_is_a_separator(self):
        found = name_pattern(patterns.first_token(7), True, list(self.LABELS))
        assert (found.name, found.tied) == ("first_token", ("first_token", "separator"))

    def test_labels_repeat_as_ids_do(self):
        labels = [str(i) for i in self.IDS]
        by_label, by_id = (name_pattern(self.copying(), masks.causal(), x) for x in (labels, self.IDS))
        assert by_label.name == by_id.name == "induction"

    IDS = np.array([5, 2, 7, 5, 2, 7, 5, 2, 7])

    def copying(self, n_q=9):
        """Looks at what followed the last earlier place of its token, and at the first key where there is none."""
        return np.eye(9)[np.where(np.arange(9) >= 3, np.arange(9) - 2, 0)][-n_q:]

    @pytest.mark.parametrize("n_q", [9, 5])
    def test_induction(self, n_q):
        found = name_pattern(self.copying(n_q), masks.causal(), self.IDS)
        assert (found.name, found.score, found.tied) == ("induction", 1.0, ("induction",))
        assert found.shares["induction"] == 1
        assert name_pattern(self.copying(n_q), masks.causal()).name == "mixed"

    def test_duplicates(self):
        same = (self.IDS[:, None] == self.IDS) & ~np.eye(9, dtype=bool)
        found = name_pattern(same / same.sum(axis=-1, keepdims=True), True, self.IDS)
        assert (found.name, found.score) == ("duplicate_token", 1.0)

    def test_an_even_head_has_no_more_than_chance(self):
        found = name_pattern(patterns.uniform(9), True, self.IDS)
        assert found.name == "uniform"
        assert (found.scores["duplicate_token"], found.scores["induction"]) == (pytest.approx(0), pytest.approx(0))
        assert found.shares["duplicate_token"] == pytest.approx(2 / 9)

    def test_one_query_is_not_enough_to_name_a_head(self):
        ids = np.arange(19)
        ids[11] = ids[10]  # the token before it is a duplicate, and what followed it is the query's own place
        found = name_pattern(patterns.previous_token(19), masks.causal(), ids)
        assert (found.scores["duplicate_token"], found.name) == (1.0, "previous_token")

    def test_each_batch_entry_has_its_own(self):
        weights = np.stack([[self.copying()], [self.copying()]])
        found = name_pattern(weights, masks.causal(), np.stack([self.IDS, np.arange(9)]))
        assert found.name.tolist() == [["induction"], ["mixed"]]


@pytest.mark.parametrize(
    ("call", "error", "said"),
    [
        (lambda: patterns.diagonal(0), ValueError, "n must be at least 1, got 0"),
        (lambda: patterns.uniform(-3), ValueError, "n must be at least 1, got -3"),
        (lambda: patterns.causal_uniform(2.5), TypeError, "n must be a whole number, got 2.5 of type float"),
        (lambda: patterns.local(5, -1), ValueError, "radius must be at least 0, got -1"),
        (lambda: patterns.local(5, 1.5), TypeError, "radius must be a whole number, got 1.5"),
        (lambda: name_pattern(np.eye(5, dtype=int)), TypeError, "weights must be float16, .* got int64"),
        (lambda: name_pattern(np.ones((5, 7))), ValueError, r"weights\[0\] \(row 0\): the weights sum to 7"),
        (
            lambda: name_pattern(np.full((3, 5, 7), np.nan)),
            ValueError,
            r"\(head 0, row 0\): the weight of key 0 is nan",
        ),
        (
            lambda: name_pattern(patterns.uniform(4), masks.causal()),
            ValueError,
            r"weights\[0, 1\] is 0.25, but the mask forbids that query this key; pass the mask that the weights were",
        ),
        (
            lambda: name_pattern(patterns.uniform(4), np.ones((3, 3), bool)),
            ValueError,
            r"mask of shape \(3, 3\) does not broadcast to the scores' shape \(4, 4\)",
        ),
        (
            lambda: name_pattern(patterns.uniform(4), None, np.ones(4)),
            TypeError,
            r"token_ids must be whole numbers, or labels as text, got float64 of shape \(4,\)",
        ),
        (
            lambda: name_pattern(patterns.uniform(4), None, [1, 2, 3]),
            ValueError,
            r"token_ids need one id for each of the 4 keys, shape \(4,\) or \(4,\), got shape \(3,\)",
        ),
        (
            lambda: name_pattern(np.full((5, 3), 1 / 3), None, [1, 2, 3]),
            ValueError,
            "but 5 queries cannot be the last positions of 3 keys",
        ),
    ],
)
@pytest.mark.usefixtures("unchecked")
def test_what_has_no_pattern_is_refused(call, error, said):
    with pytest.raises(error, match=said):
        call()


def _some_of_the_keys(n: int, count: int) -> np.ndarray:
    """Every query spreads its weight evenly over keys of its own, drawn at random."""
    order = np.random.default_rng(7).permuted(np.tile(np.arange(n), (n, 1)), axis=1)
    return (order < count) / count
