"""The page in a notebook: Jupyter, JupyterLab, VS Code, Colab and marimo, by anywidget.

The page is the same document as everywhere, in a frame of its own, so that its style and keys and those of the notebook
leave each other alone. What it asks comes over the widget's comm, question by question, as it would to a server. Where
scripts do not run, as in a notebook that is only read, a picture is shown instead.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import functools
from collections import OrderedDict
from typing import Any

import anywidget
import traitlets

from clearhead.page.answers import Answers, NotAnsweredError, asked
from clearhead.page.bundle import WEB
from clearhead.page.content import Content
from clearhead.page.document import document

HEIGHT = 720  # pixels
MOST = 1000  # questions that wait
PAUSE = 0.01  # seconds, in which the kernel hears what else there is


class PageWidget(anywidget.AnyWidget):
    """A page as a widget. height: in pixels; its corner can be dragged."""

    _esm = (WEB / "widget.js").read_text(encoding="utf-8")
    document = traitlets.Unicode().tag(sync=True)
    height = traitlets.Int(HEIGHT).tag(sync=True)

    def __init__(self, content: Content, told: Any = None) -> None:
        self.answers = Answers(content, "widget", told)
        self._waiting: OrderedDict[tuple[str, int], str] = OrderedDict()
        super().__init__(document=document({**content.about, "dress": "widget"}, {}))
        self.on_msg(self._asked)

    def _asked(self, _: Any, message: Any, buffers: Any) -> None:
        """A question, or that one is not to be answered any more. It waits a moment: it may be called off at once."""
        match message:
            case {"view": str(view), "id": int(number), "question": None}:
                self._waiting.pop((view, number), None)
            case {"view": str(view), "id": int(number), "question": str()} if len(self._waiting) >= MOST:
                self.send({"view": view, "id": number, "error": f"more than {MOST} questions wait"})
            case {"view": str(view), "id": int(number), "question": str(question)}:
                self._waiting[view, number] = question
                try:
                    asyncio.get_running_loop().call_soon(self._answer_next)
                except RuntimeError:  # a kernel without a loop
                    self._answer_next()

    def _answer_next(self) -> None:
        if not self._waiting:
            return
        (view, number), question = self._waiting.popitem(last=False)
        place = {"view": view, "id": number}
        try:
            known = asked(question)
            self.send(place, buffers=[self.answers.reply(known).body])
            if known.name == "stats" and self.answers.fillings.opened(head := (known.numbers[0], known.numbers[1])):
                self._fill_later(head)
        except NotAnsweredError as refused:
            self.send({**place, "error": str(refused)})
        except Exception:
            self.send({**place, "error": "this question could not be answered; the notebook says why"})
            raise

    def _fill_later(self, head: tuple[int, int]) -> None:
        """Go on with a head's map when nobody asks; a kernel without a loop never has such a moment."""
        with contextlib.suppress(RuntimeError):
            asyncio.get_running_loop().call_later(PAUSE, self._fill, head)

    def _fill(self, head: tuple[int, int]) -> None:
        if self._waiting or self.answers.fillings.fill(head):
            self._fill_later(head)

    @functools.cached_property
    def picture(self) -> bytes:
        """The head that tells most, as a PNG."""
        from clearhead.figures import visualize_head
        from clearhead.figures.sheet import rendered

        telling = [(float(x), layer, head) for layer in self.answers.layers for head, x in enumerate(layer.telling)]
        _, layer, head = max(telling, key=lambda one: one[0])
        options: dict[str, Any] = {"batch": layer.batch} if layer.batch else {}
        if layer.matrix.lead:
            options["head"] = head
        return rendered(visualize_head(layer.matrix, title=f"{layer.name} · {head}", **options), "png")

    def _repr_mimebundle_(self, **options: Any) -> Any:
        found = super()._repr_mimebundle_(**options)
        if found is None:
            return None
        data, metadata = found
        return {**data, "image/png": base64.b64encode(self.picture).decode()}, metadata
