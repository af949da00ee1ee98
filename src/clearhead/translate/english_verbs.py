"""The verb of an English clause with all that stands before it: did not, will, wants to, is … ing."""

from __future__ import annotations

from typing import NamedTuple

from clearhead.translate import english
from clearhead.translate.lexicon import Adjective, Verb
from clearhead.translate.meaning import Being, Clause, Existing, NounPhrase, Predicate

# Of whom English says it, and how: I, one, many or you.
BE = {"past": ("was", "was", "were"), "present": ("am", "is", "are")}
DO = {"past": ("did", "did", "did"), "present": ("do", "does", "do")}
HAVE = ("have", "has", "have")


class Group(NamedTuple):
    """A verb with its auxiliaries: did not want to eat is finite did, denied, verb want, rest to eat.

    Where nothing has to stand before the verb, `finite` is empty and the verb is inflected. `verb` and `rest` come
    with their names, "predicate", "want" or none.
    """

    finite: str
    denied: bool
    verb: list[tuple[english.Word, str]]


def group(clause: Clause, who: int, *, inverted: bool = False) -> Group:
    """The verb of a clause, for a subject that is I (0), another one (1), or many (2)."""
    predicate, tense = clause.predicate, "past" if clause.past else "present"
    negative = isinstance(predicate, Verb) and predicate.negative
    absent = isinstance(predicate, Existing) and predicate.absent
    denied = bool(clause.denial) != (negative or absent)
    lead, rest = _leading(clause)
    past = ""
    if isinstance(predicate, Verb) and lead == predicate.english.split()[0] and clause.modal in ("", "can"):
        past = predicate.past.split()[0] if predicate.past else ""
    helping = clause.modal in ("must", "try") or lead == "be"
    name = "want" if clause.modal == "want" else "" if helping else _name(predicate)
    base = [((lead,), name), *rest]
    if clause.mood in ("command", "suggestion"):
        return Group("", denied, base)
    if clause.future:
        return Group("will", denied, base)
    if clause.modal == "try" and clause.past:  # 먹어 봤다
        return Group(HAVE[who], denied, [(("tried",), name), *rest])
    if clause.modal == "can" or clause.denial in ("못", "못하다"):
        return Group("could" if clause.past else "can", denied, base)
    if lead == "be":
        return Group(BE[tense][who], denied, rest)
    if denied or inverted:
        return Group(DO[tense][who], denied, base)
    return Group("", denied, [(_inflected(lead, past, tense, who), name), *rest])


def _inflected(verb: str, past: str, tense: str, who: int) -> english.Word:
    if tense == "past":
        return (past,) if past else ("had",) if verb == "have" else english.with_ed(verb)
    return english.with_s(verb) if who == 1 else (verb,)


def _leading(clause: Clause) -> tuple[str, list[tuple[english.Word, str]]]:
    """The verb that is inflected, and what follows it and is not: be and eating, want and to eat."""
    predicate = clause.predicate
    if isinstance(predicate, Adjective):
        return "be", [((word,), "predicate") for word in predicate.english.split()]
    if not isinstance(predicate, Verb):
        return "have" if isinstance(predicate, Being) and predicate.counts else "be", []
    first, *others = predicate.english.split()
    name = _name(predicate)
    following: list[tuple[english.Word, str]] = [((word,), name) for word in others]
    if clause.modal == "want":
        return "want", [(("to",), ""), ((first,), name), *following]
    if clause.modal == "must":
        return "have", [(("to",), ""), ((first,), name), *following]
    if clause.modal == "try":
        return "try", [(english.with_ing(first), name), *following]
    if under_way(clause, predicate):
        return "be", [(english.with_ing(first), name), *following]
    return first, following


def _name(predicate: Predicate) -> str:
    """What a verb is linked with: rain is 비, and all others are the predicate."""
    return "subject 0" if isinstance(predicate, Verb) and predicate.shape == "weather" else "predicate"


def under_way(clause: Clause, verb: Verb) -> bool:
    """Whether English says is -ing: -고 있다, now, and rain unless it is a habit."""
    if clause.modal == "doing":
        return True
    if clause.tense != "present" or clause.modal or clause.denial in ("못", "못하다") or verb.lasting:
        return False
    if clause.mood in ("command", "suggestion"):
        return False
    time, adverb = clause.time, clause.adverb
    if time is not None and time.english == "now":
        return True
    habit = (time is not None and time.english != "today") or (adverb is not None and adverb.habit)
    return verb.shape == "weather" and not habit


def agreement(subjects: tuple[NounPhrase, ...]) -> int:
    """0 for I, 1 for another one, 2 for many and for you: the place in BE and DO. What is asked for is one."""
    if not subjects:
        return 1
    noun = subjects[0].noun
    if len(subjects) > 1 or subjects[0].plural or noun.english == "you":
        return 2
    return 0 if noun.english == "I" else 1
