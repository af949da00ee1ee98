"""Who may ask a server: only a page that it handed out itself, on this machine.

Other programs of this machine do not know the token, which is in the address and compared in constant time. A website
in the same browser that guesses the port, or has its own name resolved to 127.0.0.1, is found out by Host, Origin and
what browsers say of where a request comes from.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import NamedTuple

NAMES = ("127.0.0.1", "localhost")
OURS = ("same-origin", "none")  # what Sec-Fetch-Site says of the page itself, and of an address that was typed
METHODS = ("GET", "HEAD")


class Refusal(NamedTuple):
    """A status of HTTP, and why."""

    status: int
    why: str


class Guard(NamedTuple):
    """What requests have to bring."""

    port: int
    token: str

    def refusal(self, method: str, path: str, headers: Mapping[str, str]) -> Refusal | None:
        """Why a request is refused; None if it is not."""
        if method not in METHODS:
            return Refusal(405, "this is read only: GET or HEAD")
        if headers.get("host", "") not in self._names(""):
            return Refusal(400, "the address must be that of this machine")
        if headers.get("origin", "http://127.0.0.1:" + str(self.port)) not in self._names("http://"):
            return Refusal(403, "asked by another page")
        if headers.get("sec-fetch-site", OURS[0]) not in OURS and not self._is_followed(path, headers):
            return Refusal(403, "asked by another page")
        given = path.removeprefix("/").partition("/")[0]
        if not secrets.compare_digest(given.encode(errors="surrogateescape"), self.token.encode()):
            return Refusal(403, "the address lacks its key; open the one that clearhead printed")
        return None

    def _is_followed(self, path: str, headers: Mapping[str, str]) -> bool:
        """Whether somebody followed a link to the page itself, from JupyterLab for instance, into a window of its own.

        Who has such a link knows the key, which is checked after this; another page cannot read what is in the window.
        """
        asked = (headers.get("sec-fetch-mode"), headers.get("sec-fetch-dest"))
        return path.count("/") == 2 and path.endswith("/") and asked == ("navigate", "document")

    def _names(self, scheme: str) -> tuple[str, ...]:
        return tuple(f"{scheme}{name}:{self.port}" for name in NAMES)
