"""Looking takes memory in proportion to the length: shown under a limit on the address space."""

from __future__ import annotations

import os

import pytest

from ..kernels.processes import run

# What the process may use from here on, besides what is there.
LIMIT = """
    import resource
    from clearhead.views import look, rollout, flow
    def limit(extra):
        status = dict(line.split(":", 1) for line in open("/proc/self/status"))
        used = int(status["VmSize"].split()[0]) * 1024
        resource.setrlimit(resource.RLIMIT_AS, (used + extra, used + extra))
    small = look(*arrays(2, 400), mask=causal())  # loads what there is to load
    small.patterns(np.arange(400) % 7), small.grouped(np.arange(400)), rollout(small, 3), flow(small, 3)
"""
# Queries here and there, weight by weight, as they must be.
RIGHT = """
    def right(view, q, k, n, head=5):
        key = np.arange(n)
        for i in (0, 1, 1000, n - 1):
            scores = k[head, : i + 1].astype(float) @ q[head, i].astype(float) / np.sqrt(q.shape[-1])
            weights = np.exp(scores - scores.max())
            weights /= weights.sum()
            assert abs(view.entropy[head, i] + (weights * np.log(weights)).sum()) < 1e-4, i
            assert abs(view.max_weight[head, i] - weights.max()) < 1e-6, i
            assert abs(view.distance[head, i] - weights @ key[i::-1]) < 1e-5 * n, i
            assert np.abs(view.row(i, head=head)[: i + 1] - weights).max() < 1e-6, i
            assert np.isclose(weights[view.top_k.indices[head, i, 0]], weights.max(), rtol=1e-5), i
        assert np.abs(view.received.sum(axis=-1) / n - 1).max() < 1e-4
        assert np.abs(view.on_self[head, 0] - 1) < 1e-6
"""
# The address space has run out before a matrix could be made.
NO_MATRIX = """
    try:
        np.empty((n, n), np.float32)
        print("there was no limit")
    except MemoryError:
        print("done")
"""
ALONE = {"OPENBLAS_NUM_THREADS": "1", "CLEARHEAD_NUM_THREADS": "2"}

pytestmark = pytest.mark.skipif(
    not os.path.exists("/proc/self/status"), reason="address space is measured by way of /proc"
)


def test_looking_at_65536_tokens():
    """8 heads, causal: 128 GiB of weights, in 400 MiB besides the inputs.

    Narrow heads, to be done soon; at d = 64 the output takes 96 MiB more, for which room is left.
    """
    code = """
        n = 65_536
        q, k, v = arrays(8, n, d=16)
        limit(304 * 2**20)
        right(look(q, k, v, mask=causal()), q, k, n)
    """
    assert run(LIMIT, RIGHT, code, NO_MATRIX, timeout=600, **ALONE) == "done"


def test_patterns_groups_and_rollouts_of_16411_tokens():
    """Two heads: 2 GiB of weights, in 160 MiB. Tokens come back again and again."""
    code = """
        n = 16_411
        q, k, v = arrays(2, n, d=16)
        limit(160 * 2**20)
        view = look(q, k, v, mask=causal())
        found = view.patterns(np.arange(n) % 3)
        assert found.labels.tolist() == ["uniform"] * 2, found
        words = view.grouped(np.arange(n) // 83)
        assert np.abs(words.sum(axis=-1) - 1).max() < 1e-5
        views = [view, view]
        assert abs(rollout(views, 9000)[7] - flow(views, 7)[9000]) < 1e-9
        assert abs(rollout(views, n - 1).sum() - 1) < 1e-4
        assert np.abs(view.average().mass() - 1).max() < 1e-4
    """
    assert run(LIMIT, code, NO_MATRIX, timeout=600, **ALONE) == "done"
