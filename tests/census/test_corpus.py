"""Documents in a fixed order, whatever the files; what cannot be read is there, and takes nothing else along."""

from __future__ import annotations

import errno
import json
import os
import pickle

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from clearhead.census.corpus import Shard, documents, planned


def everything(plan, field="text"):
    return [document for shard in plan.shards for document in documents(shard, field)]


def test_documents_are_the_same_however_they_are_cut(corpus):
    whole = everything(planned([corpus], size=10_000))
    assert [document.number for document in whole] == list(range(len(whole)))
    for size in (1, 3, 4, 7):
        plan = planned([corpus], size=size)
        assert everything(plan) == whole
        assert plan.documents == len(whole)
        assert [shard.documents for shard in plan.shards[:-1]] == [size] * (len(plan.shards) - 1)
        assert [Shard.from_json(shard.as_json()) for shard in plan.shards] == plan.shards


def test_every_kind_of_file_and_every_mishap(corpus):
    found = {(d.file, d.place): d for d in everything(planned([corpus], size=5))}
    assert len([d for d in found.values() if d.text and d.text.strip()]) == 20 + 1 + 6 + 1 + 1
    problems = {place: str(d.problem) for place, d in found.items() if d.problem}
    assert problems["a.jsonl", 5] == "the line is no JSON: column 2 cannot be read"
    assert problems["a.jsonl", 7] == "the line is no object with a text in 'text'"
    assert problems["a.jsonl", 8] == problems["a.jsonl", 7]
    assert problems["b.parquet", 3] == "there is no text in it"
    assert problems["c.parquet", 0] == "it is no Parquet file, or a broken one"
    assert problems["d/two.txt", 0] == "it is no text in UTF-8: byte 0 is 0xff"
    assert len(problems) == 6
    assert (found["a.jsonl", 6].text, found["a.jsonl", 9].text) == ("", "  ")
    assert planned([corpus], size=5).left_out == ["picture.png"]


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.dictionary(pa.int32(), pa.string())])
def test_a_row_that_is_no_utf_8_takes_no_other_along(tmp_path, kind):
    raw = pa.array([b"one", b"t\xffo", None, b"four"], pa.binary())
    texts = pa.StringArray.from_buffers(len(raw), *raw.buffers()[1:], raw.buffers()[0])  # unchecked
    column = texts.dictionary_encode() if pa.types.is_dictionary(kind) else texts.cast(kind)
    pq.write_table(pa.table({"text": column}), tmp_path / "a.parquet")
    found = everything(planned([tmp_path], size=9))
    assert [document.text for document in found] == ["one", None, None, "four"]
    assert str(found[1].problem) == "it is no text in UTF-8: byte 1 is 0xff"
    assert str(found[2].problem) == "there is no text in it"


def test_half_a_character_is_no_text(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"text": "the \\ud800 dog"}\n{"text": "\\ud83d\\ude00"}\n', encoding="utf-8")
    half, pair = everything(planned([tmp_path], size=3))
    assert (half.text, str(half.problem)) == (None, "it is no text: character 4 is half a pair, U+D800")
    assert (pair.text, pair.problem) == ("\U0001f600", None)


def test_a_line_that_json_itself_refuses_takes_no_other_along(tmp_path):
    """Numbers of thousands of digits, and brackets in brackets, are errors of other kinds than broken lines."""
    lines = ['{"text": "one"}', f'{{"text": "two", "n": {"9" * 5000}}}', "[" * 100_000, '{"text": "four"}']
    (tmp_path / "a.jsonl").write_text("\n".join(lines))
    found = everything(planned([tmp_path], size=9))
    assert [document.text for document in found] == ["one", None, None, "four"]
    assert {str(document.problem)[:39] for document in found[1:3]} == {"the line is JSON with a number that is "}


def test_a_file_that_may_not_be_read_is_said_in_every_language(tmp_path, monkeypatch):
    (tmp_path / "a.txt").write_text("one")

    def closed(*_):
        raise PermissionError(errno.EACCES, "Permission denied", "a.txt")

    monkeypatch.setattr("clearhead.census.corpus._hashed", closed)
    (found,) = everything(planned([tmp_path], size=1))
    assert found.problem.said() == ("this process may not read it", "읽을 권한이 없습니다")


def test_fields_and_groups_of_rows(tmp_path):
    (tmp_path / "a.ndjson").write_text(json.dumps({"body": "가나다"}) + "\n", encoding="utf-8")
    texts = [f"text {i}" for i in range(11)]
    pq.write_table(pa.table({"body": texts, "n": range(11)}), tmp_path / "b.parquet", row_group_size=4)
    plan = planned([tmp_path], size=3, field="body")
    assert [document.text for document in everything(plan, "body")] == ["가나다", *texts]
    numbers = everything(planned([tmp_path / "b.parquet"], size=3, field="n"), "n")
    assert {str(document.problem) for document in numbers} == {"it holds no text but int"}
    missing = everything(planned([tmp_path / "b.parquet"], size=3, field="title"), "title")
    assert [str(document.problem) for document in missing] == ["there is no column 'title'"]


def test_a_corpus_is_known_by_its_names_and_bytes(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("one")
    first = planned([tmp_path], size=3)
    assert planned([path], size=1).digest == planned([path], size=9).digest
    assert first.left_out == []
    path.write_text("two")
    assert planned([tmp_path], size=3).digest != first.digest
    path.write_text("one")
    assert planned([tmp_path], size=3).digest == first.digest
    path.rename(tmp_path / "b.txt")
    assert planned([tmp_path], size=3).digest != first.digest


def test_files_are_read_once_and_hidden_ones_not_at_all(tmp_path):
    (tmp_path / "a.txt").write_text("one")
    (tmp_path / ".hidden").mkdir()
    (tmp_path / ".hidden" / "b.txt").write_text("two")
    assert planned([tmp_path, tmp_path / "a.txt"], size=3).documents == 1
    with pytest.raises(FileNotFoundError, match=r"there is no .*nothing to read documents from"):
        planned([tmp_path / "nothing"], size=3)


def test_names_that_are_no_text_are_read_and_told(tmp_path):
    """A name on a disk is bytes: planning ended in a traceback with those that are no UTF-8."""
    table = pa.table({"text": ["five", "six"]})
    for name, content in ((b"a\xff.txt", b"one"), (b"b\xff.jsonl", b'{"text": "three"}\n{"text": "four"}\n')):
        (tmp_path / os.fsdecode(name)).write_bytes(content)
    with (tmp_path / os.fsdecode(b"c\xff.parquet")).open("wb") as file:
        pq.write_table(table, file)
    (tmp_path / os.fsdecode(b"d\xff.png")).write_bytes(b"no text")
    (tmp_path / os.fsdecode(b"e\xff.parquet")).write_bytes(b"no table")
    plan = planned([tmp_path], size=2)
    plan = plan._replace(shards=[Shard.from_json(shard.as_json()) for shard in plan.shards])
    found = [(document.file, document.text) for document in everything(plan)]
    assert found == [
        (r"a\xff.txt", "one"), (r"b\xff.jsonl", "three"), (r"b\xff.jsonl", "four"), (r"c\xff.parquet", "five"),
        (r"c\xff.parquet", "six"), (r"e\xff.parquet", None),
    ]  # fmt: skip
    assert plan.left_out == [r"d\xff.png"]
    (tmp_path / os.fsdecode(b"a\xff.txt")).rename(tmp_path / os.fsdecode(b"a\xfe.txt"))
    assert planned([tmp_path], size=2).digest != plan.digest
    with pytest.raises(OSError, match=r"a\\xff\.txt could be read when the corpus was planned"):
        everything(plan)


def test_files_of_one_name_in_two_folders_are_told_apart(tmp_path):
    for folder in "ab":
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "x.txt").write_text(f"of {folder}")
    plan = planned([tmp_path / "a", tmp_path / "b"], size=1)
    found = [(document.number, document.file, document.text) for document in everything(plan)]
    assert found == [(0, "a/x.txt", "of a"), (1, "b/x.txt", "of b")]


def test_a_file_that_goes_away_is_no_matter_of_its_documents(tmp_path):
    """As `unreadable` they would be done with for good, because of one machine that did not have the file."""
    for name in "abc":
        (tmp_path / f"{name}.txt").write_text(name)
    plan = planned([tmp_path], size=3)
    (tmp_path / "b.txt").unlink()
    told = r"b\.txt could be read when .* cannot be now: No such file .* on every machine"
    with pytest.raises(OSError, match=told) as caught:
        everything(plan)
    assert "그런 파일이 없습니다" in pickle.loads(pickle.dumps(caught.value)).said("ko")


@pytest.mark.parametrize("name", ["a.txt", "a.jsonl", "a.parquet"])
def test_a_file_that_changes_is_not_read_on(tmp_path, name):
    def write(count):
        if name == "a.parquet":
            pq.write_table(pa.table({"text": ["one"] * count}), tmp_path / name, row_group_size=1)
        else:
            (tmp_path / name).write_text('{"text": "one"}\n' * count)

    write(3)
    plan = planned([tmp_path], size=2)
    write(1)
    with pytest.raises(OSError, match=r"cannot be now: it has \d+ bytes now, and had \d+; it must be there, as it was"):
        everything(plan)


def test_rows_that_are_gone_are_not_passed_over(tmp_path, monkeypatch):
    pq.write_table(pa.table({"text": ["one", "two", "three"]}), tmp_path / "a.parquet")
    plan = planned([tmp_path], size=3)
    monkeypatch.setattr("clearhead.census.corpus._column", lambda *_: ["one", "two"])
    with pytest.raises(OSError, match="it has 2 documents now where it had 3"):
        everything(plan)


def test_spoilt_bytes_stay_a_matter_of_the_documents(tmp_path):
    """Those are the same on every machine."""
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"text": ["one" * 99, "two" * 99]}), path, use_dictionary=False, compression="zstd")
    whole = path.read_bytes()
    path.write_bytes(whole[:4] + b"\xff" * 60 + whole[64:])
    found = everything(planned([tmp_path], size=3))
    assert [document.text for document in found] == [None, None]
    assert all(document.problem.name == "no_table" for document in found)
