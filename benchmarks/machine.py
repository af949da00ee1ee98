"""What the measurements were made on: enough to compare runs by, and nothing that names the machine or its user."""

from __future__ import annotations

import os
import platform
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

PACKAGES = (
    "clearhead",
    "numpy",
    "numba",
    "llvmlite",
    "torch",
    "transformers",
    "onnx",
    "onnxruntime",
    "openvino",
    "jax",
)


def cores() -> int:
    """Those this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def processor() -> str:
    with suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def load() -> float | None:
    """How many cores were busy in the last minute, if the system knows."""
    with suppress(OSError, AttributeError):
        return round(os.getloadavg()[0], 2)
    return None


def vectors() -> str:
    """The instructions that clearhead's kernels are compiled for."""
    from clearhead.kernels.target import TARGET

    return f"{TARGET.name}, {8 * TARGET.vector_bytes}-bit vectors"


def versions() -> dict[str, str]:
    found = {"python": platform.python_version()}
    for package in PACKAGES:
        with suppress(PackageNotFoundError):
            found[package] = version(package)
    return found


def describe() -> dict[str, object]:
    return {
        "processor": processor(),
        "cores": cores(),
        "vectors": vectors(),
        "system": f"{platform.system()} {platform.machine()}",
        "versions": versions(),
    }
