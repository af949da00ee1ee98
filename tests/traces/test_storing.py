"""Traces in files: all of it comes back, at once; what is damaged, foreign or newer is said to be so."""

from __future__ import annotations

import json
import os
import signal
import struct
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.numpy import save_file
from tests.hf.models import inputs, made, tokens
from tests.text.test_labels import word_piece

import clearhead as ch
from clearhead.traces.result import Trace
from clearhead.traces.storing import KEY, opened

STATISTICS = ("lse", "entropy", "max_weight", "received", "distance", "on_first", "on_self")


def same(got, expected):
    for name in STATISTICS:
        np.testing.assert_array_equal(getattr(got, name), getattr(expected, name))
    np.testing.assert_array_equal(got.top_k.indices, expected.top_k.indices)
    np.testing.assert_array_equal(got.top_k.weights, expected.top_k.weights)
    np.testing.assert_array_equal(got.observed.map_sum, expected.observed.map_sum)
    np.testing.assert_array_equal(got.weights(), expected.weights())
    np.testing.assert_array_equal(got.tile(size=4), expected.tile(size=4))
    assert (got.tokens and got.tokens.keys) == (expected.tokens and expected.tokens.keys)


@pytest.fixture(scope="module")
def traced():
    model = made("llama")
    with ch.trace(model, top_k=3, map_size=4) as trace, torch.no_grad():
        model(**inputs("llama", "left"))
    return trace


@pytest.fixture
def saved(traced, tmp_path):
    path = tmp_path / "trace.safetensors"
    traced.save(path)
    return path


@pytest.mark.parametrize("name", ["llama", "gpt_oss", "gemma2", "t5", "vit"])
def test_all_of_it_comes_back(name, tmp_path):
    model = made(name)
    given = inputs(name, "left" if name == "llama" else None)
    with ch.trace(model, top_k=3, map_size=4) as trace, torch.no_grad():
        model(**given)
        model(**given)
    trace.save(tmp_path / "x.safetensors")
    loaded = ch.load_trace(str(tmp_path / "x.safetensors"))
    assert loaded.names == trace.names
    assert repr(loaded) == repr(trace)
    assert len(loaded.calls) == 2
    for got, expected in zip(loaded.calls[1].sequences, trace.calls[1].sequences, strict=True):
        for layer in trace.names:
            same(got[layer], expected[layer])
            assert str(got[layer].patterns()) == str(expected[layer].patterns())


@pytest.mark.parametrize("name", ["llama", "t5"])
def test_one_sequence_alone(name, tmp_path):
    """What is written of a sequence is that sequence; labels too, and it can be written once more."""
    with ch.trace(made(name), top_k=3, map_size=4) as trace, torch.no_grad():
        made(name)(**inputs(name, "right"))
    trace.save(tmp_path / "all.safetensors")
    for source in (trace, ch.load_trace(tmp_path / "all.safetensors")):
        source.sequences[1].save(tmp_path / "one.safetensors")
        loaded = ch.load_trace(tmp_path / "one.safetensors")
        assert len(loaded.sequences) == 1
        np.testing.assert_array_equal(loaded.ids(), trace.sequences[1].ids())
        for path in trace.names:
            same(loaded[path], trace.sequences[1][path])
    loaded.sequences[0].save(tmp_path / "again.safetensors")
    assert (tmp_path / "again.safetensors").read_bytes() == (tmp_path / "one.safetensors").read_bytes()


def test_labels_without_a_text_are_written_again(tmp_path):
    """As in files of the first version."""
    tokenizer, text = word_piece(), "The cat."
    with ch.trace(made("llama")) as trace, torch.no_grad():
        made("llama")(torch.tensor([tokenizer(text)["input_ids"]]))
    expected = trace.label(tokenizer, text)[0].tokens.keys
    trace.save(tmp_path / "x.safetensors")
    for _ in range(2):
        loaded = ch.load_trace(tmp_path / "x.safetensors")
        for take in loaded._takes:
            take.sequences[0].pop("names", None)  # in the first version there were labels alone
        assert loaded[0].tokens.keys == expected
        loaded.save(tmp_path / "x.safetensors")
    assert "[CLS]" in expected
    assert ch.load_trace(tmp_path / "x.safetensors")[0].tokens.keys == expected


def test_masks_that_are_not_runs(tmp_path):
    ids, generator = tokens(1), torch.Generator().manual_seed(1)
    allowed = (torch.rand(1, 4, 11, 11, generator=generator) < 0.6) | torch.eye(11, dtype=torch.bool)
    with ch.trace(made("llama")) as trace, torch.no_grad():
        made("llama")(ids, attention_mask=allowed)
    trace.save(tmp_path / "x.safetensors")
    same(ch.load_trace(tmp_path / "x.safetensors")[1], trace[1])


def test_bfloat16_and_a_generation(tmp_path):
    model = type(made("llama"))(made("llama").config).to(torch.bfloat16).eval()
    with ch.trace(model) as trace:
        model.generate(tokens(1), max_new_tokens=4, do_sample=False, pad_token_id=0)
    trace.save(tmp_path / "x.safetensors")
    loaded = ch.load_trace(tmp_path / "x.safetensors")
    assert loaded[0].inputs[0].dtype.name == "bfloat16"
    same(loaded[0], trace[0])


def test_a_sequence_of_nothing_but_padding(tmp_path):
    model, ids = made("llama"), tokens(2)
    real = torch.ones_like(ids)
    real[1] = 0
    with ch.trace(model) as trace, torch.no_grad():
        model(ids, attention_mask=real)
    trace.save(tmp_path / "x.safetensors")
    loaded = ch.load_trace(tmp_path / "x.safetensors")
    same(loaded.sequences[0][1], trace.sequences[0][1])
    assert (loaded.sequences[1][1].n_q, loaded.sequences[1][1].n_k) == (0, 0)


def test_written_as_the_model_runs(tmp_path):
    model = made("gemma3")
    given = inputs("gemma3", "left")
    with ch.trace(model) as expected:
        model.generate(**given, max_new_tokens=4, do_sample=False, pad_token_id=0)
    path = tmp_path / "x.safetensors"
    with ch.trace(model, keep=path) as trace:
        model.generate(**given, max_new_tokens=4, do_sample=False, pad_token_id=0)
        assert not path.exists()
        (running,) = tmp_path.iterdir()
        assert sum(x.stat().st_size for x in running.iterdir()) > 0
        assert isinstance(np.asarray(trace._takes[0].forward.layers[trace.names[0]].parts[0].q).base, np.memmap)
    assert [x.name for x in tmp_path.iterdir()] == ["x.safetensors"]
    for found in (trace, ch.load_trace(path)):
        same(found.sequences[1][1], expected.sequences[1][1])


def test_a_block_that_fails_leaves_no_file(tmp_path):
    with pytest.raises(KeyError), ch.trace(made("llama"), keep=tmp_path / "x.safetensors"):
        raise KeyError
    assert list(tmp_path.iterdir()) == []


def test_a_trace_that_could_not_be_opened_is_not_written(traced, tmp_path, monkeypatch):
    """safetensors has a longest header."""
    path = tmp_path / "x.safetensors"
    monkeypatch.setattr("clearhead.traces.storing.MOST_ROOM", 80_000)
    with pytest.raises(ValueError, match=r"too long for one file: .* its 1 forwards .* trace.calls\[0\].save\(path\)"):
        traced.save(path)
    assert list(tmp_path.iterdir()) == []


def test_room_is_left_for_what_is_said_of_the_model(traced, tmp_path):
    said = {"note": '"' * 70_000}
    trace = Trace(list(traced._takes), {**traced.about, **said}, top_k=3, map_size=4)  # as its views were made
    trace.facts.missing["x"] = '"' * 70_000
    trace.save(tmp_path / "x.safetensors")
    loaded = ch.load_trace(tmp_path / "x.safetensors")
    assert (loaded.about["note"], loaded.facts.missing["x"]) == (said["note"], '"' * 70_000)


class TestBadFiles:
    def test_every_section_damaged_in_turn(self, saved):
        whole = saved.read_bytes()
        (room,) = struct.unpack("<Q", whole[:8])
        header = json.loads(whole[8 : 8 + room])
        header.pop("__metadata__")
        places = {"length": 1, "header": 9, "description": 8 + whole[8:].index(KEY.encode()) + 20}
        for place in places.values():
            saved.write_bytes(whole[:place] + bytes([whole[place] ^ 0xFF]) + whole[place + 1 :])
            with pytest.raises(ValueError, match=r"not a whole safetensors file|damaged|not a trace"):
                ch.load_trace(saved)
        for name, entry in header.items():
            if entry["data_offsets"][0] == entry["data_offsets"][1]:
                continue
            place = 8 + room + entry["data_offsets"][0]
            saved.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
            call, entry, layer = name.split("/")[:3]
            assert call == "0"
            with pytest.raises(ValueError, match=rf"is damaged: {name} is not what was written"):
                ch.load_trace(saved).sequences[int(entry)][layer]

    @pytest.mark.parametrize("share", [0.0, 0.001, 0.3, 0.999])
    def test_cut_short(self, saved, share):
        content = saved.read_bytes()
        saved.write_bytes(content[: int(len(content) * share)])
        with pytest.raises(ValueError, match="not a whole safetensors file"):
            ch.load_trace(saved)

    def test_foreign(self, tmp_path):
        save_file({"x": np.zeros(3)}, tmp_path / "other.safetensors")
        with pytest.raises(ValueError, match="is not a trace but holds something else"):
            ch.load_trace(tmp_path / "other.safetensors")
        (tmp_path / "text").write_text("no safetensors")
        with pytest.raises(ValueError, match="not a whole safetensors file"):
            ch.load_trace(tmp_path / "text")

    def test_newer(self, tmp_path):
        told = json.dumps({"kind": "trace", "version": 99, "clearhead": "7.0"})
        save_file({"x": np.zeros(3)}, tmp_path / "new.safetensors", {KEY: told})
        with pytest.raises(
            ValueError, match=r"written by clearhead 7.0, in version 99 .* reads versions 1, 2, 3; install"
        ):
            ch.load_trace(tmp_path / "new.safetensors")

    def test_not_there(self, tmp_path, traced):
        with pytest.raises(FileNotFoundError, match=r"there is no file .*trace.save\(path\) writes one"):
            ch.load_trace(tmp_path / "nothing")
        with pytest.raises(IsADirectoryError, match="is a folder; a trace is one file"):
            traced.save(tmp_path)
        with pytest.raises(FileNotFoundError, match="there is no folder"):
            traced.save(tmp_path / "no" / "x.safetensors")

    def test_only_numbers_and_text_are_in_it(self, saved):
        """Nothing that could run: opening needs no pickle."""
        assert b"pickle" not in saved.read_bytes()
        assert opened(saved)[1]["kind"] == "trace"


KILLED = """
import sys, time, torch
from pathlib import Path
from tests.hf.models import made, tokens
import clearhead as ch
path, when = Path(sys.argv[1]), sys.argv[2]
model = made("llama")
if when == "running":
    with ch.trace(model, keep=path):
        model(tokens())
        print("ready", flush=True)
        time.sleep(60)
else:
    from clearhead.traces import storing
    with ch.trace(model) as trace:
        model(tokens())
    put = storing.Writer.put
    def slowly(self, name, array):
        put(self, name, array)
        self.file.flush()
        if len(self.header) == 7:
            print("ready", flush=True)
            time.sleep(60)
    storing.Writer.put = slowly
    trace.save(path)
"""


@pytest.mark.parametrize("when", ["running", "saving"])
def test_killed_in_the_middle(when, tmp_path, saved):
    """What was there before is still there, whole, and beside it only a file that nobody takes for a trace."""
    before = saved.read_bytes()
    root = str(Path(__file__).parents[2])
    places = os.pathsep.join([str(Path(ch.__file__).parents[1]), root])
    process = subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", KILLED, str(saved), when],
        stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": places},
    )  # fmt: skip
    assert process.stdout.readline().strip() == "ready"
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert saved.read_bytes() == before
    ch.load_trace(saved)
    (left,) = [path for path in tmp_path.iterdir() if path != saved]
    assert left.name.startswith(".trace.safetensors.")
    assert left.name.endswith(".unfinished")
    ch.load_trace(saved).save(saved)
    assert [path.name for path in tmp_path.iterdir()] == [saved.name]  # the next one clears it away


def test_opening_does_not_read(tmp_path, saved):
    """A file as large as 8 GB of holes opens in the time of its header."""
    content = saved.read_bytes()
    (room,) = struct.unpack("<Q", content[:8])
    header = json.loads(content[8 : 8 + room])
    told = json.loads(header["__metadata__"][KEY])
    told["checksums"].append(0)
    end = max(x["data_offsets"][1] for name, x in header.items() if name != "__metadata__")
    header["huge"] = {"dtype": "U8", "shape": [8 << 30], "data_offsets": [end, end + (8 << 30)]}
    header["__metadata__"][KEY] = json.dumps(told)
    told = json.dumps(header).encode().ljust(room)
    large = tmp_path / "large.safetensors"
    with large.open("wb") as file:
        file.write(struct.pack("<Q", room) + told + content[8 + room :])
        file.truncate(8 + room + end + (8 << 30))
    start = time.perf_counter()
    trace = ch.load_trace(large)
    assert time.perf_counter() - start < 2
    same(trace.sequences[0][0], ch.load_trace(saved).sequences[0][0])
