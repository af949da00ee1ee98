"""Pictures of every view, to be looked at: python -m tests.page.screenshots [FOLDER] [--only PART] [--documents]

Light and dark, 400, 1,440 and 3,840 pixels wide, a short text and 32,768 tokens, English and Korean. --documents makes
those that the READMEs show, into docs/pictures.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from playwright.sync_api import Browser
from tests.browsing import started
from tests.documents import ROOT
from tests.page.frames import page_of

from clearhead import look, masks, page as pages
from clearhead.page import Patches, Shown

LONG = 32_768
WRITTEN = (
    "The cat that we fed sat on the mat because it was tired , and the dog that we fed sat on the rug because it was "
    "old . The cat slept ."
)
TEXT = WRITTEN.split()
SOURCE = ["우리", "가", "먹이", "를", "준", "고양이", "는", "피곤", "해서", "매트", "에", "앉았다", "."]
TARGET = ["The", "cat", "we", "fed", "sat", "on", "the", "mat", "because", "it", "was", "tired", "."]
ALIGNED = [5, 5, 0, 2, 11, 10, 9, 9, 8, 5, 7, 7, 12]
SIZES = {400: 800, 1440: 900, 3840: 2160}
DOCUMENTS = ROOT / "docs" / "pictures"


class Shot(NamedTuple):
    """What is photographed: a page, the end of its address, and how it is looked at."""

    name: str
    page: str
    address: str
    width: int = 1440
    scheme: str = "light"


def scores_of(places: np.ndarray, n_k: int, sharpness: float, rng: np.random.Generator) -> np.ndarray:
    """Scores that make each query look at its place, (n_q, n_k), with some noise."""
    scores = rng.standard_normal((len(places), n_k)) * 0.7
    scores[np.arange(len(places)), places] += sharpness
    return scores


def layer_of(heads: list[np.ndarray], tokens: list[str], keys: list[str] | None = None, *, causal: bool = True):
    """A view whose scores are those given: queries are their rows, keys the unit vectors."""
    q = np.stack(heads).astype(np.float32)
    k = np.broadcast_to(np.eye(q.shape[-1], dtype=np.float32), (len(heads), q.shape[-1], q.shape[-1])).copy()
    return look(q, k, mask=masks.causal() if causal else None, scale=1.0, tokens=tokens, key_tokens=keys)


def followed(tokens: list[str]) -> np.ndarray:
    """Of each position, what followed the same token before; else the first."""
    places = np.zeros(len(tokens), int)
    for i, token in enumerate(tokens):
        earlier = [j for j in range(i) if tokens[j].lower() == token.lower()]
        places[i] = earlier[-1] + 1 if earlier else 0
    return places


def short_page(folder: Path, language: str) -> Path:
    """A small model that does what heads of real ones do, before and after; a translation; an image."""
    rng, n = np.random.default_rng(5), len(TEXT)
    at = np.arange(n)
    kinds = [np.maximum(at - 1, 0), followed(TEXT), np.zeros(n, int), at, np.maximum(at - rng.integers(1, 6, n), 0)]
    layers = []
    for trace in range(2):
        for layer in range(3):
            order = [kinds[(layer + head) % 5] for head in range(4)]
            sharp = [7.0 - layer if (trace, layer, head) != (1, 1, 0) else 0.5 for head in range(4)]
            heads = [scores_of(order[head], n, sharp[head], rng) for head in range(4)]
            effect = [0.02, 0.31, -0.04, 0.12] if trace == 0 else None
            extra = {"effect": np.roll(effect, layer)} if effect else None
            layers.append(Shown(f"layer {layer}", layer_of(heads, TEXT), trace=trace, prompt=13, statistics=extra))
    cross = [scores_of(np.array(ALIGNED), len(SOURCE), sharp, rng) for sharp in (5.0, 3.0, 1.0)]
    layers.append(Shown("cross 0", layer_of(cross, TARGET, SOURCE, causal=False), stack="cross", prompt=0))
    layers.append(Shown("vision 0", *vision(), image=Patches(picture(), 14, 14, 1)))
    made = folder / f"short.{language}.html"
    return pages.write(made, layers, title="a cat and a dog", language=language, traces=["before", "after"])


def picture() -> np.ndarray:
    """A red ball on a meadow under the sun, (224, 224, 3)."""
    y, x = np.mgrid[0:224, 0:224]
    sky = np.stack([150 - y / 3, 195 - y / 4, 240 - y / 8], -1)
    meadow = np.stack([70 + 20 * np.sin(x / 9), 140 + 25 * np.sin(x / 5 + y / 7), 60 + 0 * x], -1)
    image = np.where((y > 130 + 8 * np.sin(x / 30))[..., None], meadow, sky)
    for cx, cy, radius, colour in ((180, 40, 20, (255, 225, 110)), (90, 150, 36, (205, 50, 45))):
        distance = np.hypot(x - cx, y - cy)[..., None]
        shaded = np.array(colour) * (1.05 - 0.35 * np.hypot(x - cx + 12, y - cy + 12)[..., None] / radius / 2)
        image = np.where(distance < radius, shaded, image)
    return image.clip(0, 255).astype(np.uint8)


def vision() -> tuple:
    """Patches that look at those of their own colour, or at their neighbours."""
    colours = picture().reshape(14, 16, 14, 16, 3).mean((1, 3)).reshape(196, 3) / 60
    rows, columns = np.divmod(np.arange(196), 14)
    near = -((rows[:, None] - rows) ** 2 + (columns[:, None] - columns) ** 2) / 5.0
    alike = -3 * ((colours[:, None] - colours) ** 2).sum(-1)
    heads = []
    for scores in (alike, near, alike + near / 4):
        whole = np.full((197, 197), -3.0)
        whole[1:, 1:] = scores
        whole[0, 1:] = scores[9 * 14 + 5]
        heads.append(whole)
    names = ["[CLS]", *(f"{r},{c}" for r, c in zip(rows, columns, strict=True))]
    return (layer_of(heads, names, causal=False),)


VIEWS = {
    "map": "l=0&h=0&q=9",
    "mean": "l=0&h=0&mean=0.0,0.1,1.0&q=22",
    "lines": "l=6&h=0&v=lines&q=4",
    "step": "l=6&h=0&v=step&q=7",
    "generated": "l=0&h=1&v=step&q=22",
    "image": "l=7&h=0&v=image&q=132",
    "compare": "l=1&h=0&v=compare&q=22",
    "numbers": "l=1&h=1&show=effect&sort=effect",
    "text": "l=0&h=1&q=22&tab=text",
    "model": "tab=model",
}
LONG_VIEWS = {
    "map": "h=1",
    "near": "h=1&q=20000&w=19980,19980,14",
    "compare": "h=1&v=compare",
    "lines": "h=1&v=lines&q=12",
}


def shots() -> Iterator[Shot]:
    """Every view, each in several ways."""
    for language in ("en", "ko"):
        for width in SIZES:
            for scheme in ("light", "dark"):
                if (language, scheme) in (("en", "dark"), ("ko", "light")) and width != 1440:
                    continue
                for name, address in VIEWS.items():
                    yield Shot(f"{name}-{language}-{width}-{scheme}", language, address, width, scheme)
    for width in SIZES:
        for name, address in LONG_VIEWS.items():
            yield Shot(f"long-{name}-{width}", "long", address, width, "dark" if width == 400 else "light")


def documents() -> Iterator[Shot]:
    """Those that the READMEs show."""
    yield Shot("page", "en", VIEWS["map"])
    yield Shot("page-ko", "ko", VIEWS["map"])
    yield Shot("page-compare", "en", VIEWS["compare"], scheme="dark")
    yield Shot("page-step", "en", VIEWS["step"])


def take(browser: Browser, shot: Shot, path: Path, folder: Path) -> None:
    page = browser.new_page(viewport={"width": shot.width, "height": SIZES[shot.width]}, color_scheme=shot.scheme)
    page.goto(f"{path.as_uri()}#{shot.address}")
    page.wait_for_selector("clearhead-page[data-ready]")
    page.wait_for_timeout(350)
    page.screenshot(path=folder / f"{shot.name}.png")
    page.close()


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.page.screenshots", description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, nargs="?", default=Path("build/screenshots"))
    parser.add_argument("--only", default="", help="only those with this in their name")
    parser.add_argument("--documents", action="store_true", help="those of the READMEs, into docs/pictures")
    chosen = parser.parse_args()
    folder = DOCUMENTS if chosen.documents else chosen.folder
    folder.mkdir(parents=True, exist_ok=True)
    wanted = [shot for shot in (documents() if chosen.documents else shots()) if chosen.only in shot.name]
    with tempfile.TemporaryDirectory() as made, started() as browser:
        needed = {shot.page for shot in wanted}
        paths = {name: short_page(Path(made), name) for name in needed & {"en", "ko"}}
        if "long" in needed:
            paths["long"] = page_of(LONG, Path(made))
        for shot in wanted:
            take(browser, shot, paths[shot.page], folder)
    print(f"{len(wanted)} pictures in {folder}")


if __name__ == "__main__":
    main()
