"""Weights that were written out, n × n, as pieces like any other: a weight w is a score log w."""

from __future__ import annotations

import numpy as np

from clearhead.traces.pieces import Piece
from clearhead.traces.stacking import run_of


class Written:
    """A forward of which the weights were written out: (b, h, n_q, n_k) by name."""

    def __init__(
        self,
        weights: dict[str, np.ndarray],
        real: np.ndarray | None,
        ids: np.ndarray | None,
        *,
        slow: bool = True,
        prompts: dict[str, int] | None = None,
    ) -> None:
        self.prompts = prompts or {}
        self.weights, self.real, self._ids, self.slow = weights, real, ids, slow
        self.names = list(weights)
        self.batch = max((len(x) for x in weights.values()), default=0)
        self._pieces: dict[tuple[str, int], Piece] = {}

    def piece(self, name: str, entry: int) -> Piece:
        if (name, entry) not in self._pieces:
            weights = self.weights[name][entry]
            queries, keys = (self._places(entry, n) for n in weights.shape[-2:])
            own = weights[:, queries.start : queries.stop, keys.start : keys.stop]
            own = own.astype(np.float64 if own.dtype == np.float64 else np.float32)
            h, n_q, n_k = own.shape
            with np.errstate(divide="ignore"):  # log 0 is a key that is masked
                scores = np.log(own)
            nothing = np.zeros((h, max(n_q, n_k), 1), own.dtype)
            self._pieces[name, entry] = Piece(
                nothing[:, :n_q],
                nothing[:, :n_k],
                bias=scores,
                scale=1.0,
                slow=self.slow,
                prompt=self.prompts.get(name),
            )
        return self._pieces[name, entry]

    def scales(self, entry: int) -> np.ndarray | None:
        """By how much the last norm stretched each position, which is not known here."""
        return None

    def _places(self, entry: int, n: int) -> range:
        fits = self.real is not None and self.real.shape[-1] == n
        run = run_of(self.real[entry]) if fits and self.real is not None else None
        return range(n) if run is None else run

    def ids(self, entry: int) -> tuple[np.ndarray | None, np.ndarray | None]:
        if self._ids is None:
            return None, None
        run = self._places(entry, self._ids.shape[-1])
        return self._ids[entry][run.start : run.stop], None

    def readings(self, entry: int) -> tuple[None, None]:
        return None, None

    def image(self, entry: int) -> None:
        return None
