"""`clearhead view`: a trace from a file, served."""

from __future__ import annotations

import pytest
import torch
from tests.hf.models import inputs, made

import clearhead as ch
from clearhead import page
from clearhead.cli import main


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    with ch.trace(made("bart"), keep=tmp_path_factory.mktemp("view") / "x.safetensors"), torch.no_grad():
        made("bart")(**inputs("bart"))
    return next(tmp_path_factory.getbasetemp().glob("view*/x.safetensors"))


@pytest.fixture
def served(monkeypatch) -> list:
    """What was to be served."""
    calls = []
    monkeypatch.setattr(page, "serve", lambda layers, **options: calls.append((layers, options)))
    return calls


def test_a_file_is_served_with_its_name(path, served):
    assert main(["view", str(path), "--sequence", "2", "--no-browser", "--port", "8123"]) == 0
    ((layers, options),) = served
    assert options == {"title": "BartForConditionalGeneration · x.safetensors", "port": 8123, "browser": False}
    assert [layer.stack for layer in layers] == ["encoder"] * 2 + ["decoder"] * 2 + ["cross"] * 2


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nowhere.safetensors"], "there is no file nowhere.safetensors"),
        (["FILE", "--sequence", "3"], "there is no sequence 3; there are 3: 0 … 2"),
        (["FILE", "--call", "1"], "there is no call 1; there are 1: 0 … 0"),
        ([__file__], "is not a whole safetensors file"),
    ],
)
def test_what_is_refused(path, served, capsys, arguments, said):
    assert main(["view", "--language", "en", *(str(path) if x == "FILE" else x for x in arguments)]) == 1
    assert said in capsys.readouterr().err
    assert served == []
