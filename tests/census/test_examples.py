"""The strongest examples: the best of all are the best of the best, and their place shows the pattern."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from clearhead.census.examples import MOST, Example, _enters, _own_keys, best_queries, drawn, merge
from clearhead.census.measures import PATTERNS
from clearhead.census.result import load
from clearhead.census.survey import Settings

from . import small


def example(score: int, document: int, draw: int | None = None) -> Example:
    return Example(score, drawn([document]) if draw is None else draw, document, 0, (0,), (1,))


def test_merging_is_free_of_order_and_of_duplicates(rng):
    """Some documents have the same tokens, and draw the same number; of those the strongest is kept, or the first."""
    draws = rng.integers(0, 5, 12).tolist()
    found = [example(int(score), number, draws[number]) for number, score in enumerate(rng.integers(0, 3, 12))]
    order = sorted(found, key=lambda x: (-x.score, -x.draw, x.document))
    expected = [x for i, x in enumerate(order) if x.draw not in {y.draw for y in order[:i]}][:MOST]
    for order in itertools.islice(itertools.permutations(range(12)), 0, 200_000, 9_973):
        best = {}
        for at in (order[:5], order[5:9], order[9:], order[2:4]):
            part = {}
            merge(part, {(0, 1): [found[i] for i in at]})
            merge(best, part)
        assert best == {(0, 1): expected}
        one_by_one = {}
        for x in (found[i] for i in order):
            if _enters(one_by_one.get((0, 1), []), x.strength):
                merge(one_by_one, {(0, 1): [x]})
        assert one_by_one == best


def test_of_equal_scores_those_of_the_first_documents_are_not_preferred():
    best = {}
    merge(best, {(0, 1): [example(7, document) for document in range(1000)] + [example(8, 500), example(6, 0)]})
    documents = [x.document for x in best[0, 1]]
    assert documents[0] == 500
    assert min(documents) > 2
    assert len(set(documents)) == MOST


def test_documents_of_the_same_tokens_are_shown_once_however_the_corpus_is_cut(model, tmp_path):
    texts = ["the cat sat on the mat", "a dog ran , a dog sat", "it was tired because it ran"]
    (tmp_path / "a.jsonl").write_text(
        "".join(f'{{"text": "{texts[i % 3]}"}}\n' for i in (0, 0, 0, 0, 1, 0, 2, 1, 2, 0))
    )
    tables = []
    for size in (1, 3, 4, 99):
        out = small.taken_plainly(model, [tmp_path / "a.jsonl"], tmp_path / str(size), Settings(shard=size))
        tables.append(load(out).examples.to_pylist())
    assert tables == [tables[0]] * 4
    assert {row["document"] for row in tables[0]} == {0, 4, 6}
    places = [(row["layer"], row["head"], row["pattern"], row["document"]) for row in tables[0]]
    assert len(set(places)) == len(places)


def test_the_place_is_the_middle_of_equal_queries_that_have_a_choice():
    """A first token that can look at nothing else would show every pattern of positions best."""
    shown = np.array([[1, 0.9, 1, 1 - 1e-7, 1, 0.2], [1, 0.3, 0.1, 0.3, 0.1, 0.1]])
    decides = np.array([[False, True, True, True, True, True]] * 2)
    assert best_queries(shown, decides) == [3, 3]
    assert best_queries(shown, ~decides) == [0, 0]


LABELS = np.array(["<s>", "a", "b", ",", "a", "b"])


@pytest.mark.parametrize(
    ("pattern", "query", "keys"),
    [
        ("self", 4, [4]), ("previous_token", 4, [3]), ("next_token", 4, [5]), ("first_token", 4, [0]),
        ("local", 4, [2, 3, 4, 5]), ("duplicate_token", 4, [1]), ("induction", 4, [2]), ("separator", 4, [0]),
        ("punctuation", 4, [3]),
    ],
)  # fmt: skip
def test_keys_of_a_pattern(pattern, query, keys):
    every = np.broadcast_to(np.arange(6), (1, 6, 6))
    assert np.flatnonzero(_own_keys(pattern, LABELS, every)[0, query]).tolist() == keys
    assert not _own_keys(pattern, LABELS, np.full((1, 6, 2), -1)).any()


def test_examples_of_a_census_have_their_place_and_text(taken):
    census = load(taken)
    rows = census.examples.to_pylist()
    assert {row["pattern"] for row in rows} <= set(PATTERNS)
    for row in rows:
        assert row["query"] > 0  # the first token of this model sees but itself
        assert row["tokens"][row["query"] - row["first"]]
        assert row["weights"] == sorted(row["weights"], reverse=True)
        within = [(key, token) for key, token in zip(row["keys"], row["key_tokens"], strict=True)]
        for key, token in within:
            if 0 <= key - row["first"] < len(row["tokens"]):
                assert row["tokens"][key - row["first"]] == token
    of_head = [r for r in rows if (r["layer"], r["head"], r["pattern"]) == ("model.layers.1.self_attn", 2, "local")]
    assert len(of_head) == MOST
    assert [r["score"] for r in of_head] == sorted((r["score"] for r in of_head), reverse=True)
