"""What was found out about a model while it ran: where its heads' output goes. Nothing here needs torch."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class Facts:
    """What was found, by the paths of modules.

    projections: of each layer, its output projection. added: the layers whose projection's output reaches the stream as
    it is. norm, unembedding: the last norm and what follows it. missing: why something was not found, in words. called:
    the layers that were called, kept or not.
    """

    projections: dict[str, str] = field(default_factory=dict)
    added: list[str] = field(default_factory=list)
    norm: str | None = None
    unembedding: str | None = None
    missing: dict[str, str] = field(default_factory=dict)
    called: list[str] = field(default_factory=list)

    def left_out(self, names: list[str]) -> list[str]:
        """The layers that were called and are not among these names."""
        kept = {name.partition(":")[0] for name in names}
        return [path for path in self.called if path not in kept]
