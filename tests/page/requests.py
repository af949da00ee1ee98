"""Random and malformed requests to a real server: none may fail, leak a file or fill the memory.

    python -m tests.page.requests                10,000 of them
    python -m tests.page.requests --count 50000 --seed 7

The suite makes a few hundred (tests/page/test_requests.py).
"""

from __future__ import annotations

import argparse
import collections
import http.client
import json
import random
import resource
import socket
import sys
import tempfile
import time
from pathlib import Path

from tests.page.conftest import seen

from clearhead.page.answers import CACHED
from clearhead.page.content import gathered
from clearhead.page.server import Server

SECRET = "a file that nobody may read"
PARTS = (
    "api", "trace", "head", "tile", "row", "column", "stats", "stamps", "tokens", "image", "..", ".", "", "%2e%2e",
    "%2f", "%00", "%ff", "%", "%zz", "0", "1", "2", "7", "99", "-1", "1e3", "0x1", "01", "٣", "é", "null", "NaN",
    "999999999", "9999999999", "99999999999999999999999", "etc", "passwd", "<script>", "'", '"', ";", "\\", "a" * 300,
)  # fmt: skip
QUERIES = (
    "", "?", "?kind=f4", "?kind=u1&reduce=max", "?reduce=min", "?kind=f4&kind=f4", "?x=1", "?kind=", "?%", "?kind=%00",
    "?" + "a" * 500, "?reduce=max&kind=f2", "??", "?kind=f4;reduce=max", "?&&&",
)  # fmt: skip
METHODS = ("GET",) * 12 + ("HEAD", "POST", "PUT", "DELETE", "OPTIONS", "TRACE", "PATCH", "FOO", "get")
HEADERS = (
    ("Host", ""), ("Host", "evil.example"), ("Host", "127.0.0.1:1"), ("Host", "a" * 5000), ("Origin", "null"),
    ("Origin", "http://evil.example"), ("Sec-Fetch-Site", "cross-site"), ("If-None-Match", "*"),
    ("Range", "bytes=0-"), ("Cookie", "a=" + "b" * 2000), ("Transfer-Encoding", "chunked"), ("Content-Length", "-1"),
    ("Content-Length", "99999999999"), ("Accept-Encoding", "gzip, br"), ("Upgrade", "websocket"),
)  # fmt: skip


def drawn(draw: random.Random, server: Server) -> tuple[bytes, bool]:
    """One request, more or less well formed, and whether it is."""
    kind = draw.random()
    if kind < 0.05:
        return draw.randbytes(draw.randrange(1, 400)), False
    if kind < 0.5:  # what a page might ask, here and there beyond what there is
        numbers = [draw.choice((0,) * 9 + (1, 1, 2, 3, 1200, 1201, 10**6)) for _ in range(5)]
        path = draw.choice((
            "trace", "head/{}/{}/stats", "head/{}/{}/tile/{}/{}/{}", "head/{}/{}/row/{}", "head/{}/{}/column/{}",
            "tokens/{}/{}", "stamps/{}", "image/{}",
        )).format(*numbers)  # fmt: skip
        path = f"/api/{path}"
    else:
        path = "".join(f"/{draw.choice(PARTS)}" for _ in range(draw.randrange(8)))
    if kind < 0.3:  # and nothing else is wrong with it
        return _get(server, path), True
    key = draw.choice((f"/{server.guard.token}",) * 6 + ("", "/" + server.guard.token[:-1], "/" + "x" * 40))
    target = f"{key}{path}{draw.choice(QUERIES)}"
    lines = [f"{draw.choice(METHODS)} {target} HTTP/{draw.choice(('1.1',) * 9 + ('1.0', '2', 'x'))}"]
    given = [("Host", f"127.0.0.1:{server.guard.port}")]
    given += [draw.choice(HEADERS) for _ in range(draw.choice((0, 0, 0, 0, 1, 2)))]
    lines += [f"{name}: {value}" for name, value in given]
    text = "\r\n".join([*lines, "", ""]).encode("utf-8", "surrogateescape")
    return (text[: draw.randrange(len(text))] if draw.random() < 0.02 else text), False


def _get(server: Server, path: str) -> bytes:
    """A request as a page makes it."""
    return f"GET /{server.guard.token}{path} HTTP/1.1\r\nHost: 127.0.0.1:{server.guard.port}\r\n\r\n".encode()


def answered(server: Server, request: bytes) -> tuple[int, bytes]:
    """The status and the body; 0 where the connection was closed, or nothing was to be said."""
    with socket.create_connection(("127.0.0.1", server.guard.port), timeout=20) as connection:
        connection.sendall(request)
        if not request.endswith(b"\r\n\r\n") or b"Content-Length" in request or b"Transfer" in request:
            connection.shutdown(socket.SHUT_WR)  # there is more to come that never does
        try:
            answer = http.client.HTTPResponse(connection, method=request.split(b" ")[0].decode("latin-1"))
            answer.begin()
            return answer.status, answer.read()
        except (http.client.HTTPException, ConnectionError, ValueError):
            return 0, b""


def campaign(count: int, seed: int) -> tuple[collections.Counter[int], int]:
    """Make so many requests: how often each status came, and how many bytes the memory grew after a tenth of them."""
    draw = random.Random(seed)
    server = Server(gathered([("a", seen(1201, 2)), ("b", seen(13))]))
    server.start()
    found: collections.Counter[int] = collections.Counter()
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "secret").write_text(SECRET)
        before = 0
        for number in range(count):
            if number == count // 10:
                before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            request, well_formed = drawn(draw, server)
            if draw.random() < 0.1:
                request = request.replace(b"/etc/passwd", f"{folder}/secret".encode())
            status, body = answered(server, request)
            found[status] += 1
            assert status < 500, (status, request, body)
            assert status in (200, 400, 404) or not well_formed, (status, request, body)
            assert status != 200 or b"api" in request or f"{server.guard.token}/".encode() in request, request
            assert not any(x in body for x in (SECRET.encode(), b"root:x:0", b"Traceback")), (request, body[:300])
        assert server.answers.size <= CACHED
        grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024
        status, body = answered(server, _get(server, "/api/trace"))
        assert status == 200, "it answers as before"
        assert len(json.loads(body)["layers"]) == 2
    server.close()
    return found, grown


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    start = time.perf_counter()
    found, grown = campaign(options.count, options.seed)
    told = ", ".join(f"{status or 'closed'}: {times}" for status, times in sorted(found.items()))
    seconds = time.perf_counter() - start
    print(f"{options.count} requests in {seconds:.0f} s, none failed: {told}; memory + {grown >> 20} MiB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
