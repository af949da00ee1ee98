"""A shard is counted as a plain loop over `trace` counts it; bad documents are named, and lose nothing else."""

from __future__ import annotations

import os

import numpy as np
import pytest
import torch
import transformers as t
from tests.hf.models import T5

import clearhead as ch
from clearhead.census import examples
from clearhead.census.causes import Cause
from clearhead.census.corpus import documents, planned
from clearhead.census.measures import MEASURES, PATTERNS, STEPS
from clearhead.census.result import load
from clearhead.census.rows import Problem, as_parquet, from_parquet
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
        for name in PATTERNS[:6] if views[0].n_q > 1 else ():
            scores[name].append(np.concatenate([x[name] for x in found]))
        scores["sink"].append(np.concatenate([sinks(view) for view in views]))
    census = load(taken)
    for name, by_document in scores.items():
        step = STEPS[MEASURES.index(name)]
        steps = np.rint(np.stack(by_document).astype(np.float64) * step).astype(int)  # (documents, heads)
        assert census.documents == 28
        assert len(steps) == (28 if name == "sink" else 27)  # one document has a single token, which shows no pattern
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


def test_examples_and_problems_say_which_of_two_files_they_are_of(model, tmp_path):
    """Their names are the same but for bytes that are no text, and but for the folder."""
    for folder, text in (("a", "the cat sat on the mat"), ("b", "a dog ran under the mat")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / os.fsdecode(b"x\xff.txt")).write_text(text)
        (tmp_path / folder / "empty.txt").write_text(" ")
    census = load(small.taken_plainly(model, [tmp_path / "a", tmp_path / "b"], tmp_path / "out"))
    assert [x["file"] for x in census.problems.to_pylist()] == ["a/empty.txt", "b/empty.txt"]
    rows = census.examples.to_pylist()
    assert {x["file"] for x in rows} == {r"a/x\xff.txt", r"b/x\xff.txt"}
    assert all(("dog" in x["tokens"]) == (x["file"][0] == "b") for x in rows)


def test_documents_are_cut_off_where_one_says(network, corpus):
    shards = planned([corpus / "a.jsonl"], size=12).shards
    row = survey(shards[0], *network, Settings(max_tokens=12))
    assert row.cut == 3  # those of more than 12 words, the one that is too long included
    assert row.read == 7
    assert not [problem for problem in row.problems if problem.reason == "too_long"]
    assert max(len(text.labels) for text in row.texts.values()) == 12


@pytest.mark.parametrize("side", ["left", "right"])
def test_the_first_tokens_are_read_whatever_the_tokenizer_would_keep(network, tmp_path, side):
    """Their places are those of the whole text, whose end says the same as its beginning."""
    model, _ = network
    _, tokenizer = loaded(model.name_or_path, with_tokenizer=True)
    tokenizer.truncation_side = side
    text = "  the dog ran , " + "the cat sat on the mat , " * 4 + "the dog ran"
    (tmp_path / "a.txt").write_text(text)
    row = survey(planned([tmp_path], size=1).shards[0], model, tokenizer, Settings(max_tokens=7))
    assert (row.read, row.cut, row.tokens) == (1, 1, 7)
    assert row.texts[0].labels == ["the", "dog", "ran", ",", "the", "cat", "sat"]
    assert row.texts[0].starts == [2, 6, 10, 14, 16, 20, 24]
    assert (row.texts[0].text, row.texts[0].placed) == (text[:27], True)
    assert tokenizer.truncation_side == side


def test_a_word_that_is_not_known_has_its_place_where_a_document_is_cut_off(network, tmp_path):
    """It is a special token, as those are that the tokenizer adds, and which have no place."""
    for number, text in enumerate(["the dog zebra the cat", "zebra dog the cat", "zebra okapi gnu the cat"]):
        (tmp_path / f"{number}.txt").write_text(text)
    row = survey(planned([tmp_path], size=3).shards[0], *network, Settings(max_tokens=3))
    assert [row.texts[number].starts for number in range(3)] == [[0, 4, 8], [0, 6, 10], [0, 6, 12]]


def test_some_layers(network, corpus):
    row = survey(planned([corpus / "d"], size=9).shards[0], *network, Settings(layers=(1,)))
    assert row.layers == [("model.layers.1.self_attn", 4)]
    assert (row.read, len(row.problems)) == (1, 1)


def test_a_document_that_ends_in_an_error_is_named_and_leaves_nothing_behind(network, corpus, monkeypatch):
    """The error comes late, when all but the examples has been worked out."""
    model, tokenizer = network
    (shard,) = planned([corpus / "d", corpus / "e.md"], size=9).shards
    whole = survey(shard, model, tokenizer, Settings())
    known = examples.add

    def odd(best, document, *rest):
        known(best, document, *rest)
        if document == 0:
            raise TypeError("odd \ud800\nmore")
        return True

    monkeypatch.setattr(examples, "add", odd)
    row = survey(shard, model, tokenizer, Settings(max_tokens=5))
    assert row.problems[0] == Problem(0, "one.txt", 0, "failed", *Cause.of("error", error="TypeError: odd \\ud800"))
    assert (whole.read, row.read, row.cut, row.tokens, row.kinds.sum()) == (2, 1, 0, 1, 1)
    assert row.counts.names.sum() == row.heads
    assert {x.document for found in row.best.values() for x in found} <= {2}
    assert from_parquet(as_parquet(row)).problems == row.problems


@pytest.mark.parametrize("error", [MemoryError(), RuntimeError("DefaultCPUAllocator: can't allocate memory: 9 bytes")])
def test_a_machine_without_room_is_not_the_documents_fault(network, corpus, monkeypatch, error):
    def full(*_):
        raise error

    monkeypatch.setattr(examples, "add", full)
    with pytest.raises(type(error)):
        survey(planned([corpus / "e.md"], size=9).shards[0], *network, Settings())


def test_what_fails_with_any_document_is_not_the_documents_fault(network, corpus):
    with pytest.raises((ValueError, KeyError, IndexError), match="7"):
        survey(planned([corpus / "e.md"], size=9).shards[0], *network, Settings(layers=(7,)))


def test_of_an_encoder_and_decoder_the_encoder_reads(network, corpus):
    """The decoder is given one token: beside a document of one, its layers would look like the encoder's."""
    torch.manual_seed(0)
    model = t.T5ForConditionalGeneration(t.T5Config(**T5, decoder_start_token_id=0)).eval()
    for path in ("d", "e.md"):
        row = survey(planned([corpus / path], size=9).shards[0], model, network[1], Settings())
        assert row.read == 1
        assert row.layers == [(f"encoder.block.{i}.layer.0.SelfAttention", 4) for i in range(2)]


def test_how_much_a_model_reads(network):
    model, tokenizer = network
    padded = t.RobertaConfig(max_position_embeddings=34, pad_token_id=1)
    assert limit_of(padded, object()) == 32
    assert limit_of(model.config, tokenizer) == small.LIMIT
    assert limit_of(object(), object()) is None
