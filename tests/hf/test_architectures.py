"""A few architectures through the command that tries them all."""

from __future__ import annotations

import pytest
import transformers as t

from .architectures import main, run, small_config


@pytest.mark.parametrize(
    ("name", "what"),
    [("qwen3", "passed"), ("phi", "passed"), ("wav2vec2", "passed"), ("bloom", "not on the interface")],
)
def test_what_becomes_of_an_architecture(name, what):
    outcome = run(name)
    assert outcome.what == what, outcome
    assert (outcome.calls > 0) == (what == "passed")
    assert outcome.difference < 2e-4


def test_a_model_that_cannot_be_built_is_said_to_be_so():
    outcome = run("informer")
    assert outcome.what == "not built"
    assert "prediction_length" in outcome.why


def test_small_ones_are_small():
    config = small_config(t.CLIPConfig)
    assert config.text_config.hidden_size == config.vision_config.hidden_size == 32
    assert config.text_config.num_attention_heads == 4


def test_the_command_prints_a_line_for_each(capsys):
    main(["qwen2", "bloom"])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split()[:2] == ["qwen2", "passed"]
    assert lines[1].startswith("bloom")
