"""A folder is that of one census, and no other is mixed into it."""

from __future__ import annotations

import dataclasses
import json
import shutil

import pytest

from clearhead.census.corpus import planned
from clearhead.census.identity import claimed, folder_digest, identity, identity_of
from clearhead.census.survey import Settings
from clearhead.languages import RefusedError

from . import small

SETTINGS = Settings(shard=small.SHARD)


@pytest.fixture
def told(model, corpus):
    return identity(model, planned([corpus], size=small.SHARD), SETTINGS)


def test_the_same_goes_on(told, taken):
    claimed(taken, told, resume=True)
    assert identity_of(taken) == json.loads(json.dumps(told))


def test_without_resume_it_is_refused(told, taken, tmp_path):
    with pytest.raises(RefusedError, match="holds a census already; --resume goes on with it"):
        claimed(taken, told, resume=False)
    (tmp_path / "letter.txt").write_text("mine")
    with pytest.raises(RefusedError, match="is there and holds something else; choose a new folder"):
        claimed(tmp_path, told, resume=True)


@pytest.mark.parametrize(("name", "value"), [("max_tokens", 7), ("layers", (1,)), ("field", "body"), ("threads", 2)])
def test_other_settings_are_refused_by_name(told, taken, model, corpus, name, value):
    settings = dataclasses.replace(SETTINGS, **{name: value})
    other = identity(model, planned([corpus], size=small.SHARD), settings)
    with pytest.raises(RefusedError, match=rf"holds another census \(there, now: {name} "):
        claimed(taken, other, resume=True)


def test_another_model_or_corpus_is_refused(taken, model, corpus, tmp_path):
    plan = planned([corpus], size=small.SHARD)
    copy = shutil.copytree(model, tmp_path / "copy")
    assert folder_digest(copy) == folder_digest(model)
    config = copy / "config.json"
    config.write_text(config.read_text() + "\n")
    with pytest.raises(RefusedError, match=r"model .* \([0-9a-f]{8}\), copy \([0-9a-f]{8}\)"):
        claimed(taken, identity(copy, plan, SETTINGS), resume=True)
    with pytest.raises(RefusedError, match=r"corpus 37 documents .*, 2 documents"):
        claimed(taken, identity(model, planned([corpus / "d"], size=small.SHARD), SETTINGS), resume=True)


def test_a_folder_of_another_format_is_not_read(tmp_path):
    (tmp_path / "census.json").write_text('{"format": 99}')
    with pytest.raises(ValueError, match="is of format 99, and this clearhead reads 2"):
        identity_of(tmp_path)


def test_a_census_that_has_not_begun_is_begun_again(told, tmp_path):
    claimed(tmp_path / "out", told | {"shards": 1}, resume=False)
    claimed(tmp_path / "out", told, resume=False)
    assert identity_of(tmp_path / "out")["shards"] == told["shards"]


def test_what_a_killed_process_leaves_is_no_hindrance(told, taken, tmp_path):
    (tmp_path / "new" / "shards").mkdir(parents=True)
    claimed(tmp_path / "new", told, resume=True)
    assert identity_of(tmp_path / "new")["shards"] == told["shards"]
    out = shutil.copytree(taken, tmp_path / "out")
    (out / "shards" / ".00000002.parquet.0123456789abcdef.unfinished").write_bytes(b"half")
    claimed(out, told, resume=True)
    assert small.contents(out) == small.contents(taken)
    (tmp_path / "other" / "shards").mkdir(parents=True)
    (tmp_path / "other" / "shards" / "letter.txt").write_text("mine")
    with pytest.raises(RefusedError, match="holds something else"):
        claimed(tmp_path / "other", told, resume=True)
