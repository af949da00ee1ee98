"""The folder in which a trace is made: what it takes, and what becomes of it."""

from __future__ import annotations

import subprocess
import sys
import threading

import numpy as np
import pytest
import torch
import transformers as t
from tests.hf.models import BOTH, inputs, made, tokens

import clearhead as ch
from clearhead.traces import storing
from clearhead.traces.scratch import ENDING, Scratch


def size_of(folder):
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def test_arrays_come_back(tmp_path):
    arrays = [np.arange(7.0), np.ones((3, 5), np.float16), np.zeros((2, 0)), np.arange(12).reshape(3, 4).T]
    with Scratch(tmp_path / "x") as scratch:
        owners = ["a", "b", "a", "b"]
        found = [scratch.put(array, owner) for array, owner in zip(arrays, owners, strict=True)]
        for got, array in zip(found, arrays, strict=True):
            np.testing.assert_array_equal(got, array)
            assert got.dtype == array.dtype
        before = size_of(tmp_path)
        scratch.forget("b")
        scratch.forget("nobody")
        assert size_of(tmp_path) < before
        np.testing.assert_array_equal(found[0], arrays[0])
    assert list(tmp_path.iterdir()) == []


def test_it_takes_the_room_of_the_trace_and_of_one_layer(tmp_path, monkeypatch):
    """And not that of the trace twice, as long as nobody looks at it before."""
    torch.manual_seed(0)
    sizes = {"hidden_size": 64, "num_attention_heads": 4, "intermediate_size": 16, "vocab_size": 99}
    model = t.LlamaModel(t.LlamaConfig(**sizes, num_hidden_layers=12)).eval()
    most, put = 0, storing.Writer.put

    def measured(writer, name, array):
        nonlocal most
        put(writer, name, array)
        writer.file.flush()
        most = max(most, size_of(tmp_path))

    monkeypatch.setattr(storing.Writer, "put", measured)
    path = tmp_path / "x.safetensors"
    with torch.no_grad(), ch.trace(model, keep=path, top_k=1, map_size=4):
        model(tokens(2, 257))
        running = size_of(tmp_path)
    whole = path.stat().st_size
    layer = running / 12
    assert running > whole / 2  # queries and keys are most of it
    assert most < whole + 1.1 * layer, (most, whole, layer)


def test_queries_of_a_decoder_are_still_known_when_its_own_layers_are_written(tmp_path):
    """Which positions of a target are padding is told by layers that are gone when the last one is written."""
    given = inputs("bart", "right")
    real = torch.ones(3, 7, dtype=torch.long)
    real[1, 5:] = 0
    given["decoder_attention_mask"] = real
    assert "bart" in BOTH
    with torch.no_grad(), ch.trace(made("bart")) as expected:
        made("bart")(**given)
    with torch.no_grad(), ch.trace(made("bart"), keep=tmp_path / "x.safetensors") as trace:
        made("bart")(**given)
    for name in expected.names:
        got, wanted = trace.sequences[1][name], expected.sequences[1][name]
        assert (got.n_q, got.n_k) == (wanted.n_q, wanted.n_k)
        np.testing.assert_array_equal(got.weights(), wanted.weights())
    assert trace.sequences[1].cross[1].n_q == 5


class TestLeftOver:
    def leave(self, tmp_path, name="x.safetensors"):
        """What a process that is killed leaves: a folder whose lock nobody holds."""
        folder = tmp_path / f".{name}.0123456789abcdef{ENDING}"
        folder.mkdir()
        (folder / "lock").touch()
        (folder / "0").write_bytes(b"half of it")
        return folder

    @pytest.mark.parametrize("name", ["x.safetensors", "odd [1]*.safetensors"])
    def test_is_cleared_away_by_the_next_one(self, tmp_path, name):
        left, other = self.leave(tmp_path, name), self.leave(tmp_path, "y.safetensors")
        with Scratch(tmp_path / name):
            assert not left.exists()
            assert other.exists()

    def test_but_not_while_somebody_is_at_work_in_it(self, tmp_path):
        pytest.importorskip("fcntl")
        with Scratch(tmp_path / "x") as first:
            with Scratch(tmp_path / "x") as second:
                assert first.folder.is_dir()
                assert second.folder.is_dir()
            assert first.folder.is_dir()


def test_two_that_write_to_one_place_at_once(tmp_path):
    """Each has a folder of its own, and the last to end is the file that stays."""
    path, failures = tmp_path / "x.safetensors", []

    def run():
        try:
            with torch.no_grad(), ch.trace(made("llama"), keep=path):
                made("llama")(tokens(1))
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=run) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert [x.name for x in tmp_path.iterdir()] == ["x.safetensors"]
    ch.load_trace(path)[0].weights()


MANY_STEPS = """
import resource, sys
import numpy as np, torch, transformers as t
import clearhead as ch

torch.manual_seed(0)
model = t.GPT2LMHeadModel(t.GPT2Config(n_embd=16, n_head=2, n_layer=2, vocab_size=50, n_positions=64)).eval()
ids = torch.arange(1, 6)[None]
def generate():
    model.generate(ids, max_new_tokens=40, min_new_tokens=40, do_sample=False, pad_token_id=0)
with ch.trace(model) as expected:
    generate()
resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
with ch.trace(model, keep=sys.argv[1], values=True) as trace:
    generate()
np.testing.assert_array_equal(trace[1].weights(), expected[1].weights())
print(trace[1].n_q)
"""


def test_a_generation_of_many_steps_holds_few_files_open(tmp_path):
    pytest.importorskip("resource")
    command = [sys.executable, "-c", MANY_STEPS, str(tmp_path / "x.safetensors")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["44"]


def test_what_was_kept_for_a_file_that_did_not_come_is_gone(tmp_path):
    def stopped():
        with ch.trace(made("llama"), keep=tmp_path / "x.safetensors") as trace, torch.no_grad():
            made("llama")(tokens(1))
            seen.append(trace)
            raise RuntimeError("stopped")

    seen = []
    with pytest.raises(RuntimeError, match="stopped"):
        stopped()
    with pytest.raises(FileNotFoundError, match='did not end well, and no file came of it; keep="memory"'):
        seen[0][0].weights()


def test_values_of_a_batch_are_joined_once():
    with ch.trace(made("llama"), values=True) as trace:
        made("llama").generate(tokens(3), max_new_tokens=3, min_new_tokens=3, do_sample=False, pad_token_id=0)
    take = trace._takes[0]
    one, other = (take.piece("model.layers.0.self_attn", entry).v for entry in (0, 1))
    assert one.base is other.base is not None


def test_the_place_is_the_one_of_the_beginning(tmp_path, monkeypatch):
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path)
    with ch.trace(made("llama"), keep="x.safetensors"), torch.no_grad():
        made("llama")(tokens(1))
        monkeypatch.chdir(tmp_path / "other")
    assert (tmp_path / "x.safetensors").is_file()


def test_a_lock_that_cannot_be_had_leaves_no_folder(tmp_path, monkeypatch):
    fcntl = pytest.importorskip("fcntl")

    def fails(*_):
        raise OSError("no locks here")

    monkeypatch.setattr(fcntl, "flock", fails)
    with pytest.raises(OSError, match="no locks here"):
        Scratch(tmp_path / "x")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_without_a_lock_is_cleared_away(tmp_path):
    pytest.importorskip("fcntl")
    left = tmp_path / f".x.0123456789abcdef{ENDING}"
    left.mkdir()
    with Scratch(tmp_path / "x"):
        assert not left.exists()
