"""Who is answered by a server, and who is not."""

from __future__ import annotations

import pytest

from clearhead.page.guarding import Guard

GUARD = Guard(8123, "k3y")


def refused(method: str = "GET", path: str = "/k3y/", **headers: str) -> int | None:
    given = {"host": "127.0.0.1:8123", **{name.replace("_", "-"): value for name, value in headers.items()}}
    found = GUARD.refusal(method, path, given)
    return None if found is None else found.status


def test_the_page_itself_is_answered():
    assert refused() is None
    assert refused("HEAD", "/k3y/api/trace", host="localhost:8123", origin="http://localhost:8123") is None
    assert refused(sec_fetch_site="same-origin") is None
    assert refused(sec_fetch_site="none") is None


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "CONNECT", "get"])
def test_nothing_can_be_written(method):
    assert refused(method) == 405


@pytest.mark.parametrize(
    "host", ["", "evil.example", "127.0.0.1", "127.0.0.1:80", "127.0.0.1:8123.evil.example", "[::1]:8123"]
)
def test_a_name_that_is_not_this_machines_is_refused(host):
    assert refused(host=host) == 400


@pytest.mark.parametrize("origin", ["null", "", "https://evil.example", "https://127.0.0.1:8123", "http://127.0.0.1:9"])
def test_other_pages_are_refused(origin):
    assert refused(origin=origin) == 403


@pytest.mark.parametrize("site", ["cross-site", "same-site", "", "none, none"])
def test_what_a_browser_says_comes_from_elsewhere_is_refused(site):
    assert refused(sec_fetch_site=site) == 403


def test_a_link_from_elsewhere_opens_the_page_and_nothing_else():
    followed = {"sec_fetch_site": "cross-site", "sec_fetch_mode": "navigate"}
    assert refused(**followed, sec_fetch_dest="document") is None
    assert refused(**followed, sec_fetch_dest="iframe") == 403
    assert refused(path="/k3y/api/trace", **followed, sec_fetch_dest="document") == 403
    assert refused(path="/wr0ng/", **followed, sec_fetch_dest="document") == 403
    assert refused(sec_fetch_site="cross-site", sec_fetch_mode="no-cors", sec_fetch_dest="document") == 403


@pytest.mark.parametrize("path", ["/", "", "/k3", "/k3yy/", "/K3Y/", "//k3y/", "/x/k3y/", "/가/", "/\udc80/"])
def test_without_the_key_nothing_is_told(path):
    assert refused(path=path) == 403
