"""One page with all pictures on it: a single file that needs no network, for light and dark screens."""

from __future__ import annotations

import base64
import html

from clearhead.showcase.captions import EXPLORE, PAGE, WARNING
from clearhead.showcase.pictures import Picture
from clearhead.translate.translator import Translated
from clearhead.translate.words import doubt

PIXELS_PER_INCH = 96
TYPES = {"png": "image/png", "svg": "image/svg+xml"}
STYLE = """
:root { color-scheme: light dark;
  --page: #fbfaf8; --ink: #1c1b22; --quiet: #66636f; --line: #e2dfe6; --accent: #7a2a6b; }
@media (prefers-color-scheme: dark) {
  :root { --page: #17161b; --ink: #eceaf0; --quiet: #a5a1ae; --line: #35323c; --accent: #e59ad2; }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--ink); line-height: 1.6;
  font-family: system-ui, "Apple SD Gothic Neo", "Malgun Gothic", "Noto Sans KR", NanumGothic, sans-serif; }
main { max-width: 62rem; margin: 0 auto; padding: 2.5rem 1.25rem 4rem; }
h1 { font-size: 1.7rem; line-height: 1.25; margin: 0 0 .5rem; }
h2 { font-size: 1.15rem; margin: 0 0 .15rem; }
h1 + p { color: var(--quiet); margin: 0; }
p.doubt { margin: .75rem 0 0; padding: .5rem .75rem; border-left: .25rem solid var(--accent); }
nav { margin: 1.25rem 0 0; display: flex; flex-wrap: wrap; gap: .4rem 1.1rem; font-size: .95rem; }
a { color: var(--accent); }
section { margin-top: 2rem; padding-top: 2rem; border-top: 1px solid var(--line); }
figure { margin: 1rem 0 0; }
figure div { background: #fff; border: 1px solid var(--line); border-radius: .6rem; padding: .5rem; }
img { display: block; max-width: 100%; height: auto; margin: 0 auto; }
figcaption p { margin: .8rem 0 0; max-width: 48rem; }
figcaption p + p { color: var(--quiet); }
"""


def page(
    pictures: list[Picture], files: dict[str, bytes], translated: Translated, *, language: str, file_type: str
) -> str:
    """The page as text, in one language.

    files: what each picture looks like, by its name, as PNG or SVG
    """
    links = " ".join(
        f'<a href="#{picture.name}">{html.escape(picture.words.heading(language).split(":")[0])}</a>'
        for picture in pictures
    )
    doubted = html.escape(doubt(translated.strange, translated.unusual)(language))
    doubted = "" if translated.sure else f'\n<p class="doubt">{doubted}</p>'
    sections = "\n".join(_section(picture, files[picture.name], language, file_type) for picture in pictures)
    return f"""<!doctype html>
<html lang="{language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{html.escape(PAGE(language))}: {html.escape(translated.source)}</title>
<style>{STYLE}</style>
</head>
<body>
<main>
<header>
<h1>{html.escape(translated.source)} → {html.escape(translated.text)}</h1>
<p>{html.escape(PAGE(language))}</p>{doubted}
<nav>{links} <a href="explore.html">{html.escape(EXPLORE(language))}</a></nav>
</header>
{sections}
<section><p>{html.escape(WARNING(language))}</p></section>
</main>
</body>
</html>
"""


def _section(picture: Picture, file: bytes, language: str, file_type: str) -> str:
    """One picture with its heading and caption."""
    heading, shows, reading = (html.escape(said(language)) for said in picture.words)
    width = round(picture.figure.get_size_inches()[0] * PIXELS_PER_INCH)
    data = f"data:{TYPES[file_type]};base64,{base64.b64encode(file).decode()}"
    return f"""<section id="{picture.name}">
<h2>{heading}</h2>
<figure>
<div><img width="{width}" alt="{_sentence(shows)}" src="{data}"></div>
<figcaption><p>{_sentence(shows)}</p><p>{reading}</p></figcaption>
</figure>
</section>"""


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."
