"""The frequencies of RoPE, and how to stretch them to texts longer than those a model was trained on.

Each pair of columns turns at its own speed. Fast pairs tell neighbours apart and have seen every angle many times;
slow pairs tell far things apart and have seen only a part of one turn. Past the trained length the slow ones meet
angles they have never seen, so every method slows them down. They differ in what they do to the fast ones:

    linear          slows all by the same factor, so neighbours blur
    ntk             raises the base: the fastest pair keeps its speed, the slowest is slowed by the whole factor
    dynamic ntk     the same, by just as much as the text at hand needs
    llama3, yarn    keep the fast ones, slow the slow ones by the factor, blend between
    longrope        a factor for each pair, found by search
    proportional    lets the slowest pairs stand still: they carry meaning and no position

Each takes (width, base, length) and its own numbers by keyword, and returns the frequencies (width / 2,) in float64
and the attention factor by which cos and sin are multiplied. `length` is the number of positions in use; most do
not ask. Names of the numbers are those of a model's config.json, except that `original_length`, the number of
positions the model was trained on, is called original_max_position_embeddings there.
"""

from __future__ import annotations

import math

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from clearhead import checks

Frequencies = Float[np.ndarray, " pairs"]


def rope_frequencies(width: int, base: float = 10000.0) -> Frequencies:
    """By how many radians each pair of columns turns from one position to the next: base^(−2i / width).

    → frequencies (width / 2,), float64
    """
    width, base = checks.count("width", width, least=2), checks.number("base", base, above=1.0)
    if width % 2:
        raise ValueError(
            f"width must be even, since columns turn in pairs, got {width} "
            f"(width={width - 1} leaves the last column as it is)"
        )
    return base ** -(np.arange(0, width, 2) / width)


def linear_scaling(
    width: int, base: float = 10000.0, length: int | None = None, *, factor: float
) -> tuple[Frequencies, float]:
    """Every pair `factor` times as slow, as if the positions lay closer together."""
    return rope_frequencies(width, base) / checks.number("factor", factor, above=0.0), 1.0


def ntk_scaling(
    width: int, base: float = 10000.0, length: int | None = None, *, factor: float
) -> tuple[Frequencies, float]:
    """A larger base, chosen so that the slowest pair is `factor` times as slow and the fastest keeps its speed."""
    factor, base = checks.number("factor", factor, above=0.0), checks.number("base", base, above=1.0)
    width = checks.count("width", width, least=4)  # the one pair of width 2 is both the fastest and the slowest
    return rope_frequencies(width, base * factor ** (width / (width - 2))), 1.0


def dynamic_ntk_scaling(
    width: int, base: float = 10000.0, length: int | None = None, *, factor: float, original_length: int
) -> tuple[Frequencies, float]:
    """NTK scaling that begins at the trained length and grows with the text: nothing changes for short ones."""
    factor = checks.number("factor", factor, above=0.0)
    original_length = checks.count("original_length", original_length)
    stretch = max(length or 0, original_length) / original_length
    return ntk_scaling(width, base, factor=factor * stretch - (factor - 1))


def yarn_scaling(
    width: int,
    base: float = 10000.0,
    length: int | None = None,
    *,
    factor: float,
    original_length: int,
    beta_fast: float = 32.0,
    beta_slow: float = 1.0,
    truncate: bool = True,
    attention_factor: float | None = None,
    mscale: float | None = None,
    mscale_all_dim: float | None = None,
) -> tuple[Frequencies, float]:
    """Pairs that turn more than beta_fast times in the trained length keep their speed; below beta_slow, factor.

    Between the two the blend is linear in the number of the pair, and `truncate` rounds the two ends outwards to
    whole pairs. Longer texts spread the weights thinner, which the attention factor makes up for: 0.1 ln factor + 1
    unless it is given, or the ratio of two such numbers if mscale and mscale_all_dim are (DeepSeek).
    """
    plain = rope_frequencies(width, base)
    factor = checks.number("factor", factor, above=0.0)
    original_length = checks.count("original_length", original_length)

    def pair_that_turns(times: float) -> float:
        return width * math.log(original_length / (2 * math.pi * times)) / (2 * math.log(base))

    low = pair_that_turns(checks.number("beta_fast", beta_fast, above=0.0))
    high = pair_that_turns(checks.number("beta_slow", beta_slow, above=0.0))
    if truncate:
        low, high = math.floor(low), math.ceil(high)
    low, high = max(low, 0), min(high, width - 1)
    span = high - low if high != low else 0.001  # all in one place: a step instead of a ramp
    slowed = np.clip((np.arange(width // 2) - low) / span, 0, 1)

    def magnitude(weight: float) -> float:
        return 0.1 * weight * math.log(factor) + 1 if factor > 1 else 1.0

    if attention_factor is None:
        if mscale and mscale_all_dim:
            attention_factor = magnitude(mscale) / magnitude(mscale_all_dim)
        else:
            attention_factor = magnitude(1.0)
    return plain * (1 - slowed) + plain / factor * slowed, checks.number("attention_factor", attention_factor)


def llama3_scaling(
    width: int,
    base: float = 10000.0,
    length: int | None = None,
    *,
    factor: float,
    original_length: int,
    low_freq_factor: float = 1.0,
    high_freq_factor: float = 4.0,
) -> tuple[Frequencies, float]:
    """Pairs that turn more than high_freq_factor times in the trained length keep their speed; below low, factor.

    Between the two the blend is linear in the number of turns.
    """
    plain = rope_frequencies(width, base)
    factor = checks.number("factor", factor, above=0.0)
    low_freq_factor = checks.number("low_freq_factor", low_freq_factor)
    high_freq_factor = checks.number("high_freq_factor", high_freq_factor, above=low_freq_factor)
    turns = checks.count("original_length", original_length) * plain / (2 * math.pi)
    kept = np.clip((turns - low_freq_factor) / (high_freq_factor - low_freq_factor), 0, 1)
    return plain * kept + plain / factor * (1 - kept), 1.0


def longrope_scaling(
    width: int,
    base: float = 10000.0,
    length: int | None = None,
    *,
    short_factor: ArrayLike,
    long_factor: ArrayLike,
    original_length: int,
    factor: float | None = None,
    attention_factor: float | None = None,
) -> tuple[Frequencies, float]:
    """Each pair slowed by a factor of its own: one list up to the trained length, another beyond it.

    short_factor, long_factor (width / 2,). `factor` is how many times the trained length the model is stretched to;
    it sets the attention factor √(1 + ln factor / ln original_length), unless that is given.
    """
    plain = rope_frequencies(width, base)
    original_length = checks.count("original_length", original_length, least=2)
    short, long = _per_pair("short_factor", short_factor, width), _per_pair("long_factor", long_factor, width)
    if attention_factor is None:
        if factor is None:
            raise ValueError(
                "longrope_scaling needs factor, how many times the trained length the model is stretched to "
                "(max_position_embeddings / original_length), or attention_factor"
            )
        factor = checks.number("factor", factor, above=0.0)
        attention_factor = math.sqrt(1 + math.log(max(factor, 1)) / math.log(original_length))
    factors = long if length is not None and length > original_length else short
    return plain / factors, checks.number("attention_factor", attention_factor)


def proportional_scaling(
    width: int,
    base: float = 10000.0,
    length: int | None = None,
    *,
    partial_rotary_factor: float = 1.0,
    factor: float = 1.0,
) -> tuple[Frequencies, float]:
    """Only that share of the pairs turns, the fast ones; the others have frequency 0 and stand still.

    Unlike a smaller `width`, the pairs that turn keep the speeds and the columns they have in the full width.
    """
    share = checks.number("partial_rotary_factor", partial_rotary_factor)
    if not 0 <= share <= 1:
        raise ValueError(f"partial_rotary_factor must be between 0 and 1, got {share:g}")
    plain = rope_frequencies(width, base) / checks.number("factor", factor, above=0.0)
    return np.where(np.arange(width // 2) < int(share * width // 2), plain, 0.0), 1.0


def _per_pair(name: str, factors: ArrayLike, width: int) -> np.ndarray:
    array = np.asarray(factors, dtype=np.float64)
    if array.shape != (width // 2,):
        raise ValueError(f"{name} needs one factor per pair of columns, shape ({width // 2},), got shape {array.shape}")
    if not (array > 0).all() or not np.isfinite(array).all():
        raise ValueError(f"{name} must hold finite numbers greater than 0")
    return array
