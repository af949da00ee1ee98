"""A page served to a browser on this machine: tiles, rows and columns are computed when they are asked for.

It listens on 127.0.0.1 alone and answers nobody but the page that it handed out (`Guard`). It knows no files: what it
serves is the content it was given. One answer is computed at a time, as each uses all cores, and none for a browser
that has gone on.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import secrets
import socket
import sys
import threading
from collections.abc import Callable
from typing import Any

import anyio
import anyio.to_thread
import uvicorn
from starlette.applications import Starlette
from starlette.background import BackgroundTask
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from clearhead.languages import RefusedError
from clearhead.page import words
from clearhead.page.answers import Answers, NotAnsweredError, Question, asked
from clearhead.page.content import Content
from clearhead.page.document import document, policy
from clearhead.page.guarding import Guard

HEADERS = {
    "Content-Security-Policy": policy(served=True) + "; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
GONE = 499  # nobody is there any more to read the answer
CONNECTIONS = 100
Tell = Callable[[int, int], None]


class Server:
    """A page at an address of its own: `url`.

    port: 0 is any that is free. told: is called as layers are read, with how many were and how many there are.

    Raises:
        RefusedError: the port cannot be had.
    """

    def __init__(self, content: Content, *, port: int = 0, told: Tell | None = None) -> None:
        self.socket = _listening(port)
        try:
            self.answers = Answers(content, "server", told)
        except BaseException:
            self.socket.close()
            raise
        self.guard = Guard(self.socket.getsockname()[1], secrets.token_urlsafe(24))
        self.url = f"http://127.0.0.1:{self.guard.port}/{self.guard.token}/"
        config = uvicorn.Config(
            application(self.answers, self.guard), log_config=None, log_level="critical", access_log=False,
            server_header=False, lifespan="off", ws="none", limit_concurrency=CONNECTIONS, timeout_graceful_shutdown=2,
        )  # fmt: skip
        self.server = uvicorn.Server(config)
        self.thread: threading.Thread | None = None

    def run(self) -> None:
        """Serve until Ctrl-C."""
        with contextlib.suppress(KeyboardInterrupt), contextlib.closing(self.socket):
            self.server.run(sockets=[self.socket])

    def start(self) -> None:
        """Serve in a thread of its own, until `close` or the end of the program."""
        self.thread = threading.Thread(target=self.run, name="clearhead page", daemon=True)
        self.thread.start()

    def close(self) -> None:
        self.server.should_exit = True
        if self.thread is None:
            self.socket.close()
        else:
            self.thread.join()


def _listening(port: int) -> socket.socket:
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    if os.name == "posix":  # else a port cannot be used again for a minute; elsewhere the option means something else
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind(("127.0.0.1", port))
        listener.listen(CONNECTIONS)
    except (OSError, OverflowError) as error:
        listener.close()
        raise RefusedError(words.TAKEN.filled(port=port, why=error)) from None
    return listener


def application(answers: Answers, guard: Guard) -> ASGIApp:
    """The page and its answers, behind their guard."""
    run = secrets.token_hex(8)  # answers are those of this server: another one may show something else
    turn = anyio.CapacityLimiter(1)
    html = document({**answers.content.about, "dress": "server"}, {}, served=True).encode()

    async def page(request: Request) -> Response:
        return Response(html, media_type="text/html", headers={"Cache-Control": "no-store"})

    async def answer(request: Request) -> Response:
        query = request.url.query
        question = asked(request.path_params["question"] + (f"?{query}" if query else ""))
        answers.check(question)
        mark = _mark(run, question)
        headers = {"ETag": mark, "Cache-Control": "private, no-cache"}
        after = None
        if question.name == "stats" and answers.fillings.opened(place := (question.numbers[0], question.numbers[1])):
            after = BackgroundTask(fill, place)
        if mark in (x.strip() for x in request.headers.get("if-none-match", "").split(",")):
            return Response(status_code=304, headers=headers, background=after)
        async with turn:
            if await request.is_disconnected():
                return Response(status_code=GONE)
            reply = await anyio.to_thread.run_sync(functools.partial(answers.reply, question))
        return Response(reply.body, media_type=reply.kind, headers=headers, background=after)

    async def fill(place: tuple[int, int]) -> None:
        """A head's map, strip by strip; whoever asks meanwhile gets the next turn."""
        more = True
        while more:
            async with turn:
                more = await anyio.to_thread.run_sync(functools.partial(answers.fillings.fill, place))

    app = Starlette(
        routes=[Route("/{key}/", page), Route("/{key}/api/{question:path}", answer)],
        exception_handlers={NotAnsweredError: _refused, HTTPException: _plain, Exception: _failed},
    )
    app.router.redirect_slashes = False
    return Guarded(app, guard)


class Guarded:
    """Requests that the guard refuses go no further; all answers carry the same policy."""

    def __init__(self, app: ASGIApp, guard: Guard) -> None:
        self.app, self.guard = app, guard

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        refused = self.guard.refusal(scope["method"], scope["path"], _single(Headers(scope=scope)))

        async def told(message: Any) -> None:
            if message["type"] == "http.response.start":
                message["headers"] += [(name.lower().encode(), value.encode()) for name, value in HEADERS.items()]
            await send(message)

        if refused is None:
            await self.app(scope, receive, told)
        else:
            await PlainTextResponse(refused.why + "\n", refused.status)(scope, receive, told)


def _single(headers: Headers) -> dict[str, str]:
    """Headers by name; one that comes twice has both of its values, which nothing is equal to."""
    return {name: ", ".join(headers.getlist(name)) for name in headers}


def _mark(run: str, question: Question) -> str:
    return f'"{hashlib.sha256(f"{run} {question}".encode()).hexdigest()[:32]}"'


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, NotAnsweredError)
    return PlainTextResponse(f"{error}\n", error.status)


async def _plain(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return PlainTextResponse(f"{error.detail}\n", error.status_code)


async def _failed(request: Request, error: Exception) -> Response:
    """What should not happen is said in one line here, and to the browser not at all."""
    print(f"clearhead: {type(error).__name__}: {error}", file=sys.stderr)
    return PlainTextResponse("this went wrong\n", 500)
