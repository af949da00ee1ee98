from __future__ import annotations

import base64
import re

import pytest
from tests.documents import ROOT

from clearhead.learn.markdown import code_style, inside, to_html

NOTES = ROOT / "study_notes"


def html(text: str) -> str:
    return to_html(text, NOTES / "en")


def test_mathematics_becomes_mathml_and_underscores_in_it_are_no_emphasis():
    shown = html("Both $W_Q$ and $W_K$ are learned.")
    assert shown.count("<math") == shown.count("<msub>") == 2
    assert "<em>" not in shown
    block = html("Before\n\n$$\n\\frac{a}{b}, \\qquad\nc\n$$\n\nAfter")
    assert re.search(r'<p>Before</p>\n<div class="formula"><math [^>]*display="block">.*<mfrac>.*</math></div>', block)
    assert "<p>After</p>" in block
    assert "$" not in shown + block


@pytest.mark.parametrize("text", ["it costs $5", "from $5 to $6 each", "`$x$`", "$ x $"])
def test_a_dollar_is_a_dollar(text):
    assert "<math" not in html(text)


def test_a_formula_that_is_not_closed_is_text():
    assert "<math" not in html("$$\nx")


def test_bold_may_end_in_a_bracket_before_a_particle():
    assert re.sub("\u2060", "", html("이것이 **키(key)**는 아니고 **(1.5, 0.9)**입니다.")) == (
        "<p>이것이 <strong>키(key)</strong>는 아니고 <strong>(1.5, 0.9)</strong>입니다.</p>\n"
    )


def test_pictures_are_inside_the_page():
    shown = html("![Three words](../figures/01_table_en.svg)")
    data = re.search(r'src="data:image/svg\+xml;base64,([^"]+)" alt="Three words"', shown)[1]
    assert base64.b64decode(data) == (NOTES / "figures" / "01_table_en.svg").read_bytes()
    assert inside(NOTES / "figures" / "08_heads_en.png").startswith("data:image/png;base64,")


@pytest.mark.parametrize(
    ("link", "leads_to"),
    [
        ("05_masks.md", "05_masks.html"),
        ("../ko/05_masks.md#why", "../ko/05_masks.html#why"),
        ("https://arxiv.org/abs/1706.03762", "https://arxiv.org/abs/1706.03762"),
        ("https://example.org/a.md", "https://example.org/a.md"),
    ],
)
def test_links_to_notes_lead_to_their_pages(link, leads_to):
    assert f'href="{leads_to}"' in html(f"[there]({link})")


def test_python_is_coloured_and_what_it_prints_is_not():
    assert '<span class="nb">print</span>' in html("```python\nprint(1 < 2)\n```")
    assert '<pre><code class="language-text">a &lt; b\n</code></pre>' in html("```text\na < b\n```")
    assert "@media (prefers-color-scheme: dark)" in code_style()


def test_answers_stay_folded():
    shown = html("<details><summary>1. Why?</summary>\n\n**So.**\n\n</details>")
    assert shown == "<details><summary>1. Why?</summary>\n<p><strong>So.</strong></p>\n</details>"
