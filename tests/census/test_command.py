"""`clearhead census`, as a user runs it."""

from __future__ import annotations

import os
import shutil
import signal
import time

import pytest
from tests.english import english_in

from clearhead.census import words
from clearhead.census.survey import Settings
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
    assert "2 documents without any text:" in lines
    assert "  a.jsonl, document 6" in lines
    assert "1 document longer than the model can read, which --max-tokens would cut off:" in lines
    assert lines[-1] == f"{out / 'index.html'}: the page; the tables are beside it"
    assert (out / "index.html").stat().st_size > 50_000
    assert "37 of 37 documents" in said.err


def test_in_korean(model, corpus, out, capsys):
    assert main(["--language", "ko", *arguments(model, corpus, out, "--resume")]) == 0
    said = capsys.readouterr()
    lines = said.out.splitlines()
    assert "읽을 수 없는 문서 6개:" in lines
    assert "  a.jsonl, 8번 문서: 'text' 필드에 글이 든 객체가 아닌 줄입니다" in lines
    assert "  a.jsonl, 10번 문서: 토큰 65개. 모델은 64개까지 읽습니다" in lines
    assert [english_in(line) for line in (*lines[:-1], said.err) if english_in(line)] == []


def test_one_of_anything_is_told_as_one(model, tmp_path, capsys):
    (tmp_path / "a.jsonl").write_text('{"text": "the"}\n{"text": "the cat sat"}\n{"text": ""}\n{"text": 1}\n')
    settings = Settings(shard=small.SHARD, layers=(1,), max_tokens=2)
    out = small.taken_plainly(model, [tmp_path / "a.jsonl"], tmp_path / "out", settings)
    more = ("--resume", "--layers", "1", "--max-tokens", "2")
    assert main(arguments(model, tmp_path / "a.jsonl", out, *more)) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("2 documents, 3 tokens, 1 layer, 4 heads, ")
    assert lines[1:3] == ["1 document cut off after 2 tokens", "1 document cannot be read:"]
    assert "1 document without any text:" in lines
    assert [words.counted(what, 1).en for what in words.COUNTED] == [f"1 {what[:-1]}" for what in words.COUNTED]
    assert words.counted("tokens", 1234) == ("1,234 tokens", "토큰 1,234개")


def test_what_is_another_census_is_said_in_korean(model, corpus, out, capsys):
    assert main(["--language", "ko", *arguments(model, corpus / "d", out, "--resume", "--max-tokens", "9")]) == 1
    said = capsys.readouterr().err
    assert "말뭉치 문서 37개 (" in said
    assert "`max_tokens` 없음, 9" in said


def test_ctrl_c_says_how_to_go_on(model, corpus, tmp_path, capsys, monkeypatch):
    def stopped(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("clearhead.census.taking.take", stopped)
    assert main(arguments(model, corpus, tmp_path / "out")) == 130
    assert capsys.readouterr().err == f"{words.STOPPING.en}\n"


@pytest.mark.parametrize("language", ["en", "ko"])
def test_ctrl_c_is_answered_before_all_has_ended(model, corpus, tmp_path, capsys, monkeypatch, language):
    """Ray takes seconds to end, in which nobody said a word."""
    heard = []

    def slow_to_end(*_, **__):
        try:
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(20)
        finally:
            until = time.monotonic() + 20
            while not heard and time.monotonic() < until:
                heard.extend(capsys.readouterr().err.splitlines())
                time.sleep(0.01)

    monkeypatch.setattr("clearhead.census.taking.take", slow_to_end)
    assert main(["--language", language, *arguments(model, corpus, tmp_path / "out")]) == 130
    assert heard == [words.STOPPING(language)]
    assert "--resume" in heard[0]
    assert capsys.readouterr().err == ""


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
