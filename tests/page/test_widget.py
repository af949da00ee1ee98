"""The page in a notebook: a real kernel at one end of the comm, and Chromium at the other."""

from __future__ import annotations

import asyncio
import base64
import json
from concurrent.futures import ThreadPoolExecutor
from queue import Empty

import pytest
from jupyter_client.manager import start_new_kernel
from playwright.sync_api import Browser
from tests.browsing import opening
from tests.page.conftest import WORDS, seen
from tests.page.test_answers import unframed
from tests.page.test_page import until

from clearhead.page.content import gathered
from clearhead.page.widget import PageWidget

N = 3001
CELL = f"""
import numpy as np, clearhead as ch
q, k = np.random.default_rng(1).standard_normal((2, 2, {N}, 11), np.float32) * 2
view = ch.look(q, k, mask=ch.masks.causal(), tokens=["t%d" % i for i in range({N})])
view.show(language="en")
"""
NOTEBOOK = """<!doctype html><meta charset="utf-8"><title>a notebook</title><body><script type="module">
const state = STATE;
const listeners = new Set();
const model = {
    get: (name) => state[name],
    on: (event, listener) => listeners.add(listener),
    off: (event, listener) => listeners.delete(listener),
    async send(content) {
        const { content: reply, buffers } = await window.kernel(content);
        if (!reply) return;
        const views = buffers.map((x) => new DataView(Uint8Array.from(atob(x), (c) => c.charCodeAt(0)).buffer));
        for (const listener of listeners) listener(reply, views);
    },
};
const { default: widget } = await import(URL.createObjectURL(new Blob([state._esm], { type: "text/javascript" })));
window.leave = widget.render({ model, el: document.body });
</script>"""


@pytest.fixture
def widget():
    return PageWidget(gathered([("a", seen(13, tokens=WORDS))], title="the cat"))


def sent(widget, monkeypatch) -> list:
    messages = []
    monkeypatch.setattr(widget, "send", lambda content, buffers=None: messages.append((content, buffers)))
    return messages


def without_a_loop(function, *arguments):
    """Run in a thread of its own: in this one a loop is running wherever a browser is open."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(function, *arguments).result()


def test_questions_are_answered_over_the_comm(widget, monkeypatch):
    messages = sent(widget, monkeypatch)

    def ask():
        widget._asked(widget, {"view": "v", "id": 3, "question": "trace"}, [])
        widget._asked(widget, {"view": "v", "id": 4, "question": "head/0/1/row/7"}, [])
        widget._asked(widget, {"view": "v", "id": 5, "question": "head/0/9/row/7"}, [])

    without_a_loop(ask)
    (first, header), (_, row), refused = messages
    assert first == {"view": "v", "id": 3}
    assert json.loads(header[0])["dress"] == "widget"
    assert unframed(row[0])[1]["weights"].shape == (13,)
    assert refused == ({"view": "v", "id": 5, "error": "there is no head 9; there are 3"}, None)


@pytest.mark.parametrize(
    "message", [None, {}, "x", {"view": 1, "id": 2, "question": "trace"}, {"view": "v", "id": "1"}]
)
def test_what_is_no_question_is_passed_over(widget, monkeypatch, message):
    messages = sent(widget, monkeypatch)
    widget._asked(widget, message, [])
    assert messages == []


def test_what_is_called_off_is_not_computed(widget, monkeypatch):
    messages = sent(widget, monkeypatch)

    async def asking():
        for number in range(5):
            widget._asked(widget, {"view": "v", "id": number, "question": f"head/0/0/row/{number}"}, [])
        for number in (0, 1, 3):
            widget._asked(widget, {"view": "v", "id": number, "question": None}, [])
        await asyncio.sleep(0.05)

    without_a_loop(asyncio.run, asking())
    assert [content["id"] for content, _ in messages] == [2, 4]
    assert widget.answers.computed == 2


def test_a_picture_stands_in_where_scripts_do_not_run(widget):
    data, _ = widget._repr_mimebundle_()
    assert base64.b64decode(data["image/png"]).startswith(b"\x89PNG")
    assert "application/vnd.jupyter.widget-view+json" in data
    assert len(data["image/png"]) < 400_000


def test_a_real_kernel_shows_a_long_view_in_chromium(browser: Browser, tmp_path):
    manager, client = start_new_kernel(kernel_name="python3")
    try:
        state, comm, pictures = executed(client)
        assert len(pictures) == 1
        path = tmp_path / "notebook.html"
        told = json.dumps(state).replace("<", "\\u003c")
        path.write_text(NOTEBOOK.replace("STATE", told), encoding="utf-8")
        better = computed(client, "int((view.row(2900, 1) > view.row(2900, 1)[1234]).sum())")
        with opening(browser) as open_address:
            page = open_address("about:blank")
            page.expose_function("kernel", lambda content: asked(client, comm, content))
            page.goto(path.as_uri())
            frame = page.wait_for_selector("iframe").content_frame()
            frame.wait_for_selector("clearhead-page[data-ready]")
            point = "document.querySelector('clearhead-page').context.point({ q: 2900, k: 1234 })"
            frame.evaluate("document.querySelector('clearhead-page').context.store.set({ layer: 0, head: 1 })")
            until(page, lambda: frame.locator(".head h2").inner_text().startswith("layer 0 · head 1"))
            frame.evaluate(point)
            until(page, lambda: f"rank {better + 1:,} of 2,901" in frame.locator(".status").inner_text())
            look = "document.querySelector('clearhead-page').context.store.set({ window: [1200, 2800, 2] })"
            frame.evaluate(look)
            here = "[...document.querySelector('clearhead-page').context.map.tiles.here.keys()]"
            until(page, lambda: "0 11 4" in frame.evaluate(here))
            page.evaluate("window.leave()")
            assert page.locator("iframe").count() == 0
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


def executed(client) -> tuple[dict, str, list]:
    """Run the cell: the state of its widget, the widget's comm, and the pictures that stand in for it."""
    request = client.execute(CELL)
    state, comm, pictures = {}, "", []
    while True:
        message = client.get_iopub_msg(timeout=60)
        if message["parent_header"].get("msg_id") != request:
            continue
        content = message["content"]
        assert message["msg_type"] != "error", content
        if message["msg_type"] == "comm_open" and "document" in content["data"]["state"]:
            state, comm = content["data"]["state"], content["comm_id"]
        if message["msg_type"] == "display_data":
            pictures.append(content["data"]["image/png"])
        if content.get("execution_state") == "idle":
            return state, comm, pictures


def computed(client, code: str) -> int:
    request = client.execute("", user_expressions={"x": code})
    reply = client.get_shell_msg(timeout=60)
    while reply["parent_header"].get("msg_id") != request:
        reply = client.get_shell_msg(timeout=60)
    return int(reply["content"]["user_expressions"]["x"]["data"]["text/plain"])


def asked(client, comm: str, content: dict) -> dict:
    """A message of the widget's to the kernel, and its answer."""
    if content["question"] is None:
        return {}
    message = client.session.msg("comm_msg", {"comm_id": comm, "data": {"method": "custom", "content": content}})
    client.shell_channel.send(message)
    while True:
        try:
            found = client.get_iopub_msg(timeout=20)
        except Empty:
            return {}
        data = found["content"].get("data", {})
        if (
            found["msg_type"] == "comm_msg"
            and data.get("method") == "custom"
            and data["content"]["id"] == content["id"]
        ):
            return {"content": data["content"], "buffers": [base64.b64encode(x).decode() for x in found["buffers"]]}
