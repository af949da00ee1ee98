from __future__ import annotations

import os

import numpy as np
import pytest
from safetensors.numpy import save_file

from clearhead.textbook import Transformer
from clearhead.translate import checkpoint
from clearhead.translate.checkpoint import CHECKPOINT, MODEL

ARRAYS = {"a": np.arange(6, dtype=np.float32).reshape(2, 3).T, "random": np.arange(5, dtype=np.uint8)}
DESCRIPTION = {"kind": CHECKPOINT, "version": 1, "text": "고양이", "losses": [0.1, 1 / 3]}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "training.safetensors"


def test_what_is_written_is_read(path):
    checkpoint.write(path, DESCRIPTION, ARRAYS)
    description, arrays = checkpoint.read(path, CHECKPOINT)
    assert description == DESCRIPTION
    assert arrays.keys() == ARRAYS.keys()
    for name, array in ARRAYS.items():
        np.testing.assert_array_equal(arrays[name], array)
        assert arrays[name].dtype == array.dtype


def test_the_same_content_makes_the_same_bytes(tmp_path):
    for name in ("one", "two"):
        checkpoint.write(tmp_path / name, DESCRIPTION, ARRAYS)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_failure_leaves_the_old_file_and_nothing_else(path, monkeypatch, step):
    checkpoint.write(path, DESCRIPTION, ARRAYS)
    before = path.read_bytes()

    def fail(*_):
        raise OSError("no space left")

    monkeypatch.setattr(os, step, fail)
    with pytest.raises(OSError, match="no space left"):
        checkpoint.write(path, DESCRIPTION | {"text": "쥐"}, ARRAYS)
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]


def test_a_link_keeps_pointing_where_it_pointed(path, tmp_path):
    link = tmp_path / "link.safetensors"
    link.symlink_to(path)
    checkpoint.write(link, DESCRIPTION, ARRAYS)
    assert link.is_symlink()
    assert checkpoint.read(path, CHECKPOINT).description == DESCRIPTION


def test_no_such_file(path):
    with pytest.raises(FileNotFoundError, match=f"there is no file {path}; expected a training to be continued"):
        checkpoint.read(path, CHECKPOINT)


def test_no_such_folder(path):
    with pytest.raises(FileNotFoundError, match=r"the folder .*/nowhere does not exist; make it first"):
        checkpoint.write(path.parent / "nowhere" / "x.safetensors", DESCRIPTION, ARRAYS)


def test_a_folder(path):
    with pytest.raises(IsADirectoryError, match="is a folder; name a file in it"):
        checkpoint.write(path.parent, DESCRIPTION, ARRAYS)


@pytest.mark.parametrize("content", [b"", b"\x00" * 100, "고양이".encode(), b"\xff" * 9], ids=range(4))
def test_other_files_are_refused(path, content):
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"is not a safetensors file, expected a trained translator"):
        checkpoint.read(path, MODEL)


def test_arrays_of_somebody_else(path):
    save_file({"a": np.ones(3)}, path)
    with pytest.raises(ValueError, match="does not hold a trained translator but arrays that clearhead did not write"):
        checkpoint.read(path, MODEL)


def test_a_transformer_without_a_vocabulary(path):
    Transformer(7, 7, d_model=4, num_heads=2, num_layers=1, d_ff=3).save(path)
    with pytest.raises(ValueError, match="does not hold a trained translator but a Transformer without a vocabulary"):
        checkpoint.read(path, MODEL)


def test_a_training_is_not_a_translator(path):
    checkpoint.write(path, DESCRIPTION, ARRAYS)
    with pytest.raises(ValueError, match="does not hold a trained translator but a training to be continued"):
        checkpoint.read(path, MODEL)


def test_another_version(path):
    checkpoint.write(path, DESCRIPTION | {"version": 2}, ARRAYS)
    with pytest.raises(
        ValueError, match="a training to be continued of version 2, where this clearhead reads version 1"
    ):
        checkpoint.read(path, CHECKPOINT)
