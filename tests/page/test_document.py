"""The file around the data."""

from __future__ import annotations

import base64
import hashlib
import json
import re

from clearhead.page.document import as_json, document

HEADER = {"title": '</title><script>alert("&")</script>', "language": "ko"}


def test_only_the_script_and_style_of_the_page_may_run():
    page = document(HEADER, {})
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)[1]
    for tag, kind in (('<script type="module">', "script"), ("<style>", "style")):
        text = page[page.index(tag) + len(tag) :].split(f"</{kind}>")[0]
        assert f"{kind}-src 'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'" in policy
    assert policy.startswith("default-src 'none';")
    assert "unsafe" not in policy


def test_a_title_is_no_markup():
    page = document(HEADER, {})
    assert "alert" in page
    assert page.count("<script>") == 0
    assert "&lt;/title&gt;" in page


def test_json_ends_no_script():
    hostile = ["</script>", "<!--", "]]>", "\u2028", "&amp;"]
    text = as_json(hostile)
    assert not set("<>&\u2028") & set(text)
    assert json.loads(text) == hostile
