from __future__ import annotations

import json
from pathlib import Path

import pytest

from clearhead.learn.record import Record, recorded, remember, state_folder


@pytest.fixture(autouse=True)
def learner(tmp_path, monkeypatch):
    """Somebody with a home and a place to work, where nothing lies yet."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    (tmp_path / "work" / "practice").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "work")


def own() -> Path:
    return state_folder() / "learn.json"


def test_at_first_nothing_was_read_or_practised():
    assert recorded() == Record(frozenset(), frozenset(), ())
    assert not own().exists()


def test_what_is_read_is_remembered():
    assert remember("02_self_attention").read == frozenset()
    assert remember("01_attention_intuition").read == {"02_self_attention"}
    remember("02_self_attention")
    assert recorded().read == {"01_attention_intuition", "02_self_attention"}
    assert json.loads(own().read_text()) == {"version": 1, "read": ["01_attention_intuition", "02_self_attention"]}


def test_the_state_directory_is_that_of_the_variable_if_it_is_absolute(tmp_path, monkeypatch):
    assert state_folder() == tmp_path / "state" / "clearhead"
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for elsewhere in ("", "state"):
        monkeypatch.setenv("XDG_STATE_HOME", elsewhere)
        assert state_folder() == tmp_path / "home" / ".local" / "state" / "clearhead"


@pytest.mark.parametrize(
    "content",
    ["", "{", "[]", "null", '{"read": []}', '{"version": 2, "read": []}', '{"version": 1}', b"\xff\xfe",
     '{"version": 1, "read": "02"}', '{"version": 1, "read": [2]}'],
)  # fmt: skip
def test_a_damaged_file_is_set_aside_and_that_is_said(content):
    own().parent.mkdir(parents=True)
    own().write_bytes(content if isinstance(content, bytes) else content.encode())
    damaged = own().read_bytes()
    record = remember("02_self_attention")
    assert record.read == frozenset()
    (trouble,) = record.troubles
    assert f"set aside as {own()}.damaged" in trouble.en
    assert own().with_name("learn.json.damaged").read_bytes() == damaged
    assert recorded() == Record(frozenset({"02_self_attention"}), frozenset(), ())


def test_what_was_practised_is_looked_up_in_the_workspace():
    exercises = {"softmax": {"passed": True, "tries": 3}, "shapes": {"passed": False}, "costs": {}}
    Path("practice/progress.json").write_text(json.dumps({"version": 1, "exercises": exercises}))
    assert recorded() == Record(frozenset(), frozenset({"softmax"}), ())


@pytest.mark.parametrize(
    "content", ["{", '{"version": 1, "exercises": ["softmax"]}', '{"version": 1, "exercises": {"softmax": 1}}']
)
def test_a_workspace_that_is_not_understood_is_said_and_left_as_it_is(content):
    progress = Path("practice/progress.json")
    progress.write_text(content)
    record = recorded()
    assert record.passed == frozenset()
    assert "practice/progress.json could not be understood" in record.troubles[0].en
    assert progress.read_text() == content
