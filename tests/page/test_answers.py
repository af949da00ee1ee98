"""Questions of a page: what they are answered, and which are refused."""

from __future__ import annotations

import json
import struct

import numpy as np
import pytest
from tests.page.conftest import WORDS, seen

from clearhead.page import Patches, Shown, answers as room
from clearhead.page.answers import Answers, NotAnsweredError, Question, asked
from clearhead.page.content import gathered
from clearhead.page.packing import HIDDEN


def unframed(body: bytes) -> tuple[dict, dict[str, np.ndarray]]:
    """What an answer says, and its arrays by name."""
    (length,) = struct.unpack_from("<I", body)
    told = json.loads(body[4 : 4 + length])
    arrays, at = {}, 4 + length
    for name, kind, shape in told["arrays"]:
        count = int(np.prod(shape))
        arrays[name] = np.frombuffer(body, f"<{kind}", count, at).reshape(shape)
        at += arrays[name].nbytes
    assert at == len(body)
    return told, arrays


@pytest.fixture(scope="module")
def views():
    labels = [f"{WORDS[i % 13]}{i}" for i in range(5003)]
    return seen(13, 3, tokens=WORDS), seen(5003, 2, tokens=labels, map_size=256)


@pytest.fixture(scope="module")
def answers(views):
    image = Patches(np.arange(4 * 6 * 3, dtype=np.uint8).reshape(4, 6, 3), 2, 3)
    layers = [Shown("short", views[0], image=image), ("long", views[1])]
    return Answers(gathered(layers, title="two"), "server")


def get(answers: Answers, text: str):
    return unframed(answers.reply(asked(text)).body)


def test_the_header_and_the_labels_in_parts(answers, views):
    header = json.loads(answers.reply(asked("trace")).body)
    assert (header["title"], header["dress"], header["tables"]) == ("two", "server", [13, 5003])
    short, long = header["layers"]
    assert (short["exact"], short["levels"], short["image"]) == (True, 0, 0)
    assert (long["exact"], long["levels"], long["by_q"]) == (False, 6, 16)
    parts = [json.loads(answers.reply(asked(f"tokens/1/{i}")).body) for i in range(2)]
    assert [len(part) for part in parts] == [4096, 907]
    assert parts[0] + parts[1] == views[1].tokens.queries
    assert get(answers, "image/0")[1]["pixels"].shape == (4, 6, 3)
    assert get(answers, "stamps/1")[1]["stamps"].shape[0] == 2


def test_a_head_opens_with_what_a_file_has_of_it(answers, views):
    _, exact = get(answers, "head/0/2/stats")
    np.testing.assert_array_equal(exact["weights"], np.where(np.tri(13) > 0, views[0].weights(2), HIDDEN))
    _, long = get(answers, "head/1/1/stats")
    assert long["cells"].shape == (313, 313)
    np.testing.assert_array_equal(long["top_indices"][4000], views[1].top_k.indices[1, 4000])
    np.testing.assert_array_equal(long["top_weights"], views[1].top_k.weights[1])
    assert len(long["entropy"]) == len(long["received"]) == 313


def test_tiles_in_every_type(answers, views):
    weights = views[1].weights(1, slice(4864, 5003), slice(256, 512))
    for kind, tolerance in [("f4", 0.0), ("f2", 5e-4), ("u1", 0.03)]:
        told, arrays = get(answers, f"head/1/1/tile/0/19/1?kind={kind}")
        if kind == "u1":
            steps = np.log(told["high"] / told["low"]) / 252
            found = told["low"] * np.exp((arrays["cells"].astype(float) - 2) * steps)
            found = np.where(arrays["cells"] == 1, 0, found)
        else:
            found = arrays["weights"]
        kept = weights > weights.max() / 1e5
        step = 2.0**-25 if kind == "f2" else 0  # half of float16's smallest step
        np.testing.assert_allclose(found[kept], weights[kept], rtol=tolerance, atol=step)
    assert get(answers, "head/1/0/tile/4/0/0?reduce=max&kind=f4")[1]["weights"].max() > 0
    np.testing.assert_array_equal(get(answers, "head/1/0/row/5000")[1]["weights"][:5001], views[1].row(5000, 0)[:5001])
    column = get(answers, "head/1/0/column/3")[1]["weights"]
    np.testing.assert_array_equal(column[3:], views[1].weights(0, cols=3)[3:])
    assert (column[:3] == HIDDEN).all()


@pytest.mark.parametrize(
    ("text", "status", "why"),
    [
        ("", 404, "there is nothing at ''"),
        ("trace/", 404, "nothing"),
        ("trace?x=1", 400, "trace has no option 'x'"),
        ("../etc/passwd", 404, "nothing"),
        ("head/0/0/tile/0/0/٣", 404, "nothing"),
        ("head/0/0/tile/0/0/-1", 404, "nothing"),
        ("head/0/0/tile/0/0/9999999999", 404, "nothing"),
        ("head/2/0/stats", 404, "there is no layer 2; there are 2"),
        ("head/0/3/stats", 404, "there is no head 3; there are 3"),
        ("head/0/0/row/13", 404, "there is no query 13; there are 13"),
        ("head/0/0/column/13", 404, "there is no key 13"),
        ("head/0/0/tile/1/0/0", 404, "there is no level 1; there are 1"),
        ("head/1/0/tile/0/20/0", 404, "there is no row 20; there are 20"),
        ("head/1/0/tile/0/0/20", 404, "there is no column 20"),
        ("head/1/0/tile/0/0/0?kind=f8", 400, "kind must be one of u1, f2, f4, got 'f8'"),
        ("head/1/0/tile/0/0/0?kind=u1&kind=u1", 400, "given twice"),
        ("tokens/2/0", 404, "there is no table 2"),
        ("tokens/0/1", 404, "there is no part 1; there are 1"),
        ("stamps/2", 404, "there is no layer 2"),
        ("image/1", 404, "there is no image 1"),
        ("x" * 300, 400, "at most 200 characters, got 300"),
    ],
)
def test_what_is_refused(answers, text, status, why):
    before = answers.computed
    with pytest.raises(NotAnsweredError, match=why.replace("(", r"\(")) as refused:
        answers.reply(asked(text))
    assert refused.value.status == status
    assert answers.computed == before


def test_the_largest_weight_of_large_cells_is_refused_where_it_would_take_long(answers, monkeypatch):
    monkeypatch.setattr("clearhead.page.tiling.MOST", 1000)
    with pytest.raises(NotAnsweredError, match="the max of cells of level 5 is not kept"):
        answers.check(asked("head/1/0/tile/5/0/0?reduce=max"))
    answers.check(asked("head/1/0/tile/5/0/0"))


def test_answers_are_kept_up_to_a_bound(views, monkeypatch):
    monkeypatch.setattr(room, "CACHED", 300_000)
    some = Answers(gathered([("long", views[1])]), "server")
    for query in range(40):
        some.reply(Question("row", (0, 0, query)))
        assert some.size <= 300_000
    assert some.computed == 40
    some.reply(Question("row", (0, 0, 39)))
    assert some.computed == 40
    some.reply(Question("row", (0, 0, 0)))
    assert some.computed == 41


def test_it_is_told_which_layer_is_read(views):
    told = []
    Answers(gathered([("a", views[0]), ("b", views[0])]), "server", lambda *x: told.append(x))
    assert told == [(0, 2), (1, 2), (2, 2)]
