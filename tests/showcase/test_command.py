"""`clearhead visualize` on a small translator whose weights were drawn: what is said must fit whatever they are."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import numpy as np
import pytest
from matplotlib.figure import Figure
from tests.page.test_writing import header

from clearhead.cli import main
from clearhead.languages import LANGUAGES, Said
from clearhead.showcase import command, gallery, pictures as showcase
from clearhead.showcase.captions import PATTERNS, Words
from clearhead.textbook.patterns import NAMES
from clearhead.textbook.transformer import Transformer
from clearhead.translate.alignment import Reader
from clearhead.translate.sentences import sentence_pieces
from clearhead.translate.translator import Translator
from clearhead.translate.vocabulary import SPECIAL, Vocabulary
from clearhead.translate.words import reader_name

PIECES = ["고양이", "##가", "쥐", "##를", "잡", "##았다", "The", "cat", "caught", "the", "mouse", "<&>"]
TEXT = "고양이가 쥐를 잡았다"
FILES = ["causal-attention", "cross-attention", "every-head", "heads", "lines", "self-attention"]


def translator(seed: int = 5) -> Translator:
    vocabulary = Vocabulary(PIECES)
    size = len(SPECIAL) + len(PIECES)
    model = Transformer(size, size, d_model=22, num_heads=2, num_layers=2, d_ff=29, seed=seed, dtype=np.float32)
    for name, array in model.parameters().items():
        array *= 3 if "W_" in name else 1  # decided heads, as training makes them
    return Translator(model, vocabulary, "sentences", (11, 3))


@pytest.fixture(autouse=True)
def short(monkeypatch):
    """Weights that were only drawn know no end; five pieces are enough to look at."""
    monkeypatch.setattr("clearhead.translate.translator.MARGIN", 2)


@pytest.fixture
def model(tmp_path):
    path = tmp_path / "model.safetensors"
    translator().save(path)
    return path


def visualize(*arguments: object) -> int:
    return main(["visualize", *map(str, arguments)])


def others(weights: np.ndarray) -> np.ndarray:
    """The weights of pairs of two different positions."""
    return weights[~np.eye(len(weights), dtype=bool)]


class Page(HTMLParser):
    """What a page refers to, its pictures, languages and words; unclosed tags are noticed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.addresses, self.pictures, self.open, self.words = [], [], [], {}
        self.language = [""]
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.addresses += [value for name, value in attributes if name in ("src", "href")]
        if tag == "img":
            self.pictures.append(given)
        if tag not in ("img", "meta"):
            self.open.append(tag)
            self.language.append(given.get("lang", self.language[-1]))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag
        self.language.pop()

    def handle_data(self, data):
        self.words[self.language[-1]] = self.words.get(self.language[-1], "") + data


@pytest.mark.parametrize(
    ("suffix", "kind", "language"), [("png", "png", "en"), ("svg", "svg+xml", "ko"), ("pdf", "png", "en")]
)
def test_figures_and_a_page_are_written_and_described(model, tmp_path, capsys, suffix, kind, language):
    out = tmp_path / "a folder" / "어텐션"
    assert visualize("--model", model, "--text", TEXT, "--out", out, "--format", suffix, "--language", language) == 0
    assert sorted(path.stem for path in out.glob(f"*.{suffix}")) == FILES
    assert len(list(out.iterdir())) == len(FILES) + 2

    said = capsys.readouterr().out
    lines = said.splitlines()
    assert lines[0].startswith(f"{TEXT} → ")
    assert lines[1].startswith("  it is not sure of this" if language == "en" else "  이 번역은 확실하지 않습니다")
    assert len(lines) == 2 + len(FILES) + 3
    assert all(line.startswith(str(out)) for line in lines[2:-1])
    assert lines[-1].endswith("clearhead visualize 쥐를 고양이가 잡았다")  # another one than this
    assert ("looked at most" in said) == (language == "en")
    assert ("가장 많이 본" in said) == (language == "ko")

    text = (out / "index.html").read_text(encoding="utf-8")
    page = Page(text)
    assert page.open == []
    assert len(page.pictures) == len(FILES)
    assert all(picture["src"].startswith(f"data:image/{kind};base64,") and picture["alt"] for picture in page.pictures)
    assert list(page.words) == ["", language]  # the first is the white space before the page
    assert ("looks at the sentence" in page.words[language]) == (language == "en")
    assert ("번역문이 원문을 봅니다" in page.words[language]) == (language == "ko")
    assert page.words[language].count(lines[1].strip()) == 2  # below the translation, and in its caption
    # Nothing comes from elsewhere.
    assert all(address.startswith(("data:", "#")) or address == "explore.html" for address in page.addresses)
    assert not re.search(r"https?:|//|@import|url\(|<script|<link", re.sub(r'src="data:[^"]*"', "", text))
    assert "prefers-color-scheme: dark" in text


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_is_said_is_what_the_weights_say_and_every_picture_is_tidy(tidy, language):
    subject = showcase.read(translator(), TEXT)
    drawn = {picture.name: picture for picture in showcase.pictures(subject, language)}
    for picture in drawn.values():
        tidy(picture.figure)
    for name, weights, pieces in (
        ("self-attention", subject.attention.encoder, subject.attention.source),
        ("causal-attention", subject.attention.decoder, subject.attention.given),
    ):
        # No number that stands in the picture beside the diagonal is larger than the one that is called strongest.
        words = drawn[name].words
        layer, head = map(int, re.findall(r"layer (\d+), head (\d+)", words.heading.en)[0])
        query, key, weight = re.findall(r"another piece the strongest is (\S+) → (\S+) \((.*)\)", words.shows.en)[0]
        written = {text.get_position(): text.get_text() for text in drawn[name].figure.axes[0].texts}
        assert max(value for (j, i), value in written.items() if i != j and value != "·") == weight
        at = [
            (pieces[i], pieces[j]) for i, j in np.argwhere(weights[layer, head] == others(weights[layer, head]).max())
        ]
        assert (query, key) in at
    assert "gets exactly 0;" in drawn["causal-attention"].words.shows.en
    pairs = re.findall(r"(\S+) → (\(.*?\)|\S+?)(?:,|;)", drawn["cross-attention"].words.shows.en)
    expected = [
        "(looked at no word of the source)" if 1 - row.sum() > row.max() else subject.source_words[int(row.argmax())]
        for row in subject.between_words
    ]
    assert [there for _, there in pairs] == [
        there for word, there in zip(subject.target_words, expected, strict=True) if word.isalnum()
    ]
    counted = sum(map(int, re.findall(r"\((\d+)\)", drawn["heads"].words.shows.en)))
    assert counted == subject.attention.encoder.shape[0] * subject.attention.encoder.shape[1]


def test_the_weights_are_those_of_the_model():
    made = translator()
    subject = showcase.read(made, TEXT)
    translated = made.translate([TEXT])[0]
    # The decoder, given what it wrote, looks where it looked when it wrote it.
    np.testing.assert_allclose(subject.attention.cross[:, :, : len(translated.target_ids)],
                               translated.cross_weights[:, :, : len(translated.target_ids)], atol=1e-5)  # fmt: skip
    assert subject.attention.source == ["고양이", "가", "쥐", "를", "잡", "았다", "<end>"]
    assert subject.attention.given[0] == "<begin>"
    assert subject.source_words == TEXT.split()
    for weights in (subject.attention.encoder, subject.attention.decoder, subject.attention.cross):
        np.testing.assert_allclose(weights.sum(axis=-1), 1, atol=1e-5)


def test_signs_of_html_in_a_text_are_text():
    words = Words(Said("<&>: a", "<&>: b"), Said("a <&>", "b"), Said("c", "d"))
    picture = showcase.Picture("heads", Figure(), words)
    translated = translator().translate([TEXT])[0]._replace(source="<&> 쥐를", text="</p>")
    page = gallery.page([picture], {"heads": b"picture"}, translated, language="ko", file_type="png")
    assert "&lt;&amp;&gt; 쥐를" in page
    assert "&lt;/p&gt;" in page
    assert "<&>" not in page
    assert Page(page).open == []


def test_the_telling_head_looks_elsewhere():
    weights = np.zeros((2, 3, 5, 5))
    weights[0] = np.eye(5)
    weights[1] = np.eye(5)[0]
    weights[1, 2] = np.eye(5)[[0, 0, 1, 2, 3]]
    assert showcase.telling_head(weights) == (1, 2)
    assert showcase.strongest(weights[1, 2], ["<begin>", "가", "나", "다", "<end>"]) == ("가", "<begin>", 1.0)
    weights[1, 2, 4, 3] = 1.25
    assert showcase.strongest(weights[1, 2], ["<begin>", "가", "나", "다", "<end>"]) == ("<end>", "다", 1.25)


@pytest.mark.parametrize(
    ("reader", "names"),
    [
        ((None, None), ("mean of all heads", "모든 헤드의 평균")),
        ((1, None), ("layer 1, mean of its heads", "층 1, 헤드 평균")),
        ((1, 3), ("layer 1, head 3", "층 1, 헤드 3")),
    ],
    ids=["all", "layer", "head"],
)
def test_heads_are_named_in_both_languages_as_translate_names_them(reader, names):
    assert reader_name(Reader(*reader)) == Said(*names)
    assert str(Reader(*reader)) == names[0]


def test_the_sentence_of_the_command_is_one_the_translator_learns():
    vocabulary = Vocabulary(sentence_pieces())
    assert vocabulary.decode(vocabulary.encode(command.SENTENCE).ids) == command.SENTENCE


def test_every_pattern_has_a_name_in_both_languages():
    assert set(PATTERNS) == {*NAMES, "mixed", "none"}


def test_a_translator_that_writes_nothing():
    made = translator()
    made.model.b_out[2] = 1e4  # the end, at once
    with pytest.raises(ValueError, match="writes nothing for '고양이가 쥐를 잡았다', so nothing can be seen"):
        showcase.read(made, TEXT)


@pytest.mark.parametrize(("text", "words"), [("강아지가", "강아지가"), ("", "empty")], ids=["unknown", "empty"])
@pytest.mark.parametrize("option", [(), ("--text",)], ids=["TEXT", "--text"])
def test_a_text_that_cannot_be_read_leaves_nothing_behind(model, tmp_path, capsys, text, words, option):
    assert visualize("--model", model, "--out", tmp_path / "out", *option, text) == 1
    assert words in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["고양이가", "--text", "쥐를"], "TEXT and --text both say what to look at; leave out one of the two"),
        (["고양이가 쥐를", "쥐가 고양이를"], "one sentence is looked at, got 2; ask for one at a time"),
        (["고양이가 쥐를", "잡았다"], "'잡았다' stands beside a text in quotes: put quotes around each whole text"),
    ],
    ids=["twice", "two", "half quoted"],
)
def test_there_is_one_text_to_look_at(capsys, arguments, message):
    assert visualize(*arguments) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [TEXT.split(), [TEXT], ["--text", TEXT]], ids=["words", "quoted", "option"])
def test_a_text_is_given_as_to_translate(model, tmp_path, capsys, monkeypatch, arguments):
    monkeypatch.setattr(showcase, "pictures", lambda subject, language: [])
    assert visualize(*arguments, "--model", model, "--out", tmp_path / "out") == 0
    assert capsys.readouterr().out.startswith(f"{TEXT} → ")


@pytest.mark.parametrize(("text", "other"), [(TEXT, "쥐를 고양이가 잡았다"), ("쥐를  고양이가 잡았다", TEXT)])
def test_another_sentence_is_another(model, tmp_path, capsys, monkeypatch, text, other):
    monkeypatch.setattr(showcase, "pictures", lambda subject, language: [])
    assert visualize(text, "--model", model, "--out", tmp_path / "out") == 0
    assert capsys.readouterr().out.splitlines()[-1] == f"another sentence: clearhead visualize {other}"


def test_a_word_that_looks_at_no_word_is_said_to():
    subject = showcase.read(translator(), TEXT)
    nowhere = subject._replace(between_words=np.full_like(subject.between_words, 0.1))
    shows = showcase._cross_attention(nowhere).words.shows
    assert "→ (looked at no word of the source)" in shows.en
    assert "→ (원문의 단어를 보지 않음)" in shows.ko


def test_a_file_where_the_folder_should_be(model, tmp_path, capsys):
    (tmp_path / "out").write_text("mine")
    assert visualize("--model", model, "--text", TEXT, "--out", tmp_path / "out") == 1
    assert f"--out {tmp_path / 'out'} is a file; name a folder" in capsys.readouterr().err
    assert (tmp_path / "out").read_text() == "mine"


def test_a_model_that_is_not_there(tmp_path, capsys):
    assert visualize("--model", tmp_path / "none.safetensors", "--out", tmp_path / "out") == 1
    assert "none.safetensors; expected a trained translator" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_it_ends_in_a_page_of_every_weight(model, tmp_path):
    out = tmp_path / "out"
    assert visualize("--model", model, "--text", TEXT, "--out", out, "--language", "ko") == 0
    path = out / "explore.html"
    assert path.stat().st_size < 1e6
    found = header(path)
    attention = translator().attention(TEXT)
    assert found["title"] == f"{TEXT} → {attention.translated.text}"
    assert [(x["name"], x["stack"], x["prompt"]) for x in found["layers"]] == [
        ("인코더 0", "encoder", None), ("인코더 1", "encoder", None), ("디코더 0", "decoder", 1),
        ("디코더 1", "decoder", 1), ("크로스 0", "cross", 0), ("크로스 1", "cross", 0),
    ]  # fmt: skip
    assert all(x["exact"] for x in found["layers"])
    rows, columns = attention.cross.shape[-2:]
    assert (found["layers"][4]["n_q"], found["layers"][4]["n_k"]) == (rows, columns)


def test_a_browser_is_opened_for_somebody_at_a_terminal_with_a_screen(model, tmp_path, monkeypatch, capsys):
    opened = []
    monkeypatch.setattr("webbrowser.open", lambda address: opened.append(address) or True)
    monkeypatch.setenv("DISPLAY", ":0")
    arguments = ("--model", model, "--text", TEXT, "--out", tmp_path / "out", "--language", "en")
    visualize(*arguments)
    assert opened == []
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    visualize(*arguments, "--no-browser")
    assert opened == []
    visualize(*arguments)
    assert opened == [(tmp_path / "out" / "explore.html").resolve().as_uri()]
    assert "it is open in the browser" in capsys.readouterr().out


def test_a_model_of_transformers_has_its_page(tmp_path, capsys):
    tokenizers = pytest.importorskip("tokenizers")
    import transformers

    words = {word: i for i, word in enumerate(["[UNK]", "a", "cat", "sat", "here"])}
    core = tokenizers.Tokenizer(tokenizers.models.WordLevel(words, unk_token="[UNK]"))
    core.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    transformers.PreTrainedTokenizerFast(tokenizer_object=core, unk_token="[UNK]").save_pretrained(tmp_path / "m")
    config = transformers.GPT2Config(vocab_size=5, n_embd=8, n_layer=2, n_head=2, n_positions=16)
    transformers.GPT2LMHeadModel(config).save_pretrained(tmp_path / "m")
    out = tmp_path / "out"
    assert visualize("--model", tmp_path / "m", "--text", "a cat sat here", "--out", out, "--language", "en") == 0
    assert capsys.readouterr().out == f"{out / 'explore.html'}: 2 layers, 4 heads\n"
    found = header(out / "explore.html")
    assert (found["title"], [x["n_q"] for x in found["layers"]]) == ("m: a cat sat here", [4, 4])
    assert [path.name for path in out.iterdir()] == ["explore.html"]
