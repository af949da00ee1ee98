"""A shard is counted as a plain loop over `trace` counts it; bad documents are named, and lose nothing else."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import clearhead as ch
from clearhead.census.corpus import documents, planned
from clearhead.census.measures import MEASURES, PATTERNS, STEPS
from clearhead.census.result import load
from clearhead.census.survey import Settings, limit_of, survey
from clearhead.traces.command import loaded
from clearhead.traces.probing import sinks

from . import small


@pytest.fixture(scope="module")
def network(model):
    return loaded(str(model), with_tokenizer=True)


def test_the_result_is_that_of_a_plain_loop(network, corpus, taken):
    model, tokenizer = network
    scores: dict[str, list[np.ndarray]] = {name: [] for name in (*PATTERNS[:6], "sink")}
    for document in (d for shard in planned([corpus], size=3).shards for d in documents(shard)):
        if not (document.text or "").strip() or len(tokenizer(document.text)["input_ids"]) > small.LIMIT:
            continue
        with ch.trace(model) as trace, torch.no_grad():
            model(**tokenizer(document.text, return_tensors="pt"))
        views = list(trace.label(tokenizer, document.text))
        found = [view.patterns() for view in views]
        for name in PATTERNS[:6]:
            scores[name].append(np.concatenate([x[name] for x in found]))
        scores["sink"].append(np.concatenate([sinks(view) for view in views]))
    census = load(taken)
    for name, by_document in scores.items():
        step = STEPS[MEASURES.index(name)]
        steps = np.rint(np.stack(by_document).astype(np.float64) * step).astype(int)  # (documents, heads)
        assert census.documents == len(steps) == 28
        np.testing.assert_array_equal(
            census.mean(name).ravel(), [s / (len(steps) * step) for s in steps.sum(axis=0).tolist()]
        )
        np.testing.assert_allclose(census.spread(name).ravel(), steps.std(axis=0) / step, rtol=1e-12)


def test_bad_documents_are_named_and_lose_nothing_else(taken):
    problems = load(taken).problems.to_pylist()
    found = {(x["file"], x["document"]): (x["reason"], x["detail"]) for x in problems}
    assert {place: reason for place, (reason, _) in found.items()} == {
        ("a.jsonl", 5): "unreadable", ("a.jsonl", 6): "empty", ("a.jsonl", 7): "unreadable",
        ("a.jsonl", 8): "unreadable", ("a.jsonl", 9): "empty", ("a.jsonl", 10): "too_long",
        ("b.parquet", 3): "unreadable", ("c.parquet", 0): "unreadable", ("d/two.txt", 0): "unreadable",
    }  # fmt: skip
    assert found["a.jsonl", 10][1] == f"{small.LIMIT + 1} tokens; the model reads {small.LIMIT}"


def test_documents_are_cut_off_where_one_says(network, corpus):
    shards = planned([corpus / "a.jsonl"], size=12).shards
    row = survey(shards[0], *network, Settings(max_tokens=12))
    assert row.cut == 3  # those of more than 12 words, the one that is too long included
    assert row.read == 7
    assert not [problem for problem in row.problems if problem.reason == "too_long"]
    assert max(len(text.labels) for text in row.texts.values()) == 12


def test_some_layers(network, corpus):
    row = survey(planned([corpus / "d"], size=9).shards[0], *network, Settings(layers=(1,)))
    assert row.layers == [("model.layers.1.self_attn", 4)]
    assert (row.read, len(row.problems)) == (1, 1)


def test_how_much_a_model_reads(network):
    model, tokenizer = network
    assert limit_of(model.config, tokenizer) == small.LIMIT
    assert limit_of(object(), object()) is None
