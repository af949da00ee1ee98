from __future__ import annotations

import json
from pathlib import Path

import pytest

from clearhead.cli import main
from clearhead.learn import pages
from clearhead.learn.notes import NOTES
from clearhead.learn.record import recorded, remember, state_folder

from ..english import english_in


@pytest.fixture(autouse=True)
def learner(tmp_path, monkeypatch):
    """Somebody with a home, a place to work and no built site."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setattr(pages, "SITE", tmp_path / "html")
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def browser(monkeypatch):
    """What a browser was asked to open; it cannot once "fail" is among it."""
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", lambda address: opened.append(address) or "fail" not in opened)
    return opened


def rows(text: str) -> dict[str, list[str]]:
    """The words of a note's line in the list, by its number."""
    return {line.split()[0]: line.split() for line in text.splitlines() if line[:1] == "0"}


def test_every_note_is_listed_with_its_question(capsys):
    assert main(["learn"]) == 0
    shown = capsys.readouterr().out
    for note in NOTES:
        assert f"{note.number}  {note.title('en')}" in shown
        assert note.question("en") in shown
    assert "✓" not in shown
    assert shown.endswith("\nNext: clearhead learn 01\n")


def test_the_list_shows_what_was_read_and_practised(browser, capsys):
    assert main(["learn", "01"]) == main(["learn", "3"]) == 0
    Path("practice").mkdir()
    passed = {name: {"passed": name != "costs"} for name in NOTES[2].exercises}
    Path("practice/progress.json").write_text(json.dumps({"version": 1, "exercises": passed}))
    capsys.readouterr()
    assert main(["learn"]) == 0
    shown = capsys.readouterr().out
    listed = rows(shown)
    assert [number for number, line in listed.items() if "✓" in line] == ["01", "03"]
    assert listed["01"][-3:] == ["0", "of", "2"]
    assert listed["03"][-3:] == ["4", "of", "5"]
    assert "Next: clearhead learn 02" in shown


def test_when_all_is_read_the_first_is_offered_again(capsys):
    for note in NOTES:
        remember(note.name)
    assert main(["learn"]) == 0
    assert capsys.readouterr().out.endswith("You have read all of them. clearhead learn 01 opens the first again.\n")


def test_a_note_is_opened_in_the_browser_and_remembered(browser, capsys):
    assert main(["learn", "02", "--language", "ko"]) == 0
    page = state_folder() / "notes" / "ko" / "02_self_attention.html"
    assert browser == [page.as_uri()]
    assert page.is_file()
    assert capsys.readouterr().out == (
        f"브라우저에서 열었습니다: 다섯 단계\n{page}\n\n읽은 노트로 기록했습니다.\n"
        "이 노트의 연습 문제: scaled_dot_product_attention, self_attention, shapes\n연습하기: clearhead practice\n"
        "학습된 모델에서 직접 보기: clearhead learn 02 --see\n"
    )
    assert recorded().read == {"02_self_attention"}


def test_without_a_browser_the_page_is_named_and_not_taken_for_read(browser, capsys):
    browser.append("fail")
    assert main(["learn", "02"]) == 1
    page = state_folder() / "notes" / "en" / "02_self_attention.html"
    assert f"open {page} yourself, or read it here with clearhead learn 02 --pager" in capsys.readouterr().err
    assert recorded().read == frozenset()


def test_a_note_is_read_in_the_terminal(browser, monkeypatch):
    shown = []
    monkeypatch.setattr("rich.pager.SystemPager._pager", lambda self, content: shown.append(content))
    assert main(["learn", "02", "--pager"]) == 0
    assert "02 · Five steps" in shown[0]
    assert browser == []
    assert recorded().read == {"02_self_attention"}


def test_a_damaged_record_is_said_once(browser, capsys):
    state_folder().mkdir(parents=True)
    (state_folder() / "learn.json").write_text("{")
    assert main(["learn"]) == 0
    assert "was set aside as" in capsys.readouterr().err
    assert main(["learn"]) == 0
    assert capsys.readouterr().err == ""


def test_what_cannot_be_remembered_is_said_and_is_no_failure(browser, monkeypatch, capsys):
    def refuse(*_):
        raise PermissionError("read-only")

    monkeypatch.setattr("clearhead.learn.record.write_whole", refuse)
    assert main(["learn", "02"]) == 0
    shown = capsys.readouterr()
    assert shown.err == "that this note was read could not be remembered: read-only\n"
    assert "counts as read" not in shown.out


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (["09"], 1, "there is no note '09'; they are numbered 01 to 08"),
        (["--pager"], 2, "--pager needs the number of a note"),
        (["--see"], 2, "--see needs the number of a note"),
        (["01", "--see"], 1, "note 01 has no picture in a trained model; these have: 02, 03, 05, 06, 08"),
    ],
)
def test_mistakes_are_named(arguments, status, said, capsys):
    assert main(["learn", *arguments]) == status
    assert said in capsys.readouterr().err


def test_the_list_in_korean_leaves_no_english(capsys):
    assert main(["learn", "--language", "ko"]) == 0
    shown = capsys.readouterr().out
    assert english_in(shown) == []
    assert "다음 노트: clearhead learn 01" in shown


def test_a_note_ends_with_where_it_is_seen(browser, capsys):
    assert main(["learn", "06"]) == main(["learn", "01"]) == 0
    shown = capsys.readouterr().out
    assert shown.count("See it in a trained model: clearhead learn 06 --see") == shown.count("--see") == 1


def test_what_a_note_speaks_of_is_opened_in_the_page(browser, capsys):
    assert main(["learn", "06", "--see"]) == 0
    address = state_folder().as_uri() + "/notes/en/explore.html#l=6&mean=6.0,6.1,6.2,6.3&v=lines&q=1"
    assert browser == [address]
    assert capsys.readouterr().out.startswith("Opened in the browser, where a trained model shows it: Cross-attention")
    assert recorded().read == frozenset()
    browser.append("fail")
    assert main(["learn", "03", "--see", "--language", "ko"]) == 0
    assert "브라우저에서 여세요: file://" in capsys.readouterr().out
