from __future__ import annotations

import dataclasses
import io
import re
import shlex
import signal

import numpy as np
import pytest
from matplotlib.figure import Figure
from PIL import Image
from rich.console import Console

from clearhead.cli import main
from clearhead.translate import film, recipes, report, session
from clearhead.translate.alignment import MEAN, Reader
from clearhead.translate.examples import Example, Link, Task
from clearhead.translate.progress import Bar
from clearhead.translate.report import percent
from clearhead.translate.training import Moment
from clearhead.translate.translator import Translator
from clearhead.translate.vocabulary import Vocabulary

from ..english import english_in
from . import toys

SHORT = dataclasses.replace(toys.SETTINGS, steps=12, look_every=5, held_out=7)


@pytest.fixture
def model(tmp_path):
    path = tmp_path / "toy.safetensors"
    toys.translator().save(path)
    return str(path)


@pytest.fixture
def toy_task(monkeypatch):
    """`--task dates` is the small language, trained for a few steps."""
    small = recipes.Recipe(toys.SHAPE, SHORT, recipes.Goals(0.5, 0.5, 600))
    for name in ("dates", "sentences", "pairs"):
        monkeypatch.setitem(recipes.RECIPES, name, small)

    def make_tasks(name):
        task = toys.task()
        return [dataclasses.replace(task, name=name, train=task.train[:160], test=task.test[:23])]

    monkeypatch.setattr(report, "SENTENCES_TO_CHOOSE_BY", 7)
    monkeypatch.setattr(session, "make_tasks", make_tasks)


@pytest.fixture
def pairs(tmp_path):
    path = tmp_path / "pairs.tsv"
    lines = [f"{example.source}\t{example.target}\tCC-BY" for example in toys.task().train[:160]]
    path.write_text("\n".join([*lines, "no tab here", ""]), encoding="utf-8")
    return path


def answer(capsys, *arguments):
    status = main(["translate", *map(str, arguments)])
    return status, *capsys.readouterr()


class TestTranslating:
    def test_the_model_that_comes_along(self, capsys):
        status, out, err = answer(capsys, "고양이가 쥐를 잡았다", "2028년 12월 7일 목요일")
        assert (status, err) == (0, "")
        cat, its_words, date, its_fields = out.splitlines()
        assert cat == "The cat caught the mouse"
        assert date == "Thursday, December 7, 2028"
        for words in ("cat ← 고양이가", "caught ← 잡았다", "mouse ← 쥐를"):
            assert words in its_words
        for words in ("Thursday ← 목요일", "December ← 12월", "7 ← 7일", "2028 ← 2028년"):
            assert words in its_fields

    def test_plain(self, capsys, model):
        assert answer(capsys, "ba ce", "di gu", "fo ba", "--model", model, "--plain") == (
            0,
            "이 일\n오 삼\n일 사\n",
            "",
        )

    @pytest.mark.parametrize(
        ("arguments", "answers"),
        [
            (["ba", "ce"], ["이 일"]),
            (["ba ce"], ["이 일"]),
            (["--", "ba", "ce"], ["이 일"]),
            (["ba ce", "di gu"], ["이 일", "오 삼"]),
            (["ba ce", "di gu", "fo ha"], ["이 일", "오 삼", "육 사"]),
        ],
        ids=" | ".join,
    )
    def test_words_without_quotes_are_one_sentence(self, capsys, model, arguments, answers):
        assert answer(capsys, "--model", model, "--plain", *arguments) == (0, "\n".join([*answers, ""]), "")

    def test_a_word_beside_texts_in_quotes_is_a_date_or_ends_as_a_sentence(self, capsys):
        status, out, _ = answer(capsys, "고양이가 쥐를 잡았다", "20240305", "비싸요.", "--plain")
        assert (status, out.splitlines()) == (0, ["The cat caught the mouse", "March 5, 2024", "It is expensive."])

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("I drink water", "'I', character 1, is not translated: this model translates Korean sentences and"),
            ("2023년 2월 29일", "there is no such day: 2023년 2월 29일; February 2023 has 28 days"),
            ("오후 25시", "there is no such time of day: 오후 25시"),
        ],
    )
    def test_what_is_no_sentence_and_no_date(self, capsys, text, message):
        status, out, err = answer(capsys, text)
        assert (status, out) == (1, "")
        assert message in err

    def test_a_word_that_is_made_of_others_is_named(self, capsys):
        _, out, _ = answer(capsys, "물개를 보았다")
        assert out.splitlines()[-1] == "  it is not sure of this: it does not know 물개를"
        assert answer(capsys, "물개를 보았다", "--plain")[2].endswith("it does not know 물개를\n")
        assert answer(capsys, "물개를 보았다", "--plain", "--language", "ko")[2].endswith(
            "모르는 단어가 있습니다: 물개를\n"
        )

    def test_standard_input_has_a_text_a_line(self, capsys, model, monkeypatch):
        monkeypatch.setattr("sys.stdin", io.StringIO("ba ce\n\n  di gu\nfo ha\n"))
        assert answer(capsys, "-", "--model", model, "--plain") == (0, "이 일\n오 삼\n육 사\n", "")
        monkeypatch.setattr("sys.stdin", io.StringIO(" \n"))
        status, out, err = answer(capsys, "-", "--model", model)
        assert (status, out) == (1, "")
        assert err == "clearhead translate: nothing to translate: there is no text on standard input\n"

    def test_one_bad_text_among_ten_does_not_lose_the_others(self, capsys, model):
        texts = ["ba ce", "di gu", "fo ba", "ba zu", "ce ba", "gu di", " ", "ba fo", "ba ba", "ce ce"]
        expected = ["이 일", "오 삼", "일 사", "", "일 이", "삼 오", "", "사 일", "일 일", "이 이"]
        status, out, err = answer(capsys, *texts, "--model", model, "--plain")
        assert status == 1
        assert out.splitlines() == expected  # each in its own line, also beside one that is missing
        unknown, empty = (line for line in err.splitlines() if "not sure" not in line)  # as a toy may be of any
        assert unknown.startswith("clearhead translate: ba zu: the word 'zu', characters 4 to 5, is not in the")
        assert (
            empty
            == "clearhead translate:  : there is nothing to translate: the text is empty; give a sentence or a date"
        )
        out = answer(capsys, *texts, "--model", model)[1]
        assert [line for line in out.splitlines() if not line.startswith(" ")] == [text for text in expected if text]

    def test_a_figure_of_every_head(self, capsys, model, tmp_path, monkeypatch):
        drawn = []
        monkeypatch.setattr(film, "heads", lambda t, save: drawn.append((t.text, save.name)))
        assert answer(capsys, "ba ce", "--model", model, "--figure", tmp_path / "x.svg")[0] == 0
        assert drawn == [("이 일", "x.svg")]

    def test_a_figure_of_one(self, capsys, model, tmp_path):
        path = tmp_path / "x.png"
        status, out, _ = answer(capsys, "ba ce", "--model", model, "--figure", path, "--layer", 0, "--head", 1)
        assert status == 0
        assert out.endswith(f"written: {path}\n")
        with Image.open(path) as picture:
            assert picture.width > 300

    @pytest.mark.parametrize(
        ("texts", "message"),
        [
            (["ba zu"], "the word 'zu', characters 4 to 5, is not in the vocabulary"),
            ([""], "there is nothing to translate: the text is empty"),
            (["가나 " * 3334], "a text of 10,002 characters is too long"),
            (["ba " * 5], "a text of 5 pieces is too long: the longest sentence this model has learned has 4"),
            (["ba", "zu"], "the word 'zu', characters 4 to 5"),
        ],
        ids=["unknown word", "empty", "10,000 characters", "too long", "unquoted"],
    )
    def test_texts_it_cannot_translate(self, capsys, model, texts, message):
        status, out, err = answer(capsys, *texts, "--model", model)
        assert (status, out) == (1, "")
        assert err.startswith("clearhead translate: ")
        assert message in err
        assert err.count("\n") == 1
        assert len(err) < 400

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            ([], "nothing to do: give a text"),
            (["ba", "--head", "1"], "--head 1 needs --layer"),
            (["ba", "--resume"], "--resume cannot be used with translating; it goes with --train"),
            (["ba", "--pairs", "x.tsv"], "--pairs cannot be used with translating; it goes with --train"),
            (["ba", "--train"], "TEXT cannot be used with --train"),
            (["--train", "--layer", "0"], "--layer cannot be used with --train"),
            (["--train", "--swap"], "--swap goes with --pairs"),
            (["--train", "--pairs", "x.tsv", "--task", "dates"], "--task cannot be used with --pairs"),
            (["ba ba", "ce ce", "--figure", "x.png"], "--figure draws one text, got 2"),
            (["ba ba", "ce"], "'ce' stands beside a text in quotes: put quotes around each whole text, or around none"),
            (["--train", "--film", "x.gif"], "--film cannot be used with --train alone, which draws everything"),
            (["--train", "--steps", "0"], "expected a whole number of at least 1, got '0'"),
            (["--train", "--seed", "-1"], "expected"),
            (["--train", "--task", "poems"], "invalid choice: 'poems'"),
        ],
        ids=lambda value: " ".join(value) if isinstance(value, list) else "",
    )
    def test_options_that_do_not_go_together(self, capsys, arguments, message):
        status, out, err = answer(capsys, *arguments)
        assert (status, out) == (2, "")
        assert message in err

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (["--layer", "1"], r"--layer must be in [0, 0] for a decoder of 1 layers, got 1"),
            (["--layer", "0", "--head", "2"], r"--head must be in [0, 1] for a decoder of 2 heads, got 2"),
            (["--figure", "x.bmp"], "save must end in .png, .svg or .pdf"),
            (["--figure", "/nowhere/x.png"], "does not exist; make it first"),
            (["--task", "sentences"], "was trained on backwards, not on sentences"),
        ],
        ids=lambda value: " ".join(value) if isinstance(value, list) else "",
    )
    def test_what_the_model_or_the_disk_does_not_have(self, capsys, model, arguments, message):
        status, out, err = answer(capsys, "ba", "--model", model, *arguments)
        assert (status, out) == (1, "")
        assert message in err

    def test_a_file_that_is_no_model(self, capsys, tmp_path):
        path = tmp_path / "x.safetensors"
        path.write_bytes(b"\x00\x01")
        assert answer(capsys, "ba", "--model", path)[0] == 1
        assert answer(capsys, "ba", "--model", tmp_path / "y")[2].startswith("clearhead translate: there is no file")

    def test_it_says_when_it_is_not_sure(self, capsys, tmp_path):
        path = tmp_path / "untrained.safetensors"
        blank = toys.SHAPE.build(len(toys.vocabulary()), 0).to_textbook()
        Translator(blank, toys.vocabulary(), "backwards", (5, 4)).save(path)
        said = "it is not sure of this: it has learned no sentence like it\n"
        status, out, err = answer(capsys, "ba ce", "--model", path)
        assert (status, err) == (0, "")
        assert out.endswith(f"\n  {said}")
        status, out, err = answer(capsys, "ba ce", "--model", path, "--plain")
        assert (status, err) == (0, f"clearhead translate: {said}")
        assert "sure" not in out
        err = answer(capsys, "ba ce", "di gu", "--model", path, "--plain")[2]
        assert err == f"clearhead translate: ba ce: {said}clearhead translate: di gu: {said}"


@pytest.mark.usefixtures("toy_task")
class TestTraining:
    def test_from_nothing_to_a_translator(self, capsys, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        status, out, err = answer(capsys, "--train", "--task", "dates", "--film", "film.gif", "--figure", "heads.png")
        assert status == 0
        assert "step 5 of 12: loss" in err
        assert "held out" in err
        assert "trained dates: " in out
        assert "of 23 unseen texts translated to the letter, written freely" in out
        assert "content words look at the right source word, alignment error rate" in out
        assert "goals: exact match ≥ 50.0 % " in out
        assert "written: dates.safetensors" in out
        tried = shlex.split(out.splitlines()[-1].removeprefix("try it: "))
        assert (tried[:2], tried[3:]) == (["clearhead", "translate"], ["--model", "dates.safetensors"])
        assert answer(capsys, *tried[2:])[0] == 0
        assert sorted(path.name for path in tmp_path.iterdir()) == ["dates.safetensors", "film.gif", "heads.png"]
        with Image.open("film.gif") as moving:
            assert moving.n_frames == 3  # steps 0, 10 and 12
        assert answer(capsys, "ba ce", "--model", "dates.safetensors", "--task", "dates")[0] == 0

    def test_korean_leaves_no_english(self, capsys, tmp_path, monkeypatch, pairs):
        monkeypatch.chdir(tmp_path)
        monkeypatch.setenv("CLEARHEAD_LANG", "ko")
        titles = []
        drawn = film.visualize_attention
        monkeypatch.setattr(film, "visualize_attention", lambda *a, **k: titles.append(k) or drawn(*a, **k))
        said = ""
        order = ("--train", "--task", "dates", "--film", "film.gif", "--figure", "heads.png")
        for arguments in (order, order, ("--train", "--pairs", pairs, "--out", "mine.safetensors")):
            said += "".join(answer(capsys, *arguments)[1:])
        figures = [text for given in titles for text in (given["title"], *given.get("head_names", ()))]
        for text in (said, "\n".join(figures)):
            assert re.search("[가-힣]", text)
            assert set(english_in(text)) - {"BLEU", "chrF", *toys.WORDS} == set()

    def test_ctrl_c_saves_and_resume_ends_as_if_nothing_had_happened(self, capsys, tmp_path, monkeypatch):
        whole, parts = tmp_path / "whole.safetensors", tmp_path / "parts.safetensors"
        order = ("--train", "--task", "dates", "--out")
        assert answer(capsys, *order, whole)[0] == 0
        stepped = session.Bar.stepped

        def press(self, trainer, loss):
            stepped(self, trainer, loss)
            if trainer.step == 8:
                signal.raise_signal(signal.SIGINT)

        with monkeypatch.context() as pressed:
            pressed.setattr(session.Bar, "stepped", press)
            status, out, err = answer(capsys, *order, parts)
        assert (status, out) == (130, "")
        checkpoint = tmp_path / "parts.checkpoint.safetensors"
        assert f"stopped at step 8, saved in {checkpoint}; the same command with --resume continues it" in err
        assert not parts.exists()
        status, _, err = answer(capsys, *order, parts)
        assert status == 1
        assert "holds a training that was not finished; --resume continues it, --overwrite begins anew" in err
        assert answer(capsys, *order, parts, "--resume")[0] == 0
        assert parts.read_bytes() == whole.read_bytes()
        assert not checkpoint.exists()

    def test_both_tasks_into_a_folder(self, capsys, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        status, out, _ = answer(capsys, "--train")
        assert status == 0
        assert out.index("trained dates") < out.index("trained sentences")
        names = ["heads.png", "learning.gif", "learning.png"]
        expected = {f"{task}-{name}" for task in ("dates", "sentences") for name in names}
        expected |= {"dates.safetensors", "sentences.safetensors"}
        assert {path.name for path in (tmp_path / "translator").iterdir()} == expected
        assert answer(capsys, "--train")[0] == 1
        (tmp_path / "translator" / "sentences.safetensors").unlink()
        status, out, _ = answer(capsys, "--train", "--resume")
        assert status == 0
        assert out.startswith("dates: finished before, in translator/dates.safetensors\ntrained sentences")

    def test_a_file_where_a_folder_is_needed(self, capsys, tmp_path):
        (tmp_path / "x").write_text("precious")
        status, _, err = answer(capsys, "--train", "--out", tmp_path / "x")
        assert status == 1
        assert "is a file; without --task it names a folder, for several files" in err

    def test_a_training_of_another_task_is_not_continued(self, capsys, tmp_path, monkeypatch):
        out = tmp_path / "x.safetensors"
        checkpoint = tmp_path / "x.checkpoint.safetensors"
        session.prepared(session.Order("dates", out), session.make_tasks("dates")).save(checkpoint)
        content = checkpoint.read_bytes()
        status, _, err = answer(capsys, "--train", "--task", "sentences", "--out", out, "--resume")
        assert status == 1
        assert "holds a training with another task" in err
        assert "it is dates there and sentences here" in err
        assert checkpoint.read_bytes() == content
        assert not out.exists()

    def test_nothing_is_overwritten_unasked(self, capsys, tmp_path):
        out = tmp_path / "x.safetensors"
        out.write_text("precious")
        status, _, err = answer(capsys, "--train", "--task", "dates", "--out", out)
        assert status == 1
        assert f"{out} exists; --overwrite replaces it" in err
        assert out.read_text() == "precious"
        assert answer(capsys, "--train", "--task", "dates", "--out", out, "--overwrite", "--half")[0] == 0
        assert Translator.load(out).task == "dates"

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (["--resume"], "there is no file"),
            (["--out", "/nowhere/x.safetensors"], "the folder /nowhere does not exist; make it first"),
            (["--film", "x.bmp"], "save must end in .png, .svg or .pdf, got"),
            (["--film", "/nowhere/x.gif"], "does not exist; make it first"),
            (["--figure", "x.gif"], "save must end in .png, .svg or .pdf"),
        ],
        ids=lambda value: " ".join(value) if isinstance(value, list) else "",
    )
    def test_mistakes_are_found_before_anything_is_trained(self, capsys, tmp_path, monkeypatch, arguments, message):
        monkeypatch.chdir(tmp_path)
        status, out, err = answer(capsys, "--train", "--task", "dates", *arguments)
        assert (status, out) == (1, "")
        assert message in err
        assert not list(tmp_path.iterdir())

    def test_pairs_of_your_own(self, capsys, tmp_path, pairs):
        out = tmp_path / "mine.safetensors"
        status, printed, err = answer(capsys, "--train", "--pairs", pairs, "--out", out)
        assert status == 0
        assert "line 161: there is no tab, so there is only one text; skipped" in err
        assert "held-out pairs: BLEU " in printed
        assert "training pairs: BLEU " in printed
        assert Translator.load(out).vocabulary.unknown("ba ce 일 이") == []

    def test_pairs_the_other_way_round(self, capsys, tmp_path, pairs):
        out = tmp_path / "mine.safetensors"
        assert answer(capsys, "--train", "--pairs", pairs, "--swap", "--out", out)[0] == 0
        assert Translator.load(out).task == "pairs"

    @pytest.mark.parametrize(
        ("content", "message"),
        [
            (b"\x7fELF\x00\x00\x01", "is not a text file: byte 4 is zero"),
            (b"a\tb\n\xff\xfe\n", "is not UTF-8"),
            (b"", "is empty"),
            (b"only one\n", "has no pairs"),
            (b"ba ce\tx y\n", "share a text"),
        ],
        ids=["binary", "not UTF-8", "empty", "no tab", "one pair"],
    )
    def test_pairs_that_are_none(self, capsys, tmp_path, content, message):
        path, out = tmp_path / "pairs.tsv", tmp_path / "x.safetensors"
        path.write_bytes(content)
        status, _, err = answer(capsys, "--train", "--pairs", path, "--out", out)
        assert status == 1
        assert message in err
        assert sorted(tmp_path.iterdir()) == [path]


class TestProgress:
    @pytest.mark.parametrize("terminal", [True, False], ids=["terminal", "file"])
    def test_loss_exact_match_and_time_left(self, terminal):
        shown = io.StringIO()
        learner = toys.trainer(settings=SHORT)
        learner.step, learner.seconds = 5, 10.0
        with Bar(learner, Console(file=shown, force_terminal=terminal, width=150)) as bar:
            bar.stepped(learner, 1.2345)
            bar.looked(learner, Moment(5, 1.5, 0.25, 0.5))
        text = shown.getvalue()
        assert ("\x1b" in text) is terminal
        if terminal:
            for part in ("training on backwards", "5/12", "loss 1.234", "held out 25.0 %", "left"):
                assert part in text
        else:
            assert text == "step 5 of 12: loss 1.500, held out 25.0 % exact, 10 s, at most 14 s left\n"

    @pytest.mark.parametrize(("share", "text"), [(1.0, "100 %"), (0.9999, "99.9 %"), (0.5, "50.0 %"), (0.0, "0.0 %")])
    def test_only_what_is_whole_is_100_percent(self, share, text):
        assert percent(share) == text


class TestPictures:
    def test_a_picture_for_every_head_and_mean(self):
        (found,) = toys.translator().translate(["ba ce di"])
        figure = film.heads(found)
        assert isinstance(figure, Figure)
        titles = [axes.get_title() for axes in figure.axes if axes.get_title()]
        assert titles == ["layer 0, head 0", "layer 0, head 1", "layer 0, mean of its heads", "mean of all heads"]
        maps = [np.asarray(axes.images[0].get_array()) for axes in figure.axes if axes.images]
        np.testing.assert_allclose(maps[1], found.cross_weights[0, 1], rtol=1e-6)
        np.testing.assert_allclose(maps[-1], found.cross_weights.mean(axis=(0, 1)), rtol=1e-6)
        assert [label.get_text() for label in figure.axes[0].get_yticklabels()] == ["삼", "이", "일", "<end>"]

    def test_one_head(self):
        (found,) = toys.translator().translate(["ba ce di"])
        (shown,) = (axes for axes in film.one(found, Reader(0, 1)).axes if axes.images)
        np.testing.assert_allclose(np.asarray(shown.images[0].get_array()), found.cross_weights[0, 1], rtol=1e-6)

    def test_a_strip_names_steps_and_what_was_reached(self, tmp_path, monkeypatch):
        learner = toys.trained()
        example = toys.task().test[0]
        watched = toys.translator().forced(example.source, example.target)
        figures = []
        original = film.visualize_attention
        monkeypatch.setattr(
            film, "visualize_attention", lambda *a, **k: figures.append(original(*a, **k)) or figures[-1]
        )
        looks = {moment.step: moment.exact for moment in learner.moments}
        film.strip(watched, learner.film, looks, MEAN, save=tmp_path / "film.png")
        titles = [axes.get_title() for axes in figures[0].axes if axes.get_title()]
        assert titles[0] == "step 0"
        assert titles[-1].startswith("step 240 · ")
        assert titles[-1].endswith(" % right")
        assert (tmp_path / "film.png").stat().st_size > 10_000

    def test_the_film_keeps_its_first_and_its_last_pictures(self):
        assert film.chosen([0, 10, 20]) == [0, 10, 20]
        assert film.chosen(list(range(11))) == [0, 6, 7, 8, 9, 10]


def test_what_is_filmed_has_much_to_align_and_few_signs():
    link = Link((0, 1), (0, 1))
    few, signs, chosen, long = (
        Example(source, "x", (link,) * count)
        for source, count in (("a b", 2), ("a, b/c.", 6), ("a b c d", 5), ("a b c d e f", 7))
    )
    assert session.filmed_example([Task("dates", [], [few, signs, long, chosen], [])]) is chosen


def test_the_vocabulary_of_many_characters(tmp_path):
    """More characters than the usual vocabulary has room for: it grows instead of failing."""
    path = tmp_path / "many.tsv"
    lines = [f"{chr(0xAC00 + 2 * i)}{chr(0xAC01 + 2 * i)}\tx{i}" for i in range(2300)]
    path.write_text("\n".join(lines), encoding="utf-8")
    task = session.pairs_task(session.Order("pairs", tmp_path / "x.safetensors", pairs=path))
    vocabulary = Vocabulary(task.pieces)
    assert len(vocabulary) > session.PAIRS_VOCABULARY
    assert not any(vocabulary.unknown(example.source) for example in task.train)
