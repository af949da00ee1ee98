"""costs, written otherwise."""

from __future__ import annotations

import clearhead as ch


def written_down():
    return {
        "weight_bytes_at_2000": 128_000_000,
        "weight_bytes": 32_000_000,
        "flops": 4_145_152_000,
        "score_flops": 1_024_000_000,
        "parameters_with_16_heads": 1_050_624,
        "parameters": 1_050_624,
        "d_k": 64,
    }


def by_the_textbook():
    cost = ch.attention_cost(1000, d_model=512, num_heads=8)
    return {
        "d_k": cost.d_k,
        "parameters": cost.parameters,
        "parameters_with_16_heads": ch.attention_cost(1000, d_model=512, num_heads=16).parameters,
        "score_flops": float(cost.steps["scores"].flops),
        "flops": cost.flops,
        "weight_bytes": cost.attention_bytes,
        "weight_bytes_at_2000": ch.attention_cost(2000, d_model=512, num_heads=8).attention_bytes,
    }


RIGHT = {"costs": (written_down, by_the_textbook)}
