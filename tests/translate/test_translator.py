from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

import clearhead
import clearhead.torch as cht
from clearhead.languages import speaking
from clearhead.translate.alignment import GIVEN, WRITTEN, Reader
from clearhead.translate.batches import source_ids
from clearhead.translate.command import HANDWRITTEN
from clearhead.translate.dates import dates
from clearhead.translate.doubt import Doubt
from clearhead.translate.model import write
from clearhead.translate.odd import odd_texts
from clearhead.translate.report import Quality, alignment_line, alignment_scores, judge, quality, quality_lines
from clearhead.translate.score import Judged, read_list, score
from clearhead.translate.sentences import sentences
from clearhead.translate.translator import SHIPPED, Translator
from clearhead.translate.vocabulary import END, Vocabulary
from clearhead.translate.words import doubt

from . import toys
from .lists import PLAIN

ROOT = Path(__file__).parents[2]
CAT = "고양이가 쥐를 잡았다"


@pytest.fixture(scope="module")
def shipped() -> Translator:
    return Translator.load()


class TestToy:
    def test_it_translates_what_it_has_never_seen(self):
        verdict = judge(toys.translator(), toys.task().test[:100])
        assert verdict.total == 100
        assert verdict.exact >= 0.9
        assert len(verdict.wrong) == round((1 - verdict.exact) * 100)

    def test_attention_finds_the_words(self):
        """Without ever being told, and in the row where a word is written rather than the one where it is given."""
        written, given = (
            max(score.accuracy for score in alignment_scores(toys.translator(), toys.task().test[:60], reading))
            for reading in (WRITTEN, GIVEN)
        )
        assert written >= 0.9
        assert given < 0.6

    def test_a_translation_does_not_depend_on_its_neighbours(self):
        texts = [example.source for example in toys.task().test[:11]]
        together = toys.translator().translate(texts)
        for text, beside in zip(texts, together, strict=True):
            (alone,) = toys.translator().translate([text])
            assert alone.text == beside.text
            assert alone.probability == beside.probability
            np.testing.assert_array_equal(alone.cross_weights, beside.cross_weights)

    def test_what_it_looked_at_belongs_to_its_pieces(self):
        (found,) = toys.translator().translate(["ba ce di"])
        assert found.text == "삼 이 일"
        assert found.ended
        assert found.cross_weights.shape == (1, 2, 4, 4)
        np.testing.assert_allclose(found.cross_weights.sum(axis=-1), 1, rtol=1e-6)
        assert [found.text[slice(*span)] for span in found.target_spans] == ["삼", "이", "일"]
        assert [found.source[slice(*span)] for span in found.source_spans] == ["ba", "ce", "di"]
        assert found.aligned().looked_at(Reader(0, None)).tolist() == [2, 1, 0]
        assert 0.5 < found.probability <= 1

    def test_confidence_is_the_least_probable_piece(self):
        (found,) = toys.translator().translate(["ba ce di"])
        assert 0 < found.confidence <= found.probability
        assert found.sure == (found.confidence > toys.translator().doubt.threshold)
        np.testing.assert_allclose(
            found.confidence, toys.translator().forced("ba ce di", found.text).confidence, rtol=1e-4
        )
        forced = toys.translator().forced("ba ce di", "삼 일 일")
        assert forced.confidence < 0.1
        assert not forced.sure

    def test_doubt_is_kept_in_the_file(self, tmp_path):
        path = tmp_path / "toy.safetensors"
        kept = Doubt(0.75, {3: frozenset({10, 11})})
        replace(toys.translator(), doubt=kept).save(path)
        assert Translator.load(path).doubt == kept

    def test_forced_sees_what_greedy_sees(self):
        (free,) = toys.translator().translate(["ba ce di"])
        forced = toys.translator().forced("ba ce di", "삼 이 일")
        assert forced.target_ids == free.target_ids
        np.testing.assert_allclose(forced.cross_weights, free.cross_weights, atol=1e-5)
        np.testing.assert_allclose(forced.probability, free.probability, rtol=1e-4)

    def test_all_attention_of_a_translation(self):
        (free,) = toys.translator().translate(["ba ce di"])
        seen = toys.translator().attention("ba ce di")
        assert seen.source == ["ba", "ce", "di", "<end>"]
        assert seen.given == ["<begin>", "삼", "이", "일"]
        assert seen.written == ["삼", "이", "일", "<end>"]
        for weights in seen[:3]:
            assert weights.shape == (1, 2, 4, 4)
            np.testing.assert_allclose(weights.sum(axis=-1), 1, rtol=1e-6)
        assert not np.triu(seen.decoder, 1).any()
        np.testing.assert_allclose(seen.cross, free.cross_weights, atol=1e-5)

    def test_alignment_in_words(self):
        line = alignment_line(toys.translator().forced("ba ce", "이 일"), Reader(0, None))
        first, second = line.split(" · ")
        assert first.startswith("이 ← ce ")
        assert second.startswith("일 ← ba ")

    def test_a_word_that_looks_at_the_end_is_said_to(self):
        forced = toys.translator().forced("ba ce", "이 일")
        weights = np.zeros_like(forced.cross_weights)
        weights[..., 0, :], weights[..., 1:, :] = (0.1, 0.05, 0.85), (0.25, 0.35, 0.4)
        line = alignment_line(forced._replace(cross_weights=weights), Reader(0, 0))
        nothing = "(looked at no word of the source)"
        assert line == f"이 ← {nothing} 85 % · 일 ← {nothing} 40 %"
        with speaking("ko"):
            assert alignment_line(forced._replace(cross_weights=weights), Reader(0, 0)).startswith(
                "이 ← (원문의 단어를 보지 않음) 85 %"
            )

    @pytest.mark.parametrize(("dtype", "kind"), [("float32", Path), ("float16", str)])
    def test_saved_and_loaded(self, tmp_path, dtype, kind):
        path = kind(tmp_path / "toy.safetensors")
        toys.translator().save(path, dtype)
        found = Translator.load(path)
        assert (found.task, found.longest, found.reader) == ("backwards", (5, 4), Reader(0, None))
        assert found.vocabulary == toys.vocabulary()
        rounded = {n: a.astype(dtype).astype("float32") for n, a in toys.translator().model.parameters().items()}
        for name, array in found.model.parameters().items():
            np.testing.assert_array_equal(array, rounded[name])

    def test_either_transformer_loads_the_file(self, tmp_path):
        path = tmp_path / "toy.safetensors"
        toys.translator().save(path)
        for loaded in (clearhead.Transformer.load(path).parameters(), cht.Transformer.load(path).state_dict()):
            for name, array in toys.translator().model.parameters().items():
                np.testing.assert_array_equal(np.asarray(loaded[name]), array)

    def test_spelled_says_where_pieces_lie(self):
        vocabulary = Vocabulary(["고양이", "##가", "쥐", "##를"])
        text, spans = vocabulary.spelled([3, 4, 5, 6, END])
        assert text == "고양이가 쥐를"
        assert [text[slice(*span)] for span in spans] == ["고양이", "가", "쥐", "를"]

    def test_no_texts(self):
        assert toys.translator().translate([]) == []

    @pytest.mark.parametrize("text", ["", " \n\t "], ids=["nothing", "spaces"])
    def test_nothing_to_translate(self, text):
        with pytest.raises(ValueError, match="there is nothing to translate: the text is empty"):
            toys.translator().translate([text])

    def test_an_unknown_word_is_named(self):
        with pytest.raises(ValueError, match="the word 'zu', characters 4 to 5, is not in the vocabulary"):
            toys.translator().translate(["ba zu ce"])

    def test_too_many_pieces(self):
        with pytest.raises(ValueError, match=r"a text of 5 pieces is too long: the longest sentence .* has 4 pieces"):
            toys.translator().translate(["ba ba ba ba ba"])

    def test_too_many_characters(self):
        with pytest.raises(
            ValueError, match=r"a text of 10,000 characters is too long: the longest sentence .* has 4 pieces"
        ):
            toys.translator().translate(["가" * 10_000])

    def test_a_damaged_vocabulary(self, tmp_path):
        path = tmp_path / "toy.safetensors"
        translator = toys.translator()
        Translator(translator.model, Vocabulary(["ba"]), "backwards", (5, 4)).save(path)
        with pytest.raises(ValueError, match="holds a vocabulary of 4 pieces but a model of 17; the file is damaged"):
            Translator.load(path)


class TestQuality:
    def test_sacrebleu_judges(self):
        examples = [example._replace(target="The cat caught the mouse in the park") for example in toys.task().test[:3]]
        same = quality([example.target for example in examples], examples)
        assert (same.pairs, round(same.bleu, 6), round(same.chrf, 6)) == (3, 100, 100)
        assert quality(["nothing"] * 3, examples).bleu < 1

    def test_it_says_when_it_memorises(self):
        told = list(quality_lines(Quality(50, 10.5, 30.0), Quality(50, 88.0, 92.0)))
        assert told[0] == "held-out pairs: BLEU 10.5, chrF 30.0 (50 pairs, written freely)"
        assert told[2].startswith("it memorises: pairs it was trained on come out 77.5 points of BLEU better")

    def test_and_says_nothing_when_it_does_not(self):
        assert len(list(quality_lines(Quality(50, 80.5, 90.0), Quality(50, 88.0, 92.0)))) == 2


class TestShipped:
    def test_it_is_small(self):
        assert SHIPPED.stat().st_size <= 3_000_000

    def test_the_cat_catches_the_mouse(self, shipped):
        (found,) = shipped.translate([CAT])
        assert found.text == "The cat caught the mouse"
        looked_at = found.aligned().looked_at(shipped.reader)
        assert looked_at[[1, 2, 4]].tolist() == [0, 2, 1]

    def test_a_date(self, shipped):
        (found,) = shipped.translate(["2028년 12월 7일 목요일"])
        assert found.text == "Thursday, December 7, 2028"

    @pytest.mark.parametrize(
        ("korean", "english"),
        [
            ("쥐를 고양이가 잡았다", "The cat caught the mouse"),
            ("빵을 아이가 먹었다", "The child ate bread"),
            ("그에게 나는 책을 주었다", "I gave the book to him"),
            ("그 책은 비싸다", "That book is expensive"),
            ("나는 매일 아침 커피를 마신다", "I drink coffee every morning"),
            ("어제 친구를 만났어요", "I met a friend yesterday"),
            ("비가 와요", "It is raining"),
            ("저는 학생입니다", "I am a student"),
            ("고양이가 쥐를 잡지 않았다", "The cat did not catch the mouse"),
            ("어디에 살아요?", "Where do you live?"),
            ("1850년 1월 1일", "January 1, 1850"),
            ("24년 3월 5일", "March 5, 2024"),
            ("20240305", "March 5, 2024"),
            ("2024-03-05", "March 5, 2024"),
            ("3/5", "March 5"),
            ("오전 9시", "9 AM"),
        ],
    )
    def test_it_believes_korean(self, shipped, korean, english):
        (found,) = shipped.translate([korean])
        assert found.text == english
        assert found.sure

    @pytest.mark.parametrize(
        ("text", "why"),
        [
            ("시계를 찼다", "함께 쓰는 말로 배우지 않았습니다: 시계를 찼다"),
            ("고양이가", "서술어(동사, 형용사, 이다)가 없습니다"),
            ("먹고", "문장이 끝나지 않았습니다. 뒤에 절이 이어져야 합니다: 먹고"),
            ("비가 와서", "문장이 끝나지 않았습니다. 뒤에 절이 이어져야 합니다: 와서"),
            ("새 새가 날았다", "이런 문장은 배우지 않았습니다"),
            ("차를 샀다", "어느 뜻으로 읽어도 말이 됩니다: 차를(tea, car) 샀다"),
            ("저도 읽었어요", "목적어(누구를, 무엇을)가 나와 있지 않습니다: 읽었어요"),
            ("같이 갔어요", "누구와 누구인지 나와 있지 않습니다: 같이"),
            ("동생이 많이 예쁘다", "함께 쓰는 말로 배우지 않았습니다: 많이 예쁘다"),
        ],
    )
    def test_it_says_why_it_doubts(self, shipped, text, why):
        (found,) = shipped.translate([text])
        assert not found.sure
        assert why in doubt(found.strange, found.unusual).ko

    def test_it_doubts_what_it_gets_wrong(self, shipped, unchecked):
        """Of unseen and odd texts: what is called sure is right, and of what is wrong four fifths are not called so."""
        examples = [*sentences(1, 300).test, *dates(1, 100).test]
        odd = odd_texts(examples[:300], shipped.vocabulary, 75, seed=1)
        odd = [one for one in odd if len(shipped.vocabulary.encode(one.text).ids) < shipped.longest[0]]
        targets = [*(example.target for example in examples), *(one.target for one in odd)]
        found = shipped.translate([*(example.source for example in examples), *(one.text for one in odd)])
        right = [t.text == target for t, target in zip(found, targets, strict=True)]
        assert np.mean([good for good, t in zip(right, found, strict=True) if t.sure]) >= 0.98
        assert np.mean([not t.sure for good, t in zip(right, found, strict=True) if not good]) >= 0.8
        assert np.mean([t.sure for good, t in zip(right, found, strict=True) if good]) >= 0.9

    def test_sentences_written_by_hand(self, shipped, unchecked):
        """Most are right, and it is sure of nearly all of these, but of hardly any wrong one; none is in any training.

        The first of them are plain; those that were written later are there because they may go wrong.
        """
        lines = read_list(HANDWRITTEN)
        found = shipped.translate([line.source for line in lines])
        judged = [Judged(line, answer) for line, answer in zip(lines, found, strict=True)]
        assert np.mean([one.right for one in judged[:PLAIN]]) >= 0.98
        assert np.mean([one.sure for one in judged[:PLAIN] if one.right]) >= 0.95
        assert np.mean([one.right for one in judged]) >= 0.9
        assert np.mean([one.right for one in judged if one.sure]) >= 0.98
        assert np.mean([one.sure for one in judged if one.right]) >= 0.94
        wrong = [one for one in judged if not one.right]
        assert len(wrong) >= 20  # of fewer, a share says little
        assert np.mean([not one.sure for one in wrong]) >= 0.8

    def test_sentences_that_nobody_looked_at_before(self, shipped, unchecked):
        """Written before anyone saw what the model says; see their file. Few are wrong, so few can be doubted."""
        judged = score(shipped, read_list(Path(__file__).with_name("blind.tsv")))
        assert np.mean([one.right for one in judged]) >= 0.9
        assert np.mean([one.right for one in judged if one.sure]) >= 0.98

    @pytest.mark.parametrize(("unseen", "goal"), [(dates, 0.98), (sentences, 0.98)], ids=["dates", "sentences"])
    def test_it_translates_what_it_has_never_seen_and_torch_says_the_same(self, shipped, unseen, goal, unchecked):
        """Four hundred texts, freely written, by the NumPy model and by the same weights on clearhead.torch."""
        examples = unseen(1, 400).test
        found = shipped.translate([example.source for example in examples])
        assert np.mean([t.text == example.target for t, example in zip(found, examples, strict=True)]) >= goal
        model = cht.Transformer.from_textbook(shipped.model)
        sources = [source_ids(example.source, shipped.vocabulary) for example in examples]
        assert write(model, sources, max_len=shipped.longest[1] + 10) == [t.target_ids for t in found]

    @pytest.mark.parametrize("unseen", [dates, sentences], ids=["dates", "sentences"])
    def test_attention_finds_the_content_words(self, shipped, unseen, unchecked):
        scores = alignment_scores(shipped, unseen(1, 80).test)
        (score,) = (score for score in scores if score.reader == shipped.reader)
        assert score.accuracy >= 0.95

    def test_later_words_change_nothing_before_them(self, shipped):
        model = cht.Transformer.from_textbook(shipped.model)
        (found,) = shipped.translate([CAT])
        source, given = torch.tensor([[*found.source_ids, END]]), torch.tensor([[1, *found.target_ids]])
        with torch.inference_mode():
            before = model(source, given)
            for position in range(1, given.shape[1]):
                changed = given.clone()
                changed[0, position:] = changed[0, position:].flip(0) + 1
                assert torch.equal(model(source, changed)[:, :position], before[:, :position])

    def test_it_answers_without_torch_and_all_the_rest(self):
        blocked = ("torch", "numba", "babel", "tokenizers", "sacrebleu", "transformers", "matplotlib", "rich")
        code = f"""
import sys
for name in {blocked}:
    sys.modules[name] = None
from clearhead.cli import main
sys.exit(main(["translate", "--plain", {CAT!r}]))
"""
        answer = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
        assert (answer.returncode, answer.stdout, answer.stderr) == (0, "The cat caught the mouse\n", "")


def test_what_is_printed_of_a_translator_and_its_answers_is_short(shipped):
    (translated,) = shipped.translate(["고양이가 쥐를 잡았다"])
    assert repr(translated) == "<Translated '고양이가 쥐를 잡았다' → 'The cat caught the mouse'>"
    assert repr(shipped.attention("고양이가 쥐를 잡았다")).startswith("<Attention encoder (")
    assert all(len(repr(x)) < 300 for x in (shipped, shipped.attention("고양이가 쥐를 잡았다")))
