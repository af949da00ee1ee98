"""A bounded memory of what was worked out before: the oldest goes first. Several threads may ask and add at once."""

from __future__ import annotations

import os
import threading
from collections.abc import Hashable
from typing import Generic, TypeVar

Value = TypeVar("Value")


class Remembered(Generic[Value]):
    """At most so many values, which together take at most so many bytes."""

    def __init__(self, most: int, most_bytes: int = 2**24) -> None:
        self.most, self.most_bytes = most, most_bytes
        self.values: dict[Hashable, Value] = {}
        self.sizes: dict[Hashable, int] = {}
        self.bytes = 0  # the sum of the sizes
        self._new_lock()
        if hasattr(os, "register_at_fork"):  # a lock that another thread holds is never let go in a child
            os.register_at_fork(after_in_child=self._new_lock)

    def _new_lock(self) -> None:
        self._lock = threading.Lock()

    def get(self, key: Hashable) -> Value | None:
        return self.values.get(key)

    def keep(self, key: Hashable, value: Value, size: int = 0) -> None:
        """Remember a value that takes `size` bytes, unless that alone is too much."""
        if size > self.most_bytes:
            return
        with self._lock:
            while self.values and (len(self.values) >= self.most or self.bytes + size > self.most_bytes):
                oldest = next(iter(self.values))
                del self.values[oldest]
                self.bytes -= self.sizes.pop(oldest)
            self.bytes += size - self.sizes.get(key, 0)
            self.sizes[key], self.values[key] = size, value

    def forget(self) -> None:
        """As if nothing had been remembered."""
        with self._lock:
            self.values.clear()
            self.sizes.clear()
            self.bytes = 0
