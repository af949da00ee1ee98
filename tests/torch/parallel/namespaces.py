"""Two machines in one: network namespaces with addresses of their own, two ranks in each, joined by a virtual cable.

python -m tests.torch.parallel.namespaces

Each namespace starts torchrun with the line of the how-to page, and knows the other by its address alone. What the four
ranks get of a call is held to one process. It takes root, and the command `ip`.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[3]
ADDRESSES = ("10.213.77.1", "10.213.77.2")
PORT = 29517
SAME = "the same over two namespaces and four ranks as in one process"
PATIENCE = 300  # seconds


def work() -> None:
    """What each rank does."""
    import torch
    import torch.distributed as dist

    import clearhead.torch as cht
    from clearhead import masks
    from clearhead.torch import parallel
    from clearhead.views.view import look

    dist.init_process_group("gloo")
    torch.manual_seed(0)
    whole = torch.randn(3, 4, 509, 16, dtype=torch.float64)
    mask = masks.causal() & masks.window(100)
    expected = cht.attention(*whole, mask)
    q, k, v = (parallel.shard(x, layout="zigzag") for x in whole)
    found = parallel.gather(parallel.attention(q, k, v, mask, layout="zigzag"), layout="zigzag")
    seen = parallel.look(q, k, v, mask, layout="zigzag").gather()
    alone = look(*whole, mask)
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-14)
    torch.testing.assert_close(seen.entropy, alone.entropy, rtol=0, atol=0)
    torch.testing.assert_close(seen.received, alone.received, rtol=0, atol=1e-13)
    hosts: list[str | None] = [None] * dist.get_world_size()
    dist.all_gather_object(hosts, os.environ["OWN_ADDRESS"])
    if dist.get_rank() == 0:
        print(f"{SAME}: ranks 0 … 3 at {', '.join(map(str, hosts))}", flush=True)
    dist.destroy_process_group()


def why_not() -> str | None:
    """Why there can be no namespaces here; None if there can."""
    if shutil.which("ip") is None:
        return "there is no command `ip` (iproute2 has it)"
    name = f"clearhead-try-{os.getpid()}"
    tried = subprocess.run(["ip", "netns", "add", name], capture_output=True, text=True, check=False)
    if tried.returncode:
        return f"`ip netns add` says: {tried.stderr.strip()}"
    subprocess.run(["ip", "netns", "delete", name], check=True)
    return None


@contextlib.contextmanager
def joined() -> Iterator[list[tuple[str, str]]]:
    """Two namespaces, each with one end of a cable: their names, and those of the ends."""
    number = os.getpid() % 100_000
    places = [(f"clearhead-{number}-{side}", f"ch{number}{side}") for side in "ab"]
    try:
        for name, _ in places:
            _ip("netns", "add", name)
        (first, one), (second, other) = places
        _ip("link", "add", one, "netns", first, "type", "veth", "peer", "name", other, "netns", second)
        for (name, end), address in zip(places, ADDRESSES, strict=True):
            _ip("-n", name, "address", "add", f"{address}/24", "dev", end)
            _ip("-n", name, "link", "set", end, "up")
            _ip("-n", name, "link", "set", "lo", "up")
        yield places
    finally:
        for name, _ in places:
            subprocess.run(["ip", "netns", "delete", name], capture_output=True, check=False)


def _ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True)


def run() -> str:
    """What the first rank says."""
    with joined() as places:
        started = [_launched(name, end, address) for (name, end), address in zip(places, ADDRESSES, strict=True)]
        try:
            said = [process.communicate(timeout=PATIENCE) for process in started]
        finally:
            for process in started:
                process.kill()
    if any(process.returncode for process in started):
        raise RuntimeError("\n".join(f"{out}\n{error}" for out, error in said))
    return said[0][0].strip() or said[1][0].strip()


def _launched(name: str, end: str, address: str) -> subprocess.Popen[str]:
    """torchrun in a namespace."""
    paths = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
    environment = {
        **os.environ, "PYTHONPATH": paths, "OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": end, "OWN_ADDRESS": address,
    }  # fmt: skip
    launcher = [
        sys.executable, "-m", "torch.distributed.run", "--nnodes", "2", "--nproc-per-node", "2", "--rdzv-backend",
        "c10d", "--rdzv-endpoint", f"{ADDRESSES[0]}:{PORT}", "--local-addr", address,
        "--rdzv-conf", f"is_host={str(address == ADDRESSES[0]).lower()}",  # both have one name, so it cannot tell
    ]  # fmt: skip
    return subprocess.Popen(
        ["ip", "netns", "exec", name, *launcher, "-m", "tests.torch.parallel.namespaces", "--work"],
        cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def main() -> None:
    if "--work" in sys.argv:
        work()
        return
    reason = why_not()
    if reason is not None:
        sys.exit(f"not tried: {reason}")
    print(run())


if __name__ == "__main__":
    main()
