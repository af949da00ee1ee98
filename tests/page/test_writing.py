"""Pages as files: what is in them, and what is refused."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
from tests.page.conftest import WORDS, seen

from clearhead import look, page


def header(path) -> dict:
    return json.loads(re.search(r'id="header">(.*?)</script>', path.read_text(encoding="utf-8"))[1])


def test_a_view_writes_its_page(tmp_path):
    view = seen(13, tokens=WORDS)
    path = view.to_html(tmp_path / "page.html", title="the cat", language="ko")
    found = header(path)
    assert (found["title"], found["language"], found["dress"]) == ("the cat", "ko", "file")
    (layer,) = found["layers"]
    assert (layer["name"], layer["n_q"], layer["n_k"], layer["exact"]) == ("layer 0", 13, 13, True)
    np.testing.assert_allclose([x["statistics"]["entropy"] for x in layer["heads"]], view.entropy.mean(-1), rtol=1e-5)
    assert [x["pattern"] for x in layer["heads"]] == list(view.patterns().labels)
    assert [x.name for x in tmp_path.iterdir()] == ["page.html"]


def test_layers_share_their_tokens(tmp_path):
    cross = look(
        *np.random.default_rng(3).standard_normal((2, 2, 5, 7), np.float32),
        tokens=list("abcde"),
        key_tokens=list("vwxyz"),
    )
    layers = [("self", seen(13, tokens=WORDS)), ("again", seen(13, tokens=WORDS)), ("cross", cross)]
    found = header(page.write(tmp_path / "p.html", layers))
    assert [x["tokens"] for x in found["layers"]] == [[0, 0], [0, 0], [1, 2]]


def test_a_file_keeps_to_its_size(tmp_path):
    layers = [(str(i), seen(300, 4, seed=i)) for i in range(3)]
    sizes = [page.write(tmp_path / "p.html", layers, megabytes=mb).stat().st_size for mb in (3, 0.7)]
    assert sizes[0] <= 3e6
    assert sizes[1] <= 0.7e6
    assert sizes[0] > sizes[1]


@pytest.mark.usefixtures("unchecked")
def test_what_is_refused(tmp_path):
    path, view = tmp_path / "p.html", seen(5)
    with pytest.raises(ValueError, match="there are no layers to show"):
        page.write(path, [])
    with pytest.raises(TypeError, match=r"layer 0 must be a name and a View, such as .*, or a page\.Shown, got View"):
        page.write(path, [view])
    with pytest.raises(ValueError, match="tokens must name all 5 queries, got 4 names"):
        view.to_html(path, tokens=list("abcd"))
    with pytest.raises(ValueError, match="megabytes"):
        view.to_html(path, megabytes=0)
    with pytest.raises(ValueError, match="do not fit into"):
        view.to_html(path, megabytes=0.01)
    batch = look(*np.random.default_rng(3).standard_normal((2, 2, 2, 5, 7), np.float32))
    with pytest.raises(ValueError, match=r"has batch axes \(2,\), of which a page shows one place; batch= must have 1"):
        batch.to_html(path)
    with pytest.raises(ValueError, match=r"batch 3 is out of range; there are 2: 0 … 1"):
        batch.to_html(path, batch=3)
    assert not path.exists()
    assert header(batch.to_html(path, batch=1))["layers"][0]["n_q"] == 5
