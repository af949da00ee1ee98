"""What models of every architecture are called with: inputs by their names, in the few forms that such names have.

A form that does not fit is an error of the model's, so that all of them are tried, the most common one first.
"""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Iterator
from typing import Any

import torch
import transformers

BATCH, TOKENS, DECODED = 2, 11, 7
FRAMES, SAMPLES = 4, 4000
GRID = (1, 4, 4)  # an image in patches: times, rows, columns
MOST = 48  # ways of calling a model that are tried

Forms = dict[str, list[torch.Tensor]]


def inputs_of(model: transformers.PreTrainedModel) -> Iterator[dict[str, torch.Tensor]]:
    """Ways to call a model; none where there is a name that nothing is known of."""
    takes = inspect.signature(model.forward).parameters
    main = [model.main_input_name] if isinstance(model.main_input_name, str) else list(model.main_input_name)
    main = [name for name in main if name in takes]
    needed = [
        name
        for name, parameter in takes.items()
        if parameter.default is inspect.Parameter.empty and parameter.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD
    ]
    forms = forms_of(model.config)
    least = list(dict.fromkeys([*main, *needed]))
    if not least:  # everything may be left out: what is first in line is what it is about
        least = [next((name for name in takes if name in forms), "")]
    if "decoder_input_ids" in takes:
        least.append("decoder_input_ids")
    for names in _sets_of_names(list(dict.fromkeys(least)), list(takes)):
        if not all(name in forms for name in names):
            continue
        for chosen in itertools.islice(itertools.product(*(forms[name] for name in names)), MOST):
            yield dict(zip(names, chosen, strict=True))


def _sets_of_names(least: list[str], takes: list[str]) -> Iterator[list[str]]:
    """What is given together: what is needed, with padding if there are tokens, with the other senses, with all."""
    padded = ["attention_mask"] if "input_ids" in least and "attention_mask" in takes else []
    senses = [x for x in ("input_ids", "pixel_values", "input_values", "input_features") if x in takes]
    shapes = [x for x in ("image_grid_thw", "grid_thw", "spatial_shapes", "pixel_attention_mask") if x in takes]
    about_sound = [x for x in ("input_features_mask", "audio_mask", "attention_mask") if x in takes]
    for more in (padded, [], shapes, about_sound, [*padded, *senses], [*padded, *senses, *shapes], ["bbox"]):
        if all(name in takes for name in more):
            yield list(dict.fromkeys([*least, *more]))


def forms_of(config: Any) -> Forms:
    """Every name that is known, with the shapes that it may stand for."""
    generator = torch.Generator().manual_seed(5)

    def drawn(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=generator)

    def ids(*shape: int) -> torch.Tensor:
        return torch.randint(3, 90, shape, generator=generator)

    real = torch.ones(BATCH, TOKENS, dtype=torch.long)
    real[0, -(TOKENS // 3) :] = 0
    words = [ids(BATCH, TOKENS), *(ids(BATCH, TOKENS, n) for n in _streams(config))]
    decoded = [ids(BATCH, DECODED), *(ids(BATCH, DECODED, n) for n in _streams(config))]
    images, films, patches = _images(config, drawn)
    forms = {
        "input_ids": words, "attention_mask": [real], "decoder_input_ids": decoded, "qformer_input_ids": words[:1],
        "text_ids": words[:1], "bbox": [torch.zeros(BATCH, TOKENS, 4, dtype=torch.long)],
        "pixel_values": [*images, *films, *patches], "pixel_values_videos": films, "hidden_states": patches,
        "image_grid_thw": [torch.tensor([GRID])], "grid_thw": [torch.tensor([GRID])],
        "spatial_shapes": [torch.tensor([GRID[1:]] * BATCH)],
        "pixel_attention_mask": [torch.ones(BATCH, GRID[1] * GRID[2], dtype=torch.long)],
        "merge_sizes": [torch.tensor([1])],
    }  # fmt: skip
    return {**forms, **_sounds(config, drawn), **_series(config, drawn)}


def _streams(config: Any) -> list[int]:
    """How many tokens there are at a position, in models that write several at once."""
    inner = [config, *(x for x in vars(config).values() if isinstance(x, transformers.PreTrainedConfig))]
    names = ("num_codebooks", "num_channels", "n_codebooks")
    found = [n for part in inner for name in names if type(n := getattr(part, name, None)) is int and n > 1]
    return list(dict.fromkeys(x for n in found for x in (n, n + 1)))  # tokens of text beside those of sound


def _images(config: Any, drawn: Any) -> tuple[list[torch.Tensor], list[torch.Tensor], list[torch.Tensor]]:
    """Images (b, c, height, width), films (b, frames, c, height, width), and one image in patches (n, numbers)."""
    vision = next((x for name in ("vision_config", "image_config") if (x := getattr(config, name, None))), config)
    size = getattr(vision, "image_size", None) or getattr(config, "image_size", None) or 32
    height, width = size if isinstance(size, (tuple, list)) else (size, size)
    channels = next(
        (n for name in ("num_channels", "in_channels") if type(n := getattr(vision, name, 0)) is int and n), 3
    )
    frames = getattr(vision, "num_frames", None) or getattr(vision, "frames_per_clip", None) or FRAMES
    patch = getattr(vision, "patch_size", 8)
    patch = patch if isinstance(patch, int) else patch[-1]
    n, numbers = GRID[0] * GRID[1] * GRID[2], channels * patch**2
    times = getattr(vision, "temporal_patch_size", 2)
    images = [drawn(BATCH, channels, height, width), drawn(BATCH, channels, 224, 224)]
    films = [drawn(BATCH, frames, channels, height, width), drawn(BATCH, channels, frames, height, width)]
    patches = [drawn(n, numbers * times), drawn(n, numbers), drawn(BATCH, n, numbers), drawn(n, channels, patch, patch)]
    return images, films, patches


def _sounds(config: Any, drawn: Any) -> Forms:
    """Waves (b, samples), and features (b, mel, time) or (b, time, mel)."""
    audio = next((x for name in ("audio_config", "encoder_config") if (x := getattr(config, name, None))), config)
    names = ("num_mel_bins", "feature_size", "input_feat_per_channel", "input_channels", "feature_projection_input_dim",
             "input_dim", "input_feat_size", "n_mels", "num_mels", "input_size")  # fmt: skip
    bins = {
        n: None for part in (audio, config) for name in names if type(n := getattr(part, name, None)) is int and n > 4
    }
    length = 2 * (getattr(audio, "n_window", None) or getattr(audio, "max_source_positions", None) or 24)
    mels = [*bins, *(n for n in (16, 64, 80, 128, 160) if n not in bins)]
    features = [x for n in mels for x in (drawn(BATCH, n, length), drawn(BATCH, length, n))]
    longest = getattr(config, "max_length", None) or length
    waves = [drawn(BATCH, SAMPLES), drawn(BATCH, 1, SAMPLES), *(drawn(BATCH, longest, n) for n in bins)]
    masks = [torch.ones(BATCH, length, dtype=torch.long), torch.ones(BATCH, length, dtype=torch.bool)]
    return {
        "input_features": features, "input_values": waves, "audio_mel": features[1::2], "audio": waves,
        "input_features_mask": masks, "audio_mask": masks[1:], "audio_mel_mask": [~masks[1]],
    }  # fmt: skip


def _series(config: Any, drawn: Any) -> Forms:
    """Series of numbers, with what was observed of them and what is known of the time."""
    context = getattr(config, "context_length", None) or 32
    past = context + max(getattr(config, "lags_sequence", None) or [0])
    ahead = getattr(config, "prediction_length", None) or 4
    known = getattr(config, "num_time_features", 0) or 0
    several = getattr(config, "num_input_channels", 1) or 1
    return {
        "past_values": [drawn(BATCH, past), drawn(BATCH, context, several)],
        "past_time_features": [drawn(BATCH, past, known)], "past_observed_mask": [torch.ones(BATCH, past)],
        "future_values": [drawn(BATCH, ahead)], "future_time_features": [drawn(BATCH, ahead, known)],
    }  # fmt: skip
