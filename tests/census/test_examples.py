"""The strongest examples: the best of all are the best of the best, and their place shows the pattern."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from clearhead.census.examples import MOST, Example, _own_keys, merge
from clearhead.census.measures import PATTERNS
from clearhead.census.result import load


def example(score: int, document: int) -> Example:
    return Example(score, document, 0, (0,), (1,))


def test_merging_is_free_of_order_and_of_duplicates(rng):
    found = [example(int(score), number) for number, score in enumerate(rng.integers(0, 6, 12))]
    expected = sorted(found, key=lambda x: (-x.score, x.document))[:MOST]
    for order in itertools.islice(itertools.permutations(range(12)), 0, 200_000, 9_973):
        best = {}
        for at in (order[:5], order[5:9], order[9:], order[2:4]):
            part = {}
            merge(part, {(0, 1): [found[i] for i in at]})
            merge(best, part)
        assert best == {(0, 1): expected}


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
        assert row["tokens"][row["query"] - row["first"]]
        assert row["weights"] == sorted(row["weights"], reverse=True)
        within = [(key, token) for key, token in zip(row["keys"], row["key_tokens"], strict=True)]
        for key, token in within:
            if 0 <= key - row["first"] < len(row["tokens"]):
                assert row["tokens"][key - row["first"]] == token
    of_head = [r for r in rows if (r["layer"], r["head"], r["pattern"]) == ("model.layers.1.self_attn", 2, "local")]
    assert len(of_head) == MOST
    assert [r["score"] for r in of_head] == sorted((r["score"] for r in of_head), reverse=True)
