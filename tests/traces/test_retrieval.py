"""Retrieval scores, against the definition on the weights that eager attention writes out at each step."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from tests.hf.models import inputs, made, tokens

import clearhead as ch

STEPS = 9


@pytest.fixture(scope="module")
def written():
    """A small random model that writes: what it adds is not told in words, only counted."""
    ids = tokens(1, 30, seed=7)
    with ch.trace(made("llama")) as trace:
        out = made("llama").generate(ids, max_new_tokens=STEPS, min_new_tokens=STEPS, do_sample=False, pad_token_id=0)
    return trace, ids, out


def by_definition(out, start, stop):
    """Retrieval_Head: step by step, the argmax of each head's row, in the needle, and the token that came."""
    with torch.no_grad():
        attentions = made("llama")(out[:, :-1], output_attentions=True).attentions
    scores = np.zeros((2, 4))
    for step in range(STEPS):
        query = out.shape[1] - STEPS + step - 1
        for layer, weights in enumerate(attentions):
            for head in range(4):
                key = int(weights[0, head, query].argmax())
                if start <= key < stop and out[0, key] == out[0, query + 1]:
                    scores[layer, head] += 1 / (stop - start)
    return scores


def test_by_its_definition(written):
    trace, _, out = written
    for start, stop in ((0, 30), (3, 20), (10, 12), (0, 38)):
        found = trace.retrieval(slice(start, stop), out[0, 30:])
        expected = by_definition(out, start, stop)
        np.testing.assert_allclose(found.array, expected, atol=1e-12)
        assert expected.any() or stop - start < 30, "now and then something is copied"


def test_a_needle_that_is_found():
    """Random weights copy nothing, so the tokens are chosen such that what comes is what a head looks at most."""
    model, n = made("llama"), 30
    ids = tokens(1, n)
    for _ in range(20):  # write the token that comes where a head looks, until it stays the one that comes
        with torch.no_grad():
            output = model(ids, output_attentions=True)
        key, came = int(output.attentions[1][0, 2, -1].argmax()), int(output.logits[0, -1].argmax())
        if key == n - 1 or int(ids[0, key]) == came:
            break
        ids[0, key] = came
    with ch.trace(model) as trace:
        out = model.generate(ids, max_new_tokens=1, do_sample=False, pad_token_id=0)
    found = trace.retrieval(range(key, key + 1), out[0, n:])
    copied = int(out[0, n]) == int(ids[0, key])
    assert found["model.layers.1.self_attn"][2] == float(copied)
    assert copied, "the test shows something only if the head copies"


def test_without_strongest_keys_rows_are_asked_for(written):
    trace, _, out = written
    with ch.trace(made("llama"), top_k=0) as bare, torch.no_grad():
        made("llama")(out[:, :-1])
    expected = trace.retrieval(slice(0, 30), out[0, 30:])
    np.testing.assert_array_equal(bare.retrieval(slice(0, 30), out[0, 30:]).array, expected.array)


def test_what_a_decoder_finds_in_its_source():
    given = inputs("bart")
    with ch.trace(made("bart")) as trace:
        out = made("bart").generate(
            given["input_ids"][:1], max_new_tokens=5, min_new_tokens=5, do_sample=False, num_beams=1
        )
    found = trace.retrieval(slice(0, 11), out[0, 1:])
    assert all("encoder_attn" in name for name in found)
    strongest = np.asarray(trace.cross[0].top_k.indices)[..., 0]
    right = given["input_ids"][0].numpy()[strongest] == out[0, 1:].numpy()
    np.testing.assert_allclose(found[found.names[0]], right.sum(-1) / 11)


class TestMistakes:
    def test_needles_and_ids_that_do_not_fit(self, written, unchecked):
        trace, _, out = written
        for needle in (slice(5, 5), range(0, 40), range(0, 9, 2), 7):
            with pytest.raises(ValueError, match="needle must be a run of the text's 38 positions"):
                trace.retrieval(needle, out[0, 30:])
        with pytest.raises(ValueError, match=r"the 39 generated ids are not those|generated ids are not those"):
            trace.retrieval(slice(0, 5), out[0])
        with pytest.raises(ValueError, match="generated ids are not those that the trace ends with"):
            trace.retrieval(slice(0, 5), out[0, 29:-1])
        with pytest.raises(TypeError, match="generated must be the ids that the model added"):
            trace.retrieval(slice(0, 5), [0.5])
