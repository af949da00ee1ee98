"""Files as they come, and files that are something else; and no text on both sides of a split."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given, strategies as st

from clearhead.languages import RefusedError
from clearhead.translate.examples import Example
from clearhead.translate.pairs import Pairs, comparable, read_pairs, split

LICENCE = "CC-BY 2.0 (France) Attribution: tatoeba.org #1 (A) & #2 (B)"


@pytest.fixture
def file(tmp_path):
    def write(content):
        path = tmp_path / "pairs.tsv"
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write


def test_two_columns_are_read_and_further_ones_ignored(file):
    path = file(f"Go.\t가.\t{LICENCE}\nI see.\t알았어.\n")
    assert read_pairs(path) == Pairs([Example("Go.", "가."), Example("I see.", "알았어.")], [])
    assert read_pairs(str(path), swap=True).examples == [Example("가.", "Go."), Example("알았어.", "I see.")]


def test_byte_order_marks_line_ends_and_spaces(file):
    path = file("\ufeffGo.\t가.\r\n  I   see. \t알았어.\t\r\nA\u2028b\t" + unicodedata.normalize("NFD", "각"))
    assert read_pairs(path) == Pairs([Example("Go.", "가."), Example("I see.", "알았어."), Example("A b", "각")], [])


def test_lines_that_cannot_be_used_are_named(file):
    path = file("Go.\t가.\n\nno tab\n\t가.\nGo.\t \t x\nGo.\t가.\tagain\nwords\t" + "가" * 8 + "\nGo!\t가!\n")
    found = read_pairs(path, longest=7)
    assert found.examples == [Example("Go.", "가."), Example("Go!", "가!")]
    assert [str(skipped) for skipped in found.skipped] == [
        "line 2: it is empty",
        "line 3: there is no tab, so there is only one text",
        "line 4: the source is empty",
        "line 5: the target is empty",
        "line 6: the same pair as line 1",
        "line 7: the target has 8 characters, more than 7",
    ]
    assert found.skipped[-1].reason.ko == "번역문이 8자로 7자보다 깁니다"


def test_a_missing_file(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"there is no file .*nowhere.tsv; give the path of a tab-separated"):
        read_pairs(tmp_path / "nowhere.tsv")


def test_a_directory(tmp_path):
    with pytest.raises(ValueError, match="is a directory; give the path of a tab-separated text file"):
        read_pairs(tmp_path)


@pytest.mark.parametrize("content", [b"", b" \r\n\n"], ids=["nothing", "blank"])
def test_an_empty_file(file, content):
    with pytest.raises(ValueError, match=r"pairs.tsv is empty; expected lines of a source text, a tab and a target"):
        read_pairs(file(content))


def test_a_binary_file(file):
    with pytest.raises(ValueError, match=r"pairs.tsv is not a text file: byte 8 is zero; expected UTF-8 \(a UTF-16"):
        read_pairs(file(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"))
    with pytest.raises(ValueError, match="a UTF-16 file has to be saved as UTF-8"):
        read_pairs(file("Go.\t가.\n".encode("utf-16")))


def test_another_encoding(file):
    with pytest.raises(ValueError, match=r"is not UTF-8: line 2 has the byte 0xb0 where no .*; save it as UTF-8"):
        read_pairs(file(b"Go.\tx\n" + "Go.\t가.\n".encode("cp949")))


def test_a_file_without_pairs(file):
    with pytest.raises(
        ValueError, match=r"has no pairs: line 1: there is no tab, so there is only one text; expected lines"
    ):
        read_pairs(file("source,target\nGo.,가.\n"))


def test_texts_that_differ_in_case_spaces_and_punctuation_are_the_same():
    assert comparable("Go!") == comparable(" go ...") == comparable("ＧＯ") == "go"
    assert comparable("가 자.") == comparable("가자!") == comparable(unicodedata.normalize("NFD", "가자")) == "가자"
    assert comparable("?!") == "?!" != comparable("...")


# Few letters, so that many of them coincide.
SIDES = st.text(st.sampled_from("abAB .!"), min_size=1, max_size=3).filter(str.strip)


@given(st.lists(st.builds(Example, SIDES, SIDES), min_size=2, max_size=60), st.floats(0.05, 0.95), st.integers(0, 9))
def test_no_text_is_on_both_sides(examples, share, seed):
    try:
        task = split(Pairs(examples, []), share, seed)
    except ValueError as error:
        assert "share a text with each other" in str(error)  # noqa: PT017
        return
    for side in range(2):
        assert not {comparable(pair[side]) for pair in task.train} & {comparable(pair[side]) for pair in task.test}
    assert sorted(task.train + task.test) == sorted(examples)
    assert task.train
    assert task.test


def test_the_share_is_met_where_pairs_are_free():
    pairs = Pairs([Example(f"source {number}", f"target {number}") for number in range(1_009)], [])
    task = split(pairs, 0.1, seed=3)
    assert (len(task.train), len(task.test)) == (908, 101)
    assert split(pairs, 0.1, seed=3) == task
    assert split(pairs, 0.1, seed=4).test != task.test
    assert task.name == "pairs"


def test_pairs_that_hang_together_through_others_stay_together():
    """a–1, a–2 and b–2 are one group; c–3 is free and the only one that can be kept for the test."""
    chain = [Example("a", "1"), Example("A!", "2"), Example("b", "2."), Example("c", "3")]
    for seed in range(5):
        assert split(Pairs(chain, []), 0.3, seed).test == [Example("c", "3")]


def test_one_group_cannot_be_split():
    chain = [Example("a", "1"), Example("a", "2"), Example("b", "2")]
    with pytest.raises(ValueError, match=r"all 3 pairs share a text with each other, .*; add pairs with other texts"):
        split(Pairs(chain, []), 0.5)


def test_the_test_is_never_empty_and_training_neither():
    chain = [Example("a", "1"), Example("a", "2"), Example("b", "3"), Example("b", "4"), Example("b", "5")]
    task = split(Pairs(chain, []), 0.01)
    assert {example.source for example in task.test} == {"a"}
    assert {example.source for example in task.train} == {"b"}


@pytest.mark.parametrize(
    ("share", "message"),
    [(0.0, "share must be greater than 0, got 0"), (1.0, "share must be less than 1, or nothing is left to train on")],
    ids=["none", "all"],
)
def test_shares_between_nothing_and_all(share, message, unchecked):
    with pytest.raises(ValueError, match=message):
        split(Pairs([Example("a", "1"), Example("b", "2")], []), share)


def test_what_is_refused_is_said_in_korean_too(tmp_path):
    empty = tmp_path / "empty.tsv"
    empty.touch()
    with pytest.raises(RefusedError) as refused:
        read_pairs(empty)
    assert refused.value.said.ko == f"{empty} 파일이 비어 있습니다. 한 줄에 원문, 탭, 번역문을 차례로 써 주세요"
    with pytest.raises(FileNotFoundError) as missing:
        read_pairs(tmp_path / "none.tsv")
    assert missing.value.said.ko.startswith(f"{tmp_path / 'none.tsv'} 파일이 없습니다.")
