"""What reaches the terminal while Ray runs: its own library's line does not, and Ctrl-C is answered at once.

Both are of one concern: what goes to stderr is thrown away while Ray starts, so an answer waits until that is over; Ray
takes seconds to end, and for that it does not wait.
"""

from __future__ import annotations

import contextlib
import os
import queue
import signal
import threading
from collections.abc import Callable, Iterator
from types import FrameType

_muted = threading.Lock()  # held while what goes to stderr is thrown away


@contextlib.contextmanager
def muted() -> Iterator[None]:
    """Without the line that Ray's own library writes to the terminal when it hears that it is to be quiet."""
    with _muted:
        kept, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 2)
        try:
            yield
        finally:
            os.dup2(kept, 2)
            os.close(kept)
            os.close(nowhere)


@contextlib.contextmanager
def answering(say: Callable[[], None]) -> Iterator[None]:
    """While it lasts, Ctrl-C has something said, at once and before it stops what runs.

    A thread says it, as whoever is interrupted may be writing, or hold what one has to hold to write.
    """
    before = signal.getsignal(signal.SIGINT)
    if not callable(before) or threading.current_thread() is not threading.main_thread():
        yield  # Ctrl-C is ignored, or is not for us to hear
        return
    heard: queue.SimpleQueue[bool] = queue.SimpleQueue()  # the one that a signal may put something into

    def answer(number: int, frame: FrameType | None) -> None:
        heard.put(True)
        before(number, frame)

    def wait() -> None:
        if heard.get():
            with _muted:
                say()

    voice = threading.Thread(target=wait, daemon=True)
    voice.start()
    signal.signal(signal.SIGINT, answer)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        heard.put(False)
        voice.join()
