"""How long frames take in Chromium while a page is panned, zoomed and scrolled: python -m tests.page.frames [TOKENS …]

One line for each page and gesture: the median and the 95th percentile of the time between frames, and of the time that
the page itself is busy in one, in milliseconds. 60 frames a second are 16.7 ms. Run it on a machine that does nothing
else.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path

import numpy as np
from playwright.sync_api import Page
from tests.browsing import started
from tests.page.conftest import WORDS, seen

FRAMES = 120
GESTURES = ("pan", "zoom", "point", "scroll text", "step through queries", "pan compared")

# Each frame makes one gesture and measures: when frames come, and how long the page's own work of each took.
MEASURE = """async ([name, frames]) => {
    const page = document.querySelector("clearhead-page");
    const { store } = page.context;
    const compared = name === "pan compared";
    store.set({ view: compared ? "compare" : "map", window: null });
    await new Promise((resolve) => setTimeout(resolve, 600));
    const pane = compared ? page.compare.difference : page.head;
    const { left, top } = pane.canvas.getBoundingClientRect();
    const { n_q, n_k } = page.context.layer;
    const at = (x, y) => ({ clientX: left + x, clientY: top + y, pointerId: 1, bubbles: true, cancelable: true });
    pane.canvas.setPointerCapture = () => {};
    if (name.startsWith("pan")) {
        pane.zoom(6);
        pane.canvas.dispatchEvent(new PointerEvent("pointerdown", at(300, 300)));
    }
    const acts = {
        pan: (i) => pane.canvas.dispatchEvent(new PointerEvent("pointermove", at(300 - 2 * i, 300 - i))),
        zoom: (i) => {
            const deltaY = i % 60 < 30 ? -60 : 60;
            pane.canvas.dispatchEvent(new WheelEvent("wheel", { ...at(320, 260), deltaY }));
        },
        point: (i) => pane.canvas.dispatchEvent(new PointerEvent("pointermove", at(150 + 3 * (i % 100), 150 + i))),
        "scroll text": () => (page.text.scroller.scrollTop += 90),
        "step through queries": (i) => store.set({ query: (i * 7) % n_q }),
    };
    const act = acts[compared ? "pan" : name];
    const [between, busy] = [[], []];
    let before = 0;
    await new Promise((resolve) => {
        const frame = (now) => {
            if (before) between.push(now - before);
            before = now;
            const start = performance.now();
            if (between.length >= frames) return resolve();
            act(between.length);
            requestAnimationFrame(frame);
            // what was asked for in this frame is drawn in the next one's callbacks: the time until a task can run
            const channel = new MessageChannel();
            channel.port1.onmessage = () => busy.push(performance.now() - start);
            channel.port2.postMessage(0);
        };
        requestAnimationFrame(frame);
    });
    pane.canvas.dispatchEvent(new PointerEvent("pointercancel", at(0, 0)));
    return { between: between.slice(5), busy: busy.slice(5) };
}"""


def page_of(tokens: int, folder: Path) -> Path:
    """A page of so many tokens."""
    names = [WORDS[i % 13] + ("." if i % 13 == 12 else "") for i in range(tokens)]
    view = seen(tokens, 2 if tokens > 4096 else 4, tokens=names, top_k=8, map_size=512)
    return view.to_html(folder / f"{tokens}.html")


def measured(page: Page, gesture: str, frames: int = FRAMES) -> dict[str, list[float]]:
    """Median and 95th percentile in milliseconds: between frames, and busy."""
    found = page.evaluate(MEASURE, [gesture, frames])
    return {name: [float(x) for x in np.percentile(times, [50, 95])] for name, times in found.items()}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.page.frames", description=__doc__.splitlines()[0])
    parser.add_argument("tokens", type=int, nargs="*", default=[13, 512, 32768], help="how long the texts are")
    parser.add_argument("--page", type=Path, help="measure this page instead")
    parser.add_argument("--json", action="store_true", help="print one JSON object for each line")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, started() as browser:
        pages = [chosen.page] if chosen.page else [page_of(n, Path(folder)) for n in chosen.tokens]
        for path in pages:
            page = browser.new_page(viewport={"width": 1440, "height": 900})
            page.goto(path.resolve().as_uri())
            page.wait_for_selector("clearhead-page[data-ready]")
            for gesture in GESTURES:
                found = measured(page, gesture)
                if chosen.json:
                    print(json.dumps({"page": path.stem, "gesture": gesture, **found}), flush=True)
                    continue
                told = " · ".join(f"{name} {a:5.1f} {b:5.1f}" for name, (a, b) in found.items())
                print(f"{path.stem:>8}  {gesture:<22} {told}", flush=True)
            page.close()


if __name__ == "__main__":
    main()
