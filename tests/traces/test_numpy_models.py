"""The textbook's models traced: views of the weights that they return, and of the translator that comes along."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import clearhead as ch
from clearhead.textbook import MultiHeadAttention, Transformer


@pytest.fixture
def model():
    return Transformer(31, 29, d_model=16, num_heads=4, num_layers=2, d_ff=12, seed=3)


def test_a_transformer_and_its_stacks(model, rng):
    source, target = rng.integers(1, 29, (1, 7)), rng.integers(1, 29, (1, 5))
    with ch.trace(model) as trace:
        expected = model(source, target)
    for number in range(2):
        np.testing.assert_allclose(trace.encoder[number].weights(), expected.encoder_weights[number][0], atol=1e-12)
        np.testing.assert_allclose(trace.decoder[number].weights(), expected.self_weights[number][0], atol=1e-12)
        np.testing.assert_allclose(trace.cross[number].weights(), expected.cross_weights[number][0], atol=1e-12)
    assert type(model.encoder[0].attention) is MultiHeadAttention
    assert "Trace of Transformer: 6 layers" in repr(trace)


def test_forwards_are_kept_apart(model, rng):
    source, target = rng.integers(1, 29, (2, 7)), rng.integers(1, 29, (2, 5))
    with ch.trace(model, layers=0) as trace:
        model(source, target)
        expected = model(source, target)
    assert len(trace.calls) == 2
    got = trace.calls[1].sequences[1].encoder[0].weights()
    np.testing.assert_allclose(got, expected.encoder_weights[0][1], atol=1e-12)


def test_the_translator_that_comes_along(tmp_path):
    translator = ch.Translator.load()
    text = "고양이가 쥐를 잡았다"
    with ch.trace(translator, keep=tmp_path / "x.safetensors") as trace:
        (translated,) = translator.translate([text])
    expected = translator.attention(text)
    call = next(call for call in trace.calls if call.names)
    n_t, n_s = expected.cross.shape[-2:]
    sequence = call.sequences[0]
    assert translated.text == "The cat caught the mouse"
    np.testing.assert_allclose(sequence.cross[0].weights()[:, :n_t, :n_s], expected.cross[0], atol=1e-5)
    loaded = ch.load_trace(tmp_path / "x.safetensors")
    np.testing.assert_array_equal(loaded.calls[0].sequences[0].cross[0].entropy, sequence.cross[0].entropy)


def test_exceptions_and_mistakes(model):
    with pytest.raises(KeyError), ch.trace(model):
        raise KeyError
    assert type(model.encoder[0].attention) is MultiHeadAttention
    with pytest.raises(ValueError, match="the Transformer was not called in the block"), ch.trace(model):
        pass
    with (
        pytest.raises(NotImplementedError, match="no head can be taken out of Transformer"),
        ch.trace(model, ablate={0: "zero"}),
    ):
        pass


@pytest.mark.parametrize("option", ["values", "gradients"])
def test_it_has_weights_and_no_values(model, option):
    message = f"{option}=True cannot be had here: Transformer is the textbook's, .* leave it out"
    with pytest.raises(NotImplementedError, match=message), ch.trace(model, **{option: True}):
        pass


def test_without_torch():
    code = """
import sys
sys.modules["torch"] = sys.modules["transformers"] = None
import numpy as np, clearhead as ch
model = ch.Transformer(9, 9, d_model=8, num_heads=2, num_layers=1, d_ff=4)
with ch.trace(model) as trace:
    model(np.array([[1, 2, 3]]), np.array([[1, 2]]))
print(trace.encoder[0].weights().shape)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout == "(2, 3, 3)\n", done.stderr[-1500:]
