"""Maps of whole heads, filled strip by strip: the same tiles as those that are computed at once, and bounded."""

from __future__ import annotations

import time
import urllib.request

import numpy as np
import pytest
from tests.page.conftest import seen

from clearhead.matrices import StoredMatrix
from clearhead.page import filling as room
from clearhead.page.answers import Answers, asked
from clearhead.page.content import gathered
from clearhead.page.filling import Filling, Fillings, level_to_fill
from clearhead.page.reading import Layer
from clearhead.page.server import Server
from clearhead.page.tiling import tile


@pytest.fixture(scope="module")
def layer():
    return Layer("a", seen(1201, 3, map_size=64))


@pytest.fixture
def small(monkeypatch):
    """As if a tile of 512 × 512 places took long."""
    monkeypatch.setattr(room, "QUICK", 400 * 400)
    monkeypatch.setattr(room, "STRIP", 1201 * 100)


def test_the_level_is_the_one_between_quick_tiles_and_the_map(layer, small):
    assert level_to_fill(layer) == 1
    assert level_to_fill(Layer("b", seen(1201, 1, map_size=601))) is None
    assert level_to_fill(Layer("c", StoredMatrix(layer.matrix.weights(0)))) is None
    assert level_to_fill(Layer("d", seen(300, 1, map_size=0))) is None


def test_at_32768_positions_it_is_the_fifth(layer):
    long = Layer("long", layer.matrix)
    long.n_q = long.n_k = 32_768
    assert level_to_fill(layer) is None
    long.matrix = type("Long", (), {"map_size": 512})()
    assert level_to_fill(long) == 5
    long.matrix = type("Long", (), {"map_size": 1024})()
    assert level_to_fill(long) is None


def test_every_tile_is_the_one_that_would_be_computed(layer, small):
    filling = Filling(layer, 2, 1)
    assert filling.tile(1, 0, 0) is None
    while not filling.is_full:
        filling.fill()
        assert (filling.tile(1, 0, 0) is not None) == (filling.filled >= 256)
    for row in range(3):
        for column in range(3):
            np.testing.assert_allclose(filling.tile(1, row, column), tile(layer, 2, 1, row, column), rtol=1e-6)
    assert filling.tile(2, 0, 0) is None


def test_only_the_head_that_was_opened_last_is_filled_and_few_are_kept(layer, small, monkeypatch):
    monkeypatch.setattr(room, "KEPT", 2 * 4 * 601 * 601)
    fillings = Fillings([layer])
    assert fillings.opened((0, 0))
    assert fillings.opened((0, 1))
    assert not fillings.fill((0, 0))
    while fillings.fill((0, 1)):
        pass
    assert fillings.tile((0, 1), 1, 2, 2) is not None
    assert fillings.tile((0, 0), 1, 0, 0) is None
    assert not fillings.opened((0, 1))
    assert fillings.opened((0, 2))
    assert fillings.size == 2 * 4 * 601 * 601
    assert fillings.tile((0, 0), 1, 0, 0) is None


def test_answers_take_tiles_from_what_is_filled(layer, small, monkeypatch):
    answers = Answers(gathered([("a", layer.matrix)]), "server")
    question = asked("head/0/1/tile/1/2/0?kind=f4")
    before = answers._computed(question)
    answers.fillings.opened((0, 1))
    while answers.fillings.fill((0, 1)):
        pass
    monkeypatch.setattr(Layer, "window", None)  # nothing is computed any more
    assert len(answers._computed(question).body) == len(before.body)


def test_a_server_fills_the_head_that_was_opened(layer, small):
    server = Server(gathered([("a", layer.matrix)]))
    server.start()
    try:
        with urllib.request.urlopen(f"{server.url}api/head/0/2/stats") as reply:
            assert reply.status == 200
        for _ in range(400):
            if server.answers.fillings.tile((0, 2), 1, 2, 2) is not None:
                break
            time.sleep(0.025)
        found = server.answers.fillings.tile((0, 2), 1, 2, 2)
        np.testing.assert_allclose(found, tile(layer, 2, 1, 2, 2), rtol=1e-6)
    finally:
        server.close()
