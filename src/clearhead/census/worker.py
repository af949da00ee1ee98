"""What a worker of Ray's does: it keeps the model, and makes a row of each shard that it is given."""

from __future__ import annotations

from typing import Any

import numpy as np

from clearhead.census.corpus import Shard
from clearhead.census.rows import as_parquet
from clearhead.census.survey import Settings, survey


class Surveyor:
    """A class for `map_batches`: made once in an actor, and called with one shard at a time."""

    def __init__(self, model: str, settings: Settings) -> None:
        import torch

        import clearhead
        from clearhead.traces.command import loaded

        # As many threads in any worker: another number would add up torch's products in another order.
        torch.set_num_threads(settings.threads)
        clearhead.set_num_threads(settings.threads)
        self.settings = settings
        self.model, self.tokenizer = loaded(model, with_tokenizer=True)

    def __call__(self, batch: dict[str, Any]) -> dict[str, Any]:
        shard = Shard.from_json(str(batch["shard"][0]))
        row = survey(shard, self.model, self.tokenizer, self.settings)
        return {
            "number": np.array([shard.number]),
            "documents": np.array([shard.documents]),
            "tokens": np.array([row.tokens]),
            "row": np.array([as_parquet(row)], object),
        }
