"""One HTML file: the script, the style and the data, under a policy that lets nothing else run and nothing out.

Tokens are data. They are in JSON that is deflated, or has no `<` in it, and the script writes them as text only.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
from typing import Any

from clearhead.page.bundle import script, style
from clearhead.page.packing import Chunk

MARKS = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}


def policy(*, served: bool = False, entry: str = "main.js") -> str:
    """What the page may do: run its one script with its one style, and ask nobody but its server, if it has one."""
    asks = "connect-src 'self'; " if served else ""
    return (
        f"default-src 'none'; script-src '{_digest(script(entry))}'; style-src '{_digest(style(entry))}'; {asks}"
        "img-src blob: data:; base-uri 'none'; form-action 'none'"
    )


def document(
    header: dict[str, Any],
    chunks: dict[str, Chunk],
    *,
    served: bool = False,
    entry: str = "main.js",
    element: str = "clearhead-page",
) -> str:
    """The page as text. header: what is known without opening a chunk; chunks by name. entry, element: what draws it"""
    parts = {name: part.arrays for name, part in chunks.items()}
    data = "\n".join(
        f'<script type="text/plain" id="chunk-{html.escape(name)}">{part.text}</script>'
        for name, part in chunks.items()
    )
    return f"""<!doctype html>
<html lang="{html.escape(header["language"])}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy(served=served, entry=entry)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<link rel="icon" href="data:,">
<title>{html.escape(header["title"])}</title>
<style>{style(entry)}</style>
</head>
<body>
<{element}></{element}>
<noscript>This page draws attention with JavaScript. · 이 페이지는 자바스크립트로 어텐션을 그립니다.</noscript>
<script type="application/json" id="header">{as_json(header | {"chunks": parts})}</script>
{data}
<script type="module">{script(entry)}</script>
</body>
</html>
"""


def as_json(value: Any) -> str:
    """JSON that can stand in a script: nothing in it ends one."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for character, escape in MARKS.items():
        text = text.replace(character, escape)
    return text


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
