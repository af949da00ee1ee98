"""`clearhead census`, as a user runs it."""

from __future__ import annotations

import shutil

import pytest

from clearhead.cli import main

from . import small


@pytest.fixture
def out(taken, tmp_path):
    return shutil.copytree(taken, tmp_path / "out")


def arguments(model, corpus, out, *more):
    return [
        "census",
        "--model",
        str(model),
        "--corpus",
        str(corpus),
        "-o",
        str(out),
        "--shard",
        str(small.SHARD),
        *more,
    ]


def test_what_is_done_is_told_and_shown(model, corpus, out, capsys):
    """All shards have their rows already, so this is what a census says at its end."""
    assert main(arguments(model, corpus, out, "--resume")) == 0
    said = capsys.readouterr()
    lines = said.out.splitlines()
    assert lines[0].startswith("28 documents, 453 tokens, 2 layers, 8 heads, ")
    assert lines[1] == "6 documents cannot be read:"
    assert lines[2].startswith("  a.jsonl, document 5: the line is no JSON")
    assert "  … and 1 more, in problems.parquet" in lines
    assert "2 documents are empty:" in lines
    assert "  a.jsonl, document 6" in lines
    assert "1 documents are longer than the model can read (--max-tokens cuts them off):" in lines
    assert lines[-1] == f"{out / 'index.html'}: the page; the tables are beside it"
    assert (out / "index.html").stat().st_size > 50_000
    assert "37 of 37 documents" in said.err


def test_in_korean(model, corpus, out, capsys):
    assert main(["--language", "ko", *arguments(model, corpus, out, "--resume")]) == 0
    assert "읽을 수 없는 문서 6개:" in capsys.readouterr().out


def test_ctrl_c_says_how_to_go_on(model, corpus, tmp_path, capsys, monkeypatch):
    def stopped(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("clearhead.census.taking.take", stopped)
    assert main(arguments(model, corpus, tmp_path / "out")) == 130
    assert "the same command with --resume goes on with it" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ((), "holds a census already; --resume goes on with it, or choose a new folder"),
        (("--resume", "--max-tokens", "9"), "holds another census (there, now: max_tokens None, 9)"),
        (("--max-tokens", "65"), "--max-tokens 65 is more than the model can read, which is 64"),
        (("--max-tokens", "1"), "max_tokens must be at least 2, got 1"),
        (("--shard", "0"), "shard must be at least 1, got 0"),
    ],
)
def test_what_is_refused(model, corpus, out, capsys, more, said):
    assert main(arguments(model, corpus, out, *more)) == 1
    assert said in capsys.readouterr().err


def test_a_folder_in_what_is_read_is_refused(model, corpus, capsys):
    """Its own files would be part of the corpus, or of the model, when it is gone on with."""
    for read in (model, corpus):
        assert main(arguments(model, corpus, read / "deep" / "out")) == 1
        assert f"lies in {read}, which is read; choose a folder outside of it" in capsys.readouterr().err
        assert not (read / "deep").exists()


def test_what_is_not_there(model, corpus, tmp_path, capsys):
    def error(model, corpus):
        assert main(arguments(model, corpus, tmp_path / "out")) == 1
        return capsys.readouterr().err

    assert "is no folder with a model: it has no config.json" in error(tmp_path / "none", corpus)
    assert "there is no " in error(model, tmp_path / "none")
    (tmp_path / "empty").mkdir()
    assert "there are no documents in the corpus" in error(model, tmp_path / "empty")
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "config.json").write_text("{}")
    assert "cannot be loaded: " in error(tmp_path / "broken", corpus)
    assert not (tmp_path / "out").exists()
