"""A few architectures through the command that tries them all."""

from __future__ import annotations

import sys

import pytest
import transformers as t

from .architectures import Beside, main, run
from .recipes import small_config


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
    outcome = run("timm_wrapper")
    assert outcome.what == "not built"
    assert outcome.why.startswith("ImportError")


def test_small_ones_are_small():
    config = small_config(t.CLIPConfig)
    assert config.text_config.hidden_size == config.vision_config.hidden_size == 32
    assert config.text_config.num_attention_heads == 4


def test_one_that_takes_its_process_down_is_told_of_and_the_next_one_runs(monkeypatch):
    monkeypatch.setattr("tests.hf.architectures.COMMAND", [sys.executable, "-c", "input(); raise SystemExit"])
    beside = Beside()
    for name in ("first", "second"):
        outcome = beside.run(name)
        assert (outcome.name, outcome.what, outcome.why) == (name, "not run", "takes its process down")
    beside.close()


def test_one_that_never_ends_is_stopped(monkeypatch):
    monkeypatch.setattr("tests.hf.architectures.COMMAND", [sys.executable, "-c", "input(); input()"])
    monkeypatch.setattr("tests.hf.architectures.SECONDS", 0.1)
    beside = Beside()
    assert beside.run("endless").why == "takes more than 0.4 s"
    assert beside.process is None


def test_the_command_prints_a_line_for_each(capsys):
    main(["qwen2", "bloom"])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split()[:2] == ["qwen2", "passed"]
    assert lines[1].startswith("bloom")
