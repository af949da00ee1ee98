"""Telling somebody who waits that a kernel is being compiled, which happens once on a machine.

Said on stderr, and only where a person reads along: at a terminal, where the line is wiped away when it is done, or in
a notebook. A script whose output goes to a file or a pipe is not touched, and with CLEARHEAD_QUIET=1 nothing is said.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator

from clearhead.languages import Said

WAIT = Said(
    "clearhead: compiling {kernel} for this processor, once …",
    "clearhead: 이 프로세서에 맞게 {kernel} 컴파일하는 중입니다. 처음 한 번만 합니다 …",
)
# The kernels that take seconds, by the file they are in.
KERNELS = {
    "forward": Said("attention", "어텐션을"),
    "backward": Said("the gradients of attention", "어텐션의 그래디언트 계산을"),
    "observe": Said("looking at attention", "어텐션을 살펴보는 코드를"),
    "windows": Said("weights computed again", "가중치를 다시 구하는 코드를"),
}
VARIABLE = "CLEARHEAD_QUIET"
WIPED = "\r\x1b[K"


@contextlib.contextmanager
def announced(file: str) -> Iterator[None]:
    """Tell whoever reads along that the kernels of a file are being compiled, as long as the block lasts."""
    told = file in KERNELS and _somebody_reads()
    if told:
        _write(WAIT(kernel=KERNELS[file]()) + ("" if sys.stderr.isatty() else "\n"))
    try:
        yield
    finally:
        if told and sys.stderr.isatty():
            _write(WIPED)


def _somebody_reads() -> bool:
    return not os.environ.get(VARIABLE) and sys.stderr is not None and (sys.stderr.isatty() or _in_a_notebook())


def _in_a_notebook() -> bool:
    """Whether a kernel of Jupyter runs this; nothing is loaded to find out."""
    ipython = sys.modules.get("IPython")
    return ipython is not None and hasattr(ipython.get_ipython(), "kernel")


def _write(text: str) -> None:
    """Nobody's attention fails because nobody could be told."""
    with contextlib.suppress(Exception):
        sys.stderr.write(text)
        sys.stderr.flush()
