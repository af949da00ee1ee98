"""Models whose sequence is spread over ranks give what they give in one process."""

from __future__ import annotations

import contextlib
import functools
import threading
from typing import Any

import numpy as np
import pytest
import torch
from tests.torch.parallel import spread_models
from tests.torch.parallel.alone import group_of_one
from tests.torch.parallel.ranks import Ranks

from clearhead import hf
from clearhead.torch import parallel
from clearhead.torch.watching import Position, attend

NOISE = 1e-12  # of float64, through two layers
EAGER = 5e-6  # in float32

CASES = [
    ("llama", 4, "none", "zigzag", "queries"),
    ("llama", 2, "right", "contiguous", "heads"),
    ("llama", 4, "left", "zigzag", "queries"),
    ("mistral", 4, "right", "contiguous", "queries"),
    ("mistral", 2, "left", "zigzag", "queries"),
    ("gemma2", 2, "none", "zigzag", "queries"),  # softcap, and windows in every other layer
    ("gpt_oss", 4, "left", "contiguous", "queries"),  # sinks
    ("llama4", 2, "left", "zigzag", "queries"),  # chunks
    ("gpt2", 4, "none", "zigzag", "queries"),
    ("opt", 2, "left", "contiguous", "queries"),  # positions counted by the mask: passed, where ranks are several
    ("bert", 4, "right", "contiguous", "queries"),
    ("modernbert", 2, "right", "zigzag", "queries"),
]


@functools.cache
def alone(name: str, padding: str, eager: bool) -> np.ndarray:
    return spread_models.alone(name, padding, eager=eager)


@pytest.mark.parametrize(("name", "ranks", "padding", "layout", "split"), CASES)
def test_rows_are_those_of_one_process(four: Ranks, name: str, ranks: int, padding: str, layout: str, split: str):
    found = four.run("spread_models.spread", name, ranks, padding, layout, split, ranks=list(range(ranks)))
    real = spread_models.inputs(padding).get("attention_mask", torch.ones(2, spread_models.N)).bool().numpy()
    ours, eager = alone(name, padding, False), alone(name, padding, True)
    largest = np.abs(eager[real]).max()
    for whole in found:
        noise = NOISE if ours.dtype == np.float64 else EAGER
        np.testing.assert_allclose(whole[real], ours[real], rtol=0, atol=noise * largest)
        np.testing.assert_allclose(whole[real], eager[real], rtol=0, atol=EAGER * largest)


def test_gradients_add_up_to_those_of_one_process(four: Ranks):
    expected = spread_models.gradients_alone()
    for found in four.run("spread_models.gradients", 4):
        assert found.keys() == expected.keys()
        for name, x in found.items():
            np.testing.assert_allclose(x, expected[name], rtol=0, atol=NOISE * np.abs(expected[name]).max())


def test_ranks_that_pass_other_tokens_are_told_so_everywhere(four: Ranks):
    said = {str(x) for x in four.ask("spread_models.other_ids")}
    assert len(said) == 1
    assert "the ranks do not agree on input_ids: rank 0 has int64 of shape (2, 23)" in said.pop()


@contextlib.contextmanager
def spread(name: str, **options: Any):
    model = spread_models.model_of(name)
    with group_of_one(), hf.borrowed(model), parallel.context(model=model, **options):
        yield model


REFUSED = {
    "labels": ({"labels": torch.ones(2, 23, dtype=torch.int64)}, "labels belong to the next position"),
    "a cache": ({"use_cache": True}, "there is no cache over several ranks"),
    "a mask of pairs": ({"attention_mask": torch.ones(2, 1, 23, 23)}, r"attention_mask must be \(b, n\) here.*got 4D"),
    "packed": ({"position_ids": torch.arange(23)[None] % 9}, "position_ids that begin anew say that sequences are"),
    "others": ({"pixel_values": torch.ones(2, 3)}, "how pixel_values is cut is not known; what is cut is input_ids"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_cannot_be_spread_is_refused_by_its_name(what: str):
    more, words = REFUSED[what]
    with spread("llama") as model, pytest.raises(NotImplementedError, match=words):
        model(**spread_models.inputs("none"), **more)


def test_models_that_cannot_be_spread_are_refused():
    with spread("t5") as model, pytest.raises(NotImplementedError, match="an encoder and a decoder is not spread"):
        model(**spread_models.inputs("none"))
    model = spread_models.model_of("llama")
    words = r"attention is 'eager', which knows of no other ranks \(model.set_attn"
    with group_of_one(), parallel.context(model=model), pytest.raises(ValueError, match=words):
        model(**spread_models.inputs("none"))
    with spread("llama", layout="zigzag") as model, pytest.raises(ValueError, match="cannot be cut into 2 runs"):
        model(input_ids=torch.ones(1, 1, dtype=torch.int64))


def test_a_model_that_does_not_attend_this_way_is_told_so():
    class Mean(torch.nn.Module):
        def forward(self, inputs_embeds: torch.Tensor, position_ids: Any = None, attention_mask: Any = None) -> Any:
            return inputs_embeds.mean(dim=-2)

    model = Mean()
    with group_of_one(), parallel.context(model=model), pytest.raises(ValueError, match="no layer of Mean attended"):
        model(torch.ones(2, 5, 3))
    assert model(torch.ones(2, 5, 3)).shape == (2, 3)


def test_what_a_layer_asks_for_is_not_dropped():
    class Biased(torch.nn.Module):
        def forward(self, inputs_embeds: torch.Tensor, position_ids: Any = None, attention_mask: Any = None) -> Any:
            x = inputs_embeds[:, None]
            return attend(self, Position(grows=False), x, x, x, bias=torch.zeros(5, 5))

    model = Biased()
    words = "Biased passes bias= to its attention, and it is not known how that is spread"
    with group_of_one(), parallel.context(model=model), pytest.raises(NotImplementedError, match=words):
        model(torch.ones(2, 5, 3))


def test_afterwards_and_in_other_threads_the_model_is_as_before():
    model, given = spread_models.model_of("llama"), spread_models.inputs("none")
    before = spread_models.alone("llama", "none", eager=True)
    answers: list[Any] = []
    with group_of_one(), parallel.context(model=model):
        other = threading.Thread(target=lambda: answers.append(model(**given).logits.detach().numpy()))
        other.start()
        other.join()
    np.testing.assert_array_equal(answers[0], spread_models.numbers(model(**given)).detach().numpy())
    np.testing.assert_array_equal(spread_models.alone("llama", "none", eager=True), before)
    with group_of_one(), hf.borrowed(model), parallel.context(model=model):
        found = model(given["input_ids"]).logits.detach().numpy()
    np.testing.assert_allclose(found, before, rtol=0, atol=EAGER * np.abs(before).max())
