"""What is refused before a model is asked: words that it does not know, and days that there are none of.

A model that is shown what it never learned answers all the same, and nobody could tell that from a translation.
"""

from __future__ import annotations

from collections.abc import Sequence

from clearhead.advice import program
from clearhead.languages import Said
from clearhead.text.spans import Span
from clearhead.translate import words
from clearhead.translate.days import MONTHS, impossible, taught, untaught
from clearhead.translate.dictionary import beginnings, known_words, stems
from clearhead.translate.doubt import Doubt
from clearhead.translate.missing import left_out
from clearhead.translate.nearness import MOST, near
from clearhead.translate.senses import other_meaning
from clearhead.translate.slips import slip
from clearhead.translate.usage import unusual, without_particles
from clearhead.translate.vocabulary import Unknown, Vocabulary, shortened, unknown_word

# The tasks whose words are those of the grammar, or of dates; a model of one's own pairs has nothing but pieces.
OURS = ("dates", "sentences", "all")
FARTHEST_FORM = 0.15  # of the letters of a verb may differ: its forms are many, and 나갔다 is no 나빴다
SIGNS = ".,!?"
COPULA = ("이", "입", "예", "였", "야")  # how 이다 begins after a noun


def unspelled(text: str, vocabulary: Vocabulary, task: str) -> Said | None:
    """Why a text cannot be spelled, with words of the dictionary that its first unknown word may stand for."""
    stuck = next(iter(vocabulary.unknown(text)), None)
    if stuck is None or task not in OURS:
        return None if stuck is None else vocabulary.refusal(stuck)
    word = stuck.word.rstrip(SIGNS)
    close = _meant(stuck, vocabulary) if task != "dates" else []
    close += near(word, MONTHS, ()) if task != "sentences" else []
    if not close and word.isascii() and word.isalpha():
        start, _ = stuck.span
        return _not_translated(word, (start, start + len(word)), task)
    hint = words.NEAR.filled(near=", ".join(close)) if close else words.NOTHING_NEAR.filled(program=program())
    return unknown_word(stuck, hint)


def _not_translated(word: str, span: Span, task: str) -> Said:
    place = words.place_in_text(*span)
    return words.NEVER_READ.filled(word=shortened(word), place=place, known=words.READS[task])


def _meant(stuck: Unknown, vocabulary: Vocabulary) -> list[str]:
    """Words of the dictionary that are close to a misspelled one, or of which it is another form."""
    read = stuck.word.removesuffix(stuck.rest)
    if read in (known := stems()):  # 잡혔다: the stem is known, and not what follows it
        return [known[read]]
    endings = vocabulary.endings
    # Of 고양이들도 the stem is known if not the rest; of 비행기 a single syllable says nothing.
    endings = (*endings, stuck.rest) if len(read) > 1 else endings
    forms = beginnings()
    inflected = [form for form, word in forms.items() if word != form]
    close = near(stuck.word, inflected, endings, FARTHEST_FORM)
    close += near(stuck.word, [form for form, word in forms.items() if word == form], endings)
    return list(dict.fromkeys(forms[form] for form in close))[:MOST]


def unread(text: str, source: Sequence[int], spans: Sequence[Span], task: str, doubt: Doubt) -> Said | None:
    """Why a text that can be spelled is not translated: it is of another language, or no day that can be read."""
    if task not in OURS:
        return None
    if never := doubt.never_read(source):
        start, stop = _whole(text, spans[never[0]])
        return _not_translated(text[start:stop], (start, stop), task)
    return (impossible(text) or untaught(text)) if task != "sentences" else None


def strange_words(
    text: str, source: Sequence[int], spans: Sequence[Span], doubt: Doubt, vocabulary: Vocabulary
) -> tuple[str, ...]:
    """The words of a text that are put together as none of training is, from pieces that are no word together."""
    return tuple(word for word in _strange(text, source, spans, doubt, vocabulary) if not in_other_form(word))


def against(
    text: str,
    answer: str,
    source: Sequence[int],
    spans: Sequence[Span],
    task: str,
    doubt: Doubt,
    vocabulary: Vocabulary,
) -> Said | None:
    """What else speaks against an answer to a text: known words in forms that training lacks, or that do not go
    together, or that the answer takes in another meaning than goes with the others; or the answer itself.
    """
    strange = _strange(text, source, spans, doubt, vocabulary)
    if others := [word for word in strange if in_other_form(word)]:
        return words.OTHER_FORM.filled(words=", ".join(others))
    if task not in ("sentences", "all") or taught(text):
        return None
    return unusual(text) or left_out(text) or other_meaning(text, answer) or slip(text, answer)


def in_other_form(word: str) -> bool:
    """Whether a word is one of the dictionary, with endings or without, as 엄마 and 와서 are: 물개 is none."""
    if without_particles(word) is not None:
        return True
    things = (*known_words()["nouns"], *known_words()["counters"])
    parts = [(word[:stop], word[stop:]) for stop in range(1, len(word))]
    return any(
        (without_particles(stem) is not None and rest.startswith(COPULA))
        or (stem in stems() and not rest.startswith(things))
        for stem, rest in parts
    )


def _strange(
    text: str, source: Sequence[int], spans: Sequence[Span], doubt: Doubt, vocabulary: Vocabulary
) -> list[str]:
    found = [_whole(text, spans[place]) for place in doubt.strange(source, vocabulary)]
    return [shortened(text[start:stop]) for start, stop in dict.fromkeys(found)]


def _whole(text: str, span: Span) -> Span:
    """The word that a piece is of, without the signs at its end."""
    start = max((place + 1 for place, letter in enumerate(text[: span[0]]) if letter.isspace()), default=0)
    rest = text[start:].split()[0]
    return start, start + len(rest.rstrip(SIGNS) or rest)
