"""Heads are called what they do, at any length, under any mask."""

from __future__ import annotations

import functools

import numpy as np
import pytest
from hypothesis import given, settings

from clearhead import biases, masks
from clearhead.textbook import patterns as zoo
from clearhead.textbook.attention import scaled_dot_product_attention
from clearhead.views import look

from ..drawn import rows
from ..equivalence import LOOKED, STRANGE
from ..problems import Problem, Row, build
from .heads import HEADS, queries_and_keys, tokens
from .truth import Truth, options_of_look

LENGTHS = (37, 211, 1009, 4099)


def draw(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def from_matrix(weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Queries and keys whose attention, at a scale of 1, is a given matrix: (n, n) → q, k (n, n)"""
    logarithms = np.log(weights, out=np.full_like(weights, -60.0), where=weights > 0)
    return logarithms.astype(np.float32), np.eye(len(weights), dtype=np.float32)


class TestConstructedHeads:
    @pytest.mark.parametrize("n", LENGTHS)
    def test_causal(self, n):
        ids = tokens(n)
        q, k = queries_and_keys(ids)
        found = look(q, k, scale=1.0, mask=masks.causal(), top_k=0, map_size=0).patterns(ids)
        assert found.labels.tolist() == list(HEADS)
        assert (np.delete(found.score, 4) > 0.95).all(), found
        assert found.score[4] > 0.8  # near keys weigh more than far ones, so it is no even window

    @pytest.mark.parametrize("n", LENGTHS[:3])
    def test_both_ways(self, n):
        """Induction looks at what followed a later place of the token just as well, and that does not count."""
        ids = tokens(n)
        q, k = queries_and_keys(ids)
        found = look(q, k, scale=1.0, top_k=0, map_size=0).patterns(ids)
        assert found.labels.tolist() == list(HEADS)
        assert (found.score[[0, 1, 2, 3, 5]] > 0.95).all(), found
        assert found.score[6] > 0.4

    def test_without_ids_the_first_five_are_the_same(self):
        q, k = queries_and_keys(tokens(211))
        view = look(q[:5], k[:5], scale=1.0, mask=masks.causal(), top_k=0, map_size=0)
        assert view.patterns().labels.tolist() == list(HEADS[:5])
        assert list(view.patterns().scores) == list(zoo.NAMES)

    @pytest.mark.parametrize("n", [37, 211])
    def test_the_last_queries_of_a_cache(self, n):
        ids = tokens(n)
        q, k = queries_and_keys(ids)
        found = look(q[:, -13:], k, scale=1.0, mask=masks.causal(), top_k=0, map_size=0).patterns(ids)
        assert found.labels.tolist() == list(HEADS)

    @pytest.mark.parametrize("noise", [0.0, 0.5, 1.0])
    @pytest.mark.parametrize("n", LENGTHS[:3])
    def test_noise_is_uniform_and_not_a_duplicate(self, n, noise):
        """With two tokens, half of all keys are duplicates by chance."""
        q, k = draw(5, n, 31) * noise, draw(5, n, 31, seed=1)
        found = look(q, k, mask=masks.causal(), top_k=0, map_size=0).patterns(np.arange(n) // 2 % 2)
        assert set(found.labels) == {"uniform"}
        assert (found["duplicate_token"] < 0.15).all()

    def test_a_copying_head_that_rests_on_the_first_token(self):
        """Nine of ten queries have nothing to copy."""
        n = 701
        ids = np.arange(n)
        ids[-100:] = ids[200:300]
        q, k = queries_and_keys(ids)
        found = look(q[6], k[6], scale=1.0, mask=masks.causal(), top_k=0, map_size=0).patterns(ids)
        assert found.scores["first_token"] > 0.5
        assert found.labels == "induction"
        assert found.score > 0.95

    def test_one_query_is_not_enough_to_name_a_head(self):
        ids = np.arange(211)
        ids[150] = ids[50]
        q, k = queries_and_keys(ids)
        found = look(q[1], k[1], scale=1.0, mask=masks.causal(), top_k=0, map_size=0).patterns(ids)
        assert found.labels == "previous_token"

    def test_alibi_is_local(self):
        q = np.zeros((3, 1009, 5), np.float32)
        found = look(q, q, mask=masks.causal(), bias=biases.alibi([1.0, 0.1, 0.01]), top_k=0, map_size=0).patterns()
        assert found.labels.tolist() == ["local"] * 3
        assert (np.diff(found.radius) > 0).all(), found.radius

    def test_a_sharp_head_of_no_pattern_is_mixed(self):
        view = look(draw(3, 211, 31) * 40, draw(3, 211, 31, seed=1), top_k=0, map_size=0)
        assert set(view.patterns().labels) == {"mixed"}

    def test_no_key_left(self):
        found = look(draw(3, 37, 5), draw(3, 37, 5), mask=masks.prefix(0)).patterns(np.arange(37))
        assert set(found.labels) == {"none"}
        assert (found.score == 0).all()

    def test_sinks_cost_score(self):
        q = np.zeros((2, 37, 5))
        view = look(q, q, sinks=np.array([-np.inf, np.log(37.0)]))
        np.testing.assert_allclose(view.patterns()["uniform"], [1, 0.5], rtol=1e-12)


class TestTheTextbook:
    """The textbook finds the same names and scores in the whole matrix of weights."""

    ZOO = (
        "diagonal(n)", "previous_token(n)", "next_token(n)", "first_token(n)", "uniform(n)", "causal_uniform(n)",
        "local(n, 1)", "local(n, 3)", "local(n, 7)",
    )  # fmt: skip

    @pytest.mark.parametrize("share", [1.0, 0.8, 0.6])
    @pytest.mark.parametrize("text", ZOO)
    @pytest.mark.parametrize("n", [11, 37, 101])
    def test_the_zoo(self, n, text, share):
        """The pattern, and mixtures of it with noise."""
        weights = eval(f"zoo.{text}", {"zoo": zoo, "n": n})
        noise = np.random.default_rng(5).random((n, n))
        noise = noise * (weights > 0 if text.startswith("causal") else 1)
        weights = share * weights + (1 - share) * noise / noise.sum(axis=-1, keepdims=True)
        q, k = from_matrix(weights)
        mask = masks.causal() if text.startswith("causal") else None
        found = look(q, k, scale=1.0, mask=mask, top_k=0, map_size=0).patterns()
        expected = zoo.name_pattern(weights, True if mask is None else mask)
        assert (found.labels, found.radius) == (expected.name, expected.radius)
        for name in found.scores:
            assert found.scores[name] == pytest.approx(expected.scores[name], abs=1e-6)

    @pytest.mark.parametrize("n", [1, 2, 3])
    def test_where_patterns_coincide_the_same_name_wins(self, n):
        q = np.zeros((n, 5))
        assert look(q, q).patterns().labels == zoo.name_pattern(np.full((n, n), 1 / n)).name

    @pytest.mark.parametrize("with_ids", [False, True], ids=["positions", "tokens"])
    @pytest.mark.parametrize("dtype", [np.float32, np.float64], ids=["float32", "float64"])
    @pytest.mark.parametrize("n", [7, 19, 83, 211])
    def test_random_causal_heads(self, n, dtype, with_ids):
        truth = truth_of_random_heads(n, dtype)
        q, k = truth.problem.q, truth.problem.k
        ids = np.random.default_rng(2).integers(0, 1 + n // 4, n) if with_ids else None
        truth.check_patterns(look(q, k, mask=masks.causal(), top_k=0, map_size=0).patterns(ids), ids)

    def test_the_mask_is_told_by_weights_that_never_look_ahead(self):
        q, k = draw(200, 37, 16) * np.geomspace(0.3, 12, 200)[:, None, None], draw(200, 37, 16, seed=1)
        _, weights = scaled_dot_product_attention(q, k, k, masks.causal())
        found = look(q, k, mask=masks.causal(), top_k=0, map_size=0).patterns()
        np.testing.assert_array_equal(found.labels, zoo.name_pattern(weights).name)

    def test_constructed_heads(self):
        ids = tokens(211)
        q, k = queries_and_keys(ids)
        for mask in (masks.causal(), None):
            truth = Truth(Problem(q, k, k, {"mask": mask, "scale": 1.0}))
            truth.check_patterns(look(q, k, scale=1.0, mask=mask, top_k=0, map_size=0).patterns(ids), ids)

    def test_wide_windows_are_the_same_by_the_kernels(self):
        """A window of 64 on either side is beyond the band; the definition is the same."""
        n = 307
        q = np.zeros((n, 5))
        bias = np.where(abs(np.arange(n)[:, None] - np.arange(n)) <= 64, 0.0, -40.0)
        found = look(q, q, bias=bias).patterns()
        assert (found.labels, found.radius) == ("local", 64)
        assert found.score == pytest.approx(1, abs=1e-9)

    @pytest.mark.parametrize("row", [row for n, row in enumerate(LOOKED) if n % 3 == 0 or row in STRANGE], ids=str)
    def test_on_the_table_of_calls(self, row: Row):
        """Under every mask, bias, type and layout. A head with a NaN among its weights spoils no other."""
        check(row)

    @settings(max_examples=100)
    @given(row=rows())
    def test_on_drawn_calls(self, row: Row):
        check(row)


@functools.lru_cache(maxsize=1)  # of tests that follow each other; the matrices are large
def truth_of_random_heads(n: int, dtype: type[np.floating]) -> Truth:
    """200 heads from nearly even to nearly one key for each query, as a model has them."""
    q, k = draw(200, n, 16).astype(dtype), draw(200, n, 16, seed=1).astype(dtype)
    q *= np.geomspace(0.3, 12, 200)[:, None, None]
    return Truth(Problem(q, k, k, {"mask": masks.causal()}))


def check(row: Row) -> None:
    """The patterns of a call are those of the textbook's matrix; tokens need queries that are the last positions."""
    problem = build(row)
    view = look(*problem.arrays, **options_of_look(problem), top_k=0, map_size=0)
    ids = np.random.default_rng(0).integers(0, 5, view.n_k) if view.n_q <= view.n_k else None
    Truth(problem).check_patterns(view.patterns(ids), ids)


class TestTokens:
    LABELS = ("[CLS]", "Yes", ",", "we", "can", ".", "[SEP]")

    def looking_at(self, places: list[int]) -> np.ndarray:
        """Queries and keys of a head that looks at some places evenly, for a scale of 1: (7, 1)"""
        return np.where(np.isin(np.arange(7), places), 20.0, 0.0)[:, None]

    @pytest.mark.parametrize(("name", "places"), [("separator", [0, 6]), ("punctuation", [2, 5])])
    def test_separators_and_punctuation(self, name, places):
        k = self.looking_at(places)
        view = look(np.ones((7, 1)), k, scale=1.0, tokens=list(self.LABELS))
        found = view.patterns()
        assert (found.labels, found.score) == (name, pytest.approx(1, abs=1e-6))
        assert look(np.ones((7, 1)), k, scale=1.0).patterns(list(self.LABELS)).labels == name
        ids, options = np.arange(7) + 100, {"separator": {"separators": [100, 106]}}
        options["punctuation"] = {"punctuation": [102, 105]}
        assert look(np.ones((7, 1)), k, scale=1.0).patterns(ids, **options[name]).labels == name
        assert name not in look(np.ones((7, 1)), k, scale=1.0).patterns(ids).scores

    @pytest.mark.parametrize("mask", [None, masks.causal(), ~masks.dilated(3), masks.key_lengths([17, 23])], ids=str)
    def test_as_in_the_textbook(self, mask):
        q, k = draw(2, 3, 23, 7) * 3, draw(2, 3, 23, 7, seed=1)
        labels = np.random.default_rng(4).choice(["a", "b", ",", ".", "[SEP]"], (2, 23))
        view = look(q, k, mask=mask, bias=biases.alibi(3), sinks=0.5)
        found, exact = view.patterns(labels), zoo.name_pattern(view.weights(), True if mask is None else mask, labels)
        np.testing.assert_array_equal(found.labels, exact.name)
        np.testing.assert_array_equal(found.closest, exact.closest)
        assert list(found.scores)[-2:] == ["separator", "punctuation"]
        for name in exact.scores:
            np.testing.assert_allclose(found.scores[name], exact.scores[name], 0, 1e-5, err_msg=name)
            np.testing.assert_allclose(found.shares[name], exact.shares[name], 0, 1e-5, err_msg=name)

    def test_a_batch_of_one_is_none(self):
        view = look(draw(3, 37, 5), draw(3, 37, 5))
        one, none = view.patterns(tokens(37)[None]), view.patterns(tokens(37))
        np.testing.assert_array_equal(one["induction"], none["induction"])

    def test_other_tokens_on_either_side_are_not_compared(self):
        """In cross-attention a query is no key, so no key is a duplicate of it."""
        view = look(draw(5, 3), draw(5, 3), tokens=list("abcde"), key_tokens=list("abcde"))
        assert list(view.patterns().scores) == list(zoo.NAMES)


class TestTheTable:
    def test_a_mixed_head_is_between_two(self):
        found = look(draw(3, 211, 31) * 40, draw(3, 211, 31, seed=1), top_k=0, map_size=0).patterns()
        first, second = found.closest[1]
        assert found.scores[first][1] >= found.scores[second][1] == np.sort([x[1] for x in found.scores.values()])[-2]
        assert f"mixed ({first}, {second})" in str(found).splitlines()[2]

    def test_prints_one_line_for_each_head(self):
        q, k = queries_and_keys(tokens(37))
        text = str(look(q, k, scale=1.0, mask=masks.causal()).patterns(tokens(37)))
        lines = text.splitlines()
        titles = "head pattern score self previous next first uniform local radius duplicate induction"
        assert " ".join(lines[0].split()) == titles
        assert len({len(line) for line in lines}) == 1
        assert [line.split()[:2] for line in lines[1:]] == [[str(n), name] for n, name in enumerate(HEADS)]

    def test_batches_are_numbered(self):
        lines = str(look(draw(2, 3, 5, 7), draw(2, 3, 5, 7)).patterns()).splitlines()
        assert [line[:4] for line in lines[1:]] == ["0, 0", "0, 1", "0, 2", "1, 0", "1, 1", "1, 2"]

    def test_many_heads_are_cut_short(self):
        lines = str(look(draw(67, 5, 7), draw(67, 5, 7)).patterns()).splitlines()
        assert lines[-1] == "… and 3 more heads"
        assert len(lines) == 66

    def test_without_heads_there_is_one_line(self):
        found = look(draw(5, 7), draw(5, 7)).patterns()
        assert isinstance(found.labels, str)
        assert isinstance(found.score, float)
        assert len(str(found).splitlines()) == 2

    def test_it_is_a_mapping_of_names_to_scores(self):
        found = look(draw(3, 5, 7), draw(3, 5, 7)).patterns()
        assert "self" in found
        assert "induction" not in found
        assert found.get("induction") is None
        assert list(found) == list(found.keys()) == list(found.scores)
        assert len(found) == len(found.scores)
        assert all(found[name] is score for name, score in found.items())

    def test_a_pattern_that_is_not_there(self):
        with pytest.raises(ValueError, match=r"'induction' is not one of self, .* local \(those of tokens need"):
            look(draw(5, 7), draw(5, 7)).patterns()["induction"]
        with pytest.raises(KeyError):  # as a mapping has it
            look(draw(5, 7), draw(5, 7)).patterns()["induction"]
