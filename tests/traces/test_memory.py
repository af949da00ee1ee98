"""32,768 tokens through a model, traced, where the weights of a single head would not fit."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import clearhead

LONG = """
import resource, sys
import numpy as np, torch, transformers as t
import clearhead as ch
torch.set_num_threads(1)
n = 32_768
torch.manual_seed(0)
sizes = {"hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16, "vocab_size": 99}
model = t.LlamaModel(t.LlamaConfig(**sizes, max_position_embeddings=n)).eval()
with torch.no_grad(), ch.trace(model) as trace:
    model(torch.arange(16)[None])  # compiled by now, which maps memory that is not used
trace[0]
mapped = int(next(x for x in open("/proc/self/status") if x.startswith("VmSize")).split()[1]) * 1024
resource.setrlimit(resource.RLIMIT_AS, (mapped + int(sys.argv[1]),) * 2)
ids = torch.randint(99, (1, n))
with torch.no_grad(), ch.trace(model) as trace:
    model(ids)
view = trace[0]
rows = view.weights(head=1, rows=slice(n - 2, n))
assert np.allclose(rows.sum(-1), 1, atol=1e-5)
assert view.received.sum() > 0.99 * n * 2
print("seen", view.n_q, view.entropy.shape)
try:
    np.ones((n, n), np.float32)
except MemoryError:
    print("a matrix does not fit")
"""


def test_32768_tokens_in_one_gibibyte():
    """A head's weights alone would take 4 GiB; all that is allowed, besides what was mapped before, is 1 GiB."""
    places = os.pathsep.join([str(Path(clearhead.__file__).parents[1])])
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", LONG, str(1 << 30)],
        capture_output=True, text=True, check=False, env={**os.environ, "PYTHONPATH": places, "OMP_NUM_THREADS": "1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.splitlines() == ["seen 32768 (2, 32768)", "a matrix does not fit"]
