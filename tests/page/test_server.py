"""The server over real connections: what it answers, whom it refuses, and how it ends."""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from tests.page.conftest import WORDS, seen
from tests.page.test_answers import unframed

from clearhead.languages import RefusedError
from clearhead.page.content import gathered
from clearhead.page.server import Server


@pytest.fixture(scope="module")
def view():
    return seen(1201, 2)


@pytest.fixture(scope="module")
def server(view):
    server = Server(gathered([("a", view), ("b", seen(13, tokens=WORDS))], title="<t>", language="ko"))
    server.start()
    yield server
    server.close()


def get(server: Server, path: str, method: str = "GET", key: str | None = None, **headers: str):
    """An answer with its headers, and its body."""
    connection = http.client.HTTPConnection("127.0.0.1", server.guard.port, timeout=20)
    key = f"/{server.guard.token}" if key is None else key
    connection.request(method, f"{key}{path}", headers={name.replace("_", "-"): x for name, x in headers.items()})
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    return answer, body


def test_the_page_has_a_strict_policy(server):
    answer, body = get(server, "/")
    assert answer.status == 200
    assert answer.getheader("content-type").startswith("text/html")
    policy = answer.getheader("content-security-policy")
    assert "unsafe" not in policy
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "connect-src 'self'" in policy
    assert answer.getheader("x-content-type-options") == "nosniff"
    assert answer.getheader("referrer-policy") == "no-referrer"
    assert answer.getheader("server") is None
    assert b'"dress":"server"' in body
    assert b"<title>&lt;t&gt;</title>" in body


def test_answers_have_marks_and_are_not_sent_twice(server, view):
    answer, body = get(server, "/api/head/0/1/tile/0/3/2?kind=f4")
    assert answer.status == 200
    np.testing.assert_array_equal(unframed(body)[1]["weights"], view.weights(1, slice(768, 1024), slice(512, 768)))
    mark = answer.getheader("etag")
    computed = server.answers.computed
    for given in (mark, f'"x", {mark}'):
        again, nothing = get(server, "/api/head/0/1/tile/0/3/2?kind=f4", if_none_match=given)
        assert (again.status, nothing) == (304, b"")
    assert server.answers.computed == computed
    other, _ = get(server, "/api/head/0/1/tile/0/3/1?kind=f4")
    assert other.getheader("etag") != mark
    assert json.loads(get(server, "/api/trace")[1])["layers"][1]["name"] == "b"


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("", 404), ("/api", 404), ("/api/", 404), ("/api/nothing", 404), ("/api/trace?x", 400), ("/x", 404),
        ("/api/../../../etc/passwd", 404), ("/api/%2e%2e/%2e%2e/etc/passwd", 404), ("/api/head/0/0/row/1201", 404),
        ("/api/head/0/0/tile/0/0/0?kind=%00", 400), ("/api/" + "a" * 5000, 400), ("/api/trace%00", 404),
    ],
)  # fmt: skip
def test_malformed_requests_are_refused_without_a_traceback(server, path, status):
    answer, body = get(server, path)
    assert answer.status == status
    assert b"Traceback" not in body
    assert len(body) < 6000
    assert "unsafe" not in answer.getheader("content-security-policy")


def test_others_are_refused(server):
    assert get(server, "/", key="")[0].status == 403
    assert get(server, "/api/trace", key="/wrong")[0].status == 403
    assert get(server, "/", host="evil.example")[0].status == 400
    assert get(server, "/api/trace", origin="http://evil.example")[0].status == 403
    assert get(server, "/api/trace", sec_fetch_site="cross-site")[0].status == 403
    for method in ("POST", "PUT", "DELETE", "OPTIONS"):
        assert get(server, "/api/trace", method)[0].status == 405
    with socket.socket() as outside:
        assert server.socket.getsockname()[0] == "127.0.0.1"
        outside.settimeout(1)
        own = socket.gethostbyname(socket.gethostname())
        if not own.startswith("127."):
            with pytest.raises(OSError, match="refused"):
                outside.connect((own, server.guard.port))


def test_what_nobody_waits_for_is_not_computed(server, monkeypatch):
    slow, begun = threading.Event(), threading.Event()
    real = server.answers.reply

    def waiting(question):
        begun.set()
        if question.numbers[-1] == 1000:
            slow.wait(10)
        return real(question)

    monkeypatch.setattr(server.answers, "reply", waiting)
    first = threading.Thread(target=get, args=(server, "/api/head/0/0/row/1000"))
    first.start()
    begun.wait(10)
    gone = []
    for query in range(20):  # all of them wait for their turn, and leave
        connection = socket.create_connection(("127.0.0.1", server.guard.port))
        path = f"/{server.guard.token}/api/head/0/0/row/{query}"
        connection.sendall(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{server.guard.port}\r\n\r\n".encode())
        gone.append(connection)
    time.sleep(0.2)
    for connection in gone:
        connection.close()
    time.sleep(0.2)
    computed = server.answers.computed
    slow.set()
    first.join()
    assert get(server, "/api/head/0/0/row/999")[0].status == 200
    assert server.answers.computed == computed + 2


def test_an_error_of_ours_is_no_traceback(server, monkeypatch, capsys):
    def broken(question):
        raise RuntimeError("a secret of this machine")

    monkeypatch.setattr(server.answers, "reply", broken)
    answer, body = get(server, "/api/trace")
    assert (answer.status, body) == (500, b"this went wrong\n")
    time.sleep(0.1)
    assert "Traceback" not in capsys.readouterr().err


def test_a_port_that_is_taken(server):
    with pytest.raises(RefusedError, match=f"port {server.guard.port} cannot be listened to: .*leave it out"):
        Server(gathered([("a", seen(5))]), port=server.guard.port)
    with pytest.raises(RefusedError, match="port 99999 cannot be listened to"):
        Server(gathered([("a", seen(5))]), port=99_999)


def test_two_servers_have_two_keys():
    servers = [Server(gathered([("a", seen(5))])) for _ in range(2)]
    keys = [server.guard.token for server in servers]
    assert keys[0] != keys[1]
    assert min(map(len, keys)) >= 32
    for server in servers:
        server.close()


def test_ctrl_c_ends_it(tmp_path):
    code = (
        "import numpy as np, clearhead as ch\n"
        "q = np.random.default_rng(0).standard_normal((2, 40, 8), np.float32)\n"
        "ch.look(q, q).show(browser=False)\nprint('after')"
    )
    source = str(Path(__file__).parents[2] / "src")
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONPATH": source, "CLEARHEAD_LANG": "en"},
    )  # fmt: skip
    said = process.stdout.readline()
    assert said.startswith("the page is at http://127.0.0.1:")
    assert process.stdout.readline() == "Ctrl-C ends it\n"
    url = said.split()[-1]
    port, key = int(url.split(":")[2].split("/")[0]), url.split("/")[3]
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    connection.request("GET", f"/{key}/api/trace")
    assert connection.getresponse().status == 200
    connection.close()
    process.send_signal(signal.SIGINT)
    out, errors = process.communicate(timeout=20)
    assert (out, errors, process.returncode) == ("after\n", "", 0)
