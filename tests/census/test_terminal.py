"""Ctrl-C is answered at once, but not into the void that Ray's own line goes to."""

from __future__ import annotations

import os
import signal
import threading
import time

import pytest

from clearhead.census.terminal import answering, muted


def interrupt() -> None:
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(20)


def test_ctrl_c_is_answered_and_stops_what_runs():
    said, answered = threading.Event(), []
    before = signal.getsignal(signal.SIGINT)

    def run() -> None:
        try:
            interrupt()
        finally:  # which takes its time
            answered.append(said.wait(20))

    with pytest.raises(KeyboardInterrupt), answering(said.set):
        run()
    assert answered == [True]
    assert signal.getsignal(signal.SIGINT) is before


def test_it_is_said_once_however_often_it_is_pressed():
    said = []
    with answering(lambda: said.append("stopping")):
        for _ in range(2):
            with pytest.raises(KeyboardInterrupt):
                interrupt()
    assert said == ["stopping"]


def test_nothing_is_said_where_nobody_stops_it():
    said = []
    with answering(lambda: said.append("stopping")):
        pass
    assert said == []


def test_what_ignores_ctrl_c_goes_on_to():
    said = []
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with answering(lambda: said.append("stopping")):
            os.kill(os.getpid(), signal.SIGINT)
    finally:
        signal.signal(signal.SIGINT, before)
    assert said == []


def test_an_answer_is_not_thrown_away_with_what_ray_says(capfd):
    def say() -> None:
        os.write(2, b"stopping\n")

    def start() -> None:
        os.write(2, b"of no use to anybody\n")
        interrupt()

    with pytest.raises(KeyboardInterrupt), answering(say), muted():
        start()
    assert capfd.readouterr().err == "stopping\n"
