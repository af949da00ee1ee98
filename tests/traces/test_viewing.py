"""`clearhead view`: a trace from a file, served."""

from __future__ import annotations

import pytest
import torch
from tests.hf.models import inputs, made

import clearhead as ch
from clearhead import page
from clearhead.cli import main
from clearhead.traces.scratch import Scratch
from clearhead.translate.translator import SHIPPED


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


def test_a_file_that_is_no_trace_is_said_so_in_korean(served, capsys):
    assert main(["view", "--language", "ko", str(SHIPPED)]) == 1
    assert (
        f"{SHIPPED} 파일은 기록이 아닙니다(내용: Transformer). 기록은 trace.save로 저장합니다"
        in capsys.readouterr().err
    )
    assert main(["view", "--language", "ko", __file__]) == 1
    assert "파일은 온전한 safetensors 파일이 아닙니다: " in capsys.readouterr().err
    assert served == []


def test_a_folder_is_told_what_to_do(path, served, capsys, tmp_path):
    def said(folder, language):
        assert main(["view", "--language", language, str(folder)]) == 1
        return capsys.readouterr().err

    assert f"is a folder, and a trace is one file; give the file: {path}" in said(path.parent, "en")
    assert f"폴더입니다. 기록은 파일 하나이니 파일을 지정해 주세요: {path}" in said(path.parent, "ko")
    assert "there is none in it (`clearhead trace … -o FILE`" in said(tmp_path, "en")
    assert "그 안에 기록이 없습니다" in said(tmp_path, "ko")
    with Scratch(tmp_path / "long.safetensors") as streamed:
        assert "so trace again, to long.safetensors" in said(streamed.folder, "en")
        assert "파일은 블록이 끝날 때 만들어지니 long.safetensors에 다시 기록해 주세요" in said(streamed.folder, "ko")
    for number in range(4):
        (tmp_path / f"{number}.safetensors").touch()
    assert said(tmp_path, "en").rstrip().endswith("2.safetensors, …")
    assert served == []
