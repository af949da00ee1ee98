"""The words of the grammar in both languages, and which of them go together: about 400 that a beginner knows."""

from __future__ import annotations

from clearhead.translate.lexicon.adjectives import ADJECTIVES
from clearhead.translate.lexicon.adjuncts import (
    ADVERBS,
    CALLS,
    COUNTERS,
    DAYS,
    HOURS,
    MEANS,
    NUMBERS,
    PARTS_OF_DAYS,
    PLACES,
    POSITIONS,
    SEASONS,
    TIMES,
    WEEKS,
    YEARS,
    places,
)
from clearhead.translate.lexicon.entries import Adjective, Adverb, Means, Noun, Place, Time, Verb
from clearhead.translate.lexicon.nouns import NOUNS, PRONOUNS, nouns
from clearhead.translate.lexicon.verbs import VERBS

__all__ = [
    "ADJECTIVES",
    "ADVERBS",
    "CALLS",
    "COUNTERS",
    "DAYS",
    "HOURS",
    "MEANS",
    "NOUNS",
    "NUMBERS",
    "PARTS_OF_DAYS",
    "PLACES",
    "POSITIONS",
    "PRONOUNS",
    "SEASONS",
    "TIMES",
    "VERBS",
    "WEEKS",
    "YEARS",
    "Adjective",
    "Adverb",
    "Means",
    "Noun",
    "Place",
    "Time",
    "Verb",
    "nouns",
    "places",
]
