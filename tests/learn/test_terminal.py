from __future__ import annotations

import os

import pytest
from tests.documents import FENCE

from clearhead.languages import LANGUAGES
from clearhead.learn import terminal
from clearhead.learn.notes import NOTES
from clearhead.learn.terminal import plain_markdown

TEXT = """\
![Three words](../figures/01_table_en.svg)

Here $w_j$ is it:

$$
w_j = 1
$$

<details><summary>1. Why
so?</summary>

Because.

</details>

```python
price = "$x$"
```
"""


def test_what_a_terminal_cannot_show_is_said():
    shown = plain_markdown(TEXT, "en")
    assert "> [Figure] Three words\n" in shown
    assert "Here `w_j` is it" in shown
    assert "```latex\nw_j = 1\n```" in shown
    assert "**1. Why so?**\n\nBecause.\n" in shown
    assert '```python\nprice = "$x$"\n```' in shown
    assert "[그림] Three words" in plain_markdown(TEXT, "ko")


@pytest.mark.parametrize("language", LANGUAGES)
def test_nothing_is_left_of_a_note_that_a_terminal_cannot_show(language):
    for note in NOTES:
        shown = FENCE.sub("", plain_markdown(note.text(language), language))
        assert [mark for mark in ("<details>", "<summary>", "![", "$$") if mark in shown] == []


def test_a_note_goes_through_the_pager(monkeypatch, capsys):
    paged = []
    monkeypatch.setattr("rich.pager.SystemPager._pager", lambda self, content: paged.append(content))
    monkeypatch.setenv("LESS", "")
    monkeypatch.delenv("LESS")
    terminal.show(NOTES[1], "ko")
    (text,) = paged
    assert "02 · 다섯 단계" in text
    assert "문맥 벡터(context vector)" in " ".join(text.replace("\u2060", "").split())
    assert capsys.readouterr().out == ""
    assert os.environ["LESS"] == "-R"
