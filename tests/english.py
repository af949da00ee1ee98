"""English in what should be Korean."""

from __future__ import annotations

import re

# Names of this program, of files, and what a user types; all else in Latin letters is English.
NAMES = "|".join(
    (
        r"\S*\.(png|svg|pdf|gif|safetensors|txt|tsv|html|py|jsonl|parquet)", "(attention|translator|texts)/",
        "--?[a-z-]+", r"\{[a-z,]+\}",
        "'[^']*'", "`[^`]*`", "[A-Z]{1,10}", "clearhead", "translate", "visualize", "learn", "CLEARHEAD_LANG", "NumPy",
        "PyTorch", "float16", "dates", "sentences", "all", "png", "svg", "pdf", "en", "ko", "practice", "softmax",
        "transformers", r"trace\.save", "trace", "load_trace", "gpt2", r"\./my-model", "view", "Ctrl-C",
        "census", "Parquet", "Ray", r"ray://\S+",
        "start", "list", "check-all", "check", "watch", "hint", "solution", "reset",
    )
)  # fmt: skip


def english_in(text):
    """The English words of a text that are no names."""
    return re.findall("[A-Za-z]{2,}", re.sub(rf"(?<![A-Za-z])({NAMES})(?![A-Za-z])", "", text))
