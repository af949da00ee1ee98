"""The effect of every head, against each head taken out by a hook."""

from __future__ import annotations

import json

import numpy as np
import pytest
import torch
from tests.hf.models import made, tokens

import clearhead as ch

IDS = tokens(1)


def loss():
    with torch.no_grad():
        return made("llama")(IDS, labels=IDS).loss


@pytest.fixture(scope="module")
def traced():
    with ch.trace(made("llama")) as trace:
        loss()
    return trace


def hooked(layer, head):
    def zero(_, args):
        x = args[0].clone()
        x[..., head * 8 : (head + 1) * 8] = 0
        return (x,)

    handle = made("llama").model.layers[layer].self_attn.o_proj.register_forward_pre_hook(zero)
    try:
        return float(loss())
    finally:
        handle.remove()


def test_every_head(traced):
    found = traced.effects(loss)
    assert found.names == traced.names
    assert found.baseline == pytest.approx(float(loss()), abs=1e-5)
    expected = np.array([[hooked(layer, head) for head in range(4)] for layer in range(2)]) - float(loss())
    np.testing.assert_allclose(found.array, expected, atol=5e-5)
    name, head, value = found.largest(1)[0]
    assert abs(value) == pytest.approx(np.abs(expected).max(), abs=5e-5)
    assert f"{name}  head   {head}" in str(found)
    assert found.plot() is not None


def test_some_layers_and_another_way(traced):
    found = traced.effects(loss, way="mean", layers=1)
    assert found.names == ["model.layers.1.self_attn"]
    with ch.trace(made("llama"), ablate={(1, 2): "mean"}):
        without = float(loss())
    assert found.array[0, 2] == pytest.approx(without - found.baseline, abs=1e-6)


def test_it_goes_on_where_it_was_stopped(traced, tmp_path):
    path, runs = tmp_path / "effects.json", []

    def stopped():
        if len(runs) == 4:
            raise KeyboardInterrupt
        runs.append(1)
        return loss()

    with pytest.raises(KeyboardInterrupt):
        traced.effects(stopped, resume=path)
    assert len(json.loads(path.read_text())["numbers"]) == 4

    def counted():
        runs.append(1)
        return loss()

    found = traced.effects(counted, resume=path)
    assert len(runs) == 1 + 8
    np.testing.assert_allclose(found.array, traced.effects(loss).array, atol=1e-7)
    with pytest.raises(ValueError, match="of other heads or by another way"):
        traced.effects(loss, way="mean", resume=path)
    path.write_text("{")
    with pytest.raises(ValueError, match="does not hold effects"):
        traced.effects(loss, resume=path)


def test_a_trace_from_a_file_is_given_its_model(traced, tmp_path):
    traced.save(tmp_path / "x.safetensors")
    loaded = ch.load_trace(tmp_path / "x.safetensors")
    with pytest.raises(ValueError, match=r"does not know its model any more; .*model=model"):
        loaded.effects(loss)
    found = loaded.effects(loss, model=made("llama"), layers=0)
    np.testing.assert_allclose(found.array, traced.effects(loss, layers=0).array, atol=1e-7)


def test_what_is_no_number(traced):
    with pytest.raises(TypeError, match="measure must call the model and return one number"):
        traced.effects(lambda: made("llama")(IDS), layers=0)
