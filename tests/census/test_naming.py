"""Every file of a corpus has a name of its own, which can be shown and stored, whatever its name on the disk."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from clearhead.census.naming import files_of, printable

KINDS = (".txt",)


def written(folder: Path, *names: str) -> None:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)


def names(*given: Path) -> list[str]:
    return [name for _, name in files_of(given, KINDS).found]


def test_a_file_is_told_by_its_place_in_what_was_given(tmp_path):
    written(tmp_path, "a/x.txt", "a/deep/y.txt", "a/picture.png", "b/z.csv")
    files = files_of([tmp_path / "a", tmp_path / "b" / "z.csv"], KINDS)
    assert files.found == [
        (tmp_path / "a/deep/y.txt", "deep/y.txt"), (tmp_path / "a/x.txt", "x.txt"), (tmp_path / "b/z.csv", "z.csv"),
    ]  # fmt: skip
    assert files.left_out == ["picture.png"]


def test_files_of_one_name_are_told_apart(tmp_path):
    written(tmp_path, "1/a/x.txt", "1/a/y.txt", "1/b/x.txt", "2/a/x.txt", "3/z.txt")
    one = tmp_path / "1"
    assert names(one / "a", one / "b") == ["a/x.txt", "a/y.txt", "b/x.txt"]
    assert names(one / "a/x.txt", one / "b/x.txt") == ["a/x.txt", "b/x.txt"]
    assert names(one / "a/x.txt", one / "b") == ["a/x.txt", "b/x.txt"]
    assert names(one / "a", tmp_path / "2/a", tmp_path / "3") == ["1/a/x.txt", "1/a/y.txt", "2/a/x.txt", "z.txt"]
    assert names(one, tmp_path / "2") == ["1/a/x.txt", "1/a/y.txt", "1/b/x.txt", "2/a/x.txt"]
    assert names(one / "a", one) == ["x.txt", "y.txt", "b/x.txt"]  # what was given twice is read once


def test_names_do_not_depend_on_where_one_is(tmp_path, monkeypatch):
    written(tmp_path, "a/x.txt", "b/x.txt")
    monkeypatch.chdir(tmp_path / "a")
    expected = ["a/x.txt", "b/x.txt"]
    assert names(Path(), Path("../b")) == names(Path("x.txt"), Path("../b/x.txt")) == expected
    assert names(tmp_path / "a", tmp_path / "b") == expected


def test_what_is_not_there(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"there is no .*nothing to read documents from"):
        files_of([tmp_path / "nothing"], KINDS)


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("plain.txt", "plain.txt"), ("고양이 1.txt", "고양이 1.txt"), (os.fsdecode(b"caf\xe9.txt"), r"caf\xe9.txt"),
        (r"caf\xe9.txt", r"caf\\xe9.txt"), ("caf\x9b.txt", r"caf\u009b.txt"), ("two\nlines", r"two\nlines"),
        ("\x1b[31mred", r"\x1b[31mred"), ("\ud800", r"\ud800"), ("👩‍👧.txt", "👩‍👧.txt"),
    ],
    ids=ascii,
)  # fmt: skip
def test_names_that_can_be_shown(name, told):
    assert printable(name) == told
    assert printable(name).encode("utf-8")
