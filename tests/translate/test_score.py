"""Lists of sentences, and how they are judged."""

from __future__ import annotations

import pytest

from clearhead.cli import main
from clearhead.languages import RefusedError
from clearhead.translate import score
from clearhead.translate.score import Judged, Line, read_list, score_lines

from . import toys


@pytest.fixture
def model(tmp_path):
    path = tmp_path / "toy.safetensors"
    toys.translator().save(path)
    return path


@pytest.fixture
def sentences(tmp_path):
    path = tmp_path / "list.tsv"
    path.write_text("# a comment\nba ce\t이 일\ndi  gu\t삼 오\t오 삼.\n\nfo ha\t사 육\nzu\t일\n", encoding="utf-8")
    return path


def test_a_list_has_comments_and_several_translations(sentences):
    assert read_list(sentences) == [
        Line("ba ce", ("이 일",)),
        Line("di gu", ("삼 오", "오 삼.")),
        Line("fo ha", ("사 육",)),
        Line("zu", ("일",)),
    ]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("ba ce\t이 일\nba\n", "list.tsv, line 2: expected a sentence, a tab and its translation"),
        ("ba ce\t이 일\n\t일\n", "list.tsv, line 2: expected"),
        ("# nothing\n\n", "list.tsv has no sentences; expected lines"),
        (None, "there is no file"),
    ],
    ids=["no tab", "no sentence", "empty", "missing"],
)
def test_a_list_that_is_none(tmp_path, content, message):
    path = tmp_path / "list.tsv"
    if content is not None:
        path.write_text(content, encoding="utf-8")
    with pytest.raises(RefusedError, match=message):
        read_list(path)


def test_any_accepted_translation_is_right_and_a_refusal_is_a_doubt(sentences):
    judged = score.score(toys.translator(), read_list(sentences))
    assert [one.right for one in judged] == [True, True, False, False]
    assert [one.sure for one in judged] == [True, True, True, False]


def test_a_full_stop_is_nobodys_mistake():
    (found,) = toys.translator().translate(["ba ce"])
    assert Judged(Line("ba ce", ("이  일.",)), found).right
    assert not Judged(Line("ba ce", ("이 일?",)), found).right
    assert not Judged(Line("ba ce", ("일 이",)), found).right


def test_three_shares_are_counted(sentences):
    judged = score.score(toys.translator(), read_list(sentences))
    assert list(score_lines(judged, every=True)) == [
        "right: 50.0 % (2) of 4 sentences, translated as one of their accepted translations",
        "doubted: 50.0 % (1) of the 2 that are wrong carry a doubt",
        "relied on: 66.7 % (2) of the 3 that carry no doubt are right",
        "  fo ha → 육 사, should be 사 육",
        f"  zu → {judged[3].found} (not sure), should be 일",
    ]
    assert list(score_lines(judged[:1], every=True)) == [
        "right: 100 % (1) of 1 sentences, translated as one of their accepted translations",
        "relied on: 100 % (1) of the 1 that carry no doubt are right",
    ]


def test_the_command_prints_the_score(sentences, model, capsys):
    assert main(["translate", "--score", str(sentences), "--model", str(model)]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 3
    assert main(["translate", "--score", str(sentences), "--model", str(model), "--list", "--language", "ko"]) == 0
    assert capsys.readouterr().out.splitlines()[3] == "  fo ha → 육 사, 정답은 사 육"
    assert main(["translate", "--score", "nowhere.tsv", "--model", str(model)]) == 1
    assert "there is no file nowhere.tsv; expected lines of a sentence, a tab" in capsys.readouterr().err
