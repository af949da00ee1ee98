"""Numbers and stacks from the paths of modules."""

from __future__ import annotations

import pytest

from clearhead.traces.naming import checked_layers, is_wanted, not_there, numbered, role, stacks

PATHS = {
    "model.layers.3.self_attn": ("model.layers.*.self_attn", 3, "encoder"),
    "transformer.h.11.attn": ("transformer.h.*.attn", 11, "encoder"),
    "encoder.block.2.layer.0.SelfAttention": ("encoder.block.*.layer.0.SelfAttention", 2, "encoder"),
    "decoder.block.2.layer.0.SelfAttention": ("decoder.block.*.layer.0.SelfAttention", 2, "decoder"),
    "decoder.block.2.layer.1.EncDecAttention": ("decoder.block.*.layer.1.EncDecAttention", 2, "cross"),
    "model.decoder.layers.0.encoder_attn": ("model.decoder.layers.*.encoder_attn", 0, "cross"),
    "decoder.blocks.1.cross_attention": ("decoder.blocks.*.cross_attention", 1, "cross"),
    "attention": ("attention", 0, "encoder"),
    "": ("", 0, "encoder"),
    "layer.attention:4": ("layer.attention", 4, "encoder"),
}


@pytest.mark.parametrize("path", PATHS)
def test_what_a_path_says(path):
    assert (*numbered(path), role(path)) == PATHS[path]


def test_stacks_by_number():
    names = ["a.0.attn", "a.2.attn", "b.0.attn", "shared", "shared:1"]
    assert stacks(names) == {
        "a.*.attn": {0: "a.0.attn", 2: "a.2.attn"},
        "b.*.attn": {0: "b.0.attn"},
        "shared": {0: "shared", 1: "shared:1"},
    }


def test_a_module_with_a_number_in_its_path_that_is_used_twice():
    assert stacks(["groups.0.attn", "groups.0.attn:1"]) == {"groups.0.attn": {0: "groups.0.attn", 1: "groups.0.attn:1"}}


def test_which_layers_are_wanted():
    assert is_wanted("a.3.attn", None)
    assert is_wanted("a.3.attn", 3)
    assert is_wanted("a.3.attn", ["b", "a.3"])
    assert not is_wanted("a.31.attn", ["a.3"])
    assert not is_wanted("a.3.attn", [0, 1])
    checked_layers(range(3))
    with pytest.raises(TypeError, match="layers must be numbers or module paths"):
        checked_layers(2.5)
    with pytest.raises(TypeError, match="layers must be numbers or module paths"):
        checked_layers([True])


def test_a_name_that_is_not_there():
    assert "did you mean 'a.3.attn'?" in str(not_there("a.3.atn", ["a.3.attn", "b"]))
