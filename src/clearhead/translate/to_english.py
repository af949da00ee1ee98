"""A meaning put into English, by rules that leave nothing open, so that every Korean sentence has one translation.

Articles. A noun with nothing else before it is "the", and "a" as a predicate or after "there is". Coffee, bread and the
like have none unless they are the subject; friends, letters and gifts are "a" unless they are the subject; one's
family is "my", in questions and commands "your"; names have none (`Noun.article` says which).
Persons. Where Korean names nobody it is I, in questions you, and it where only things are so (`meaning.implied`).
Tenses. The present is the simple present; -고 있다, anything with 지금, and rain that is not said to be a habit are
under way: It is raining. Both futures are "will". 못 and -ㄹ 수 없다 are "cannot".
Order. Subject, verb, object, to whom, how, where, from where, with whom, with what, alone or again, too, when; but
where one goes stands before how.
"""

from __future__ import annotations

from typing import NamedTuple

from clearhead.translate import english
from clearhead.translate.english_phrases import article_of, noun_phrase, noun_phrases, place_in_english
from clearhead.translate.lexicon import HOURS, Adjective, Noun, Verb
from clearhead.translate.meaning import (
    Being,
    Clause,
    Existing,
    NounPhrase,
    Predicate,
    Sentence,
    implied,
)
from clearhead.translate.parts import Part, Word, named, plain

# Of whom English says it, and how: I, one, many or you.
BE = {"past": ("was", "was", "were"), "present": ("am", "is", "are")}
DO = {"past": ("did", "did", "did"), "present": ("do", "does", "do")}
ASKING = {"time": "when", "place": "where", "why": "why", "how": "how"}
ASKING_BEING = {"무엇": "what", "뭐": "what", "누구": "who", "어디": "where", "얼마": "how much"}


def in_english(sentence: Sentence) -> list[Word]:
    """Clause after clause; a second one without a subject shares that of the first, and its will or be."""
    first, *others = sentence.clauses
    words = clause_in_english(first, "0 ")
    for number, clause in enumerate(others, start=1):
        words += plain("and" if sentence.joint == "고" else "but")
        if clause.mood in ("command", "suggestion"):
            told = _yours(clause) if clause.mood == "command" else clause
            words += _rest(told, group(told, 2).verb, f"{number} ")
        elif clause.subjects or weather(clause):
            words += clause_in_english(clause, f"{number} ")
        else:
            shared = clause._replace(subjects=first.subjects)
            words += _after_subject(shared, f"{number} ", _implied_or_own(first), elided=_elided(first, clause))
    piece, name = words[0][0]
    words[0][0] = Part(piece[0].upper() + piece[1:], name)
    question = sentence.clauses[-1].mood == "question"
    if question or sentence.end:
        words[-1].append(Part("?" if question else sentence.end))
    return words


def _elided(first: Clause, second: Clause) -> bool:
    """Whether the second need not repeat the first's will, or be."""
    if first.modal or second.modal:
        return False
    groups = group(first, 1), group(second, 1)
    return not any(one.denied for one in groups) and groups[0].finite == groups[1].finite != ""


def weather(clause: Clause) -> bool:
    return isinstance(clause.predicate, Verb) and clause.predicate.shape == "weather"


def _implied_or_own(clause: Clause) -> tuple[NounPhrase, ...]:
    return clause.subjects if clause.subjects and not weather(clause) else (NounPhrase(implied(clause)),)


def clause_in_english(clause: Clause, names: str) -> list[Word]:
    """A whole clause in its mood, without a capital and without a mark at its end."""
    if clause.mood in ("question", "command"):
        clause = _yours(clause)
    if clause.mood == "command":
        please = plain("please" if clause.kindly else "")
        return please + plain("do not" if clause.denial else "") + _rest(clause, group(clause, 2).verb, names)
    if clause.mood == "suggestion":
        return plain("let's not" if clause.denial else "let's") + _rest(clause, group(clause, 2).verb, names)
    subjects = _implied_or_own(clause)
    if clause.asked is not None and clause.asked.role == "subject":
        word = "who" if clause.asked.word[0].startswith("누") else "what"
        return plain(word, f"{names}asked") + _after_subject(clause, names, ())
    if is_there(clause):
        return _there(clause, names)
    if clause.mood == "question":
        return _question(clause, names, subjects)
    return noun_phrases(subjects, f"{names}subject") + _after_subject(clause, names, subjects)


def _yours(clause: Clause) -> Clause:
    """Whose family is meant in a question or a command: yours."""

    def turned(noun: Noun) -> Noun:
        return noun._replace(article="your") if noun.article == "my" else noun

    def yours(one: NounPhrase) -> NounPhrase:
        return one._replace(noun=turned(one.noun), owner=None if one.owner is None else turned(one.owner))

    predicate = clause.predicate
    if isinstance(predicate, Being) and predicate.complement is not None:
        predicate = Being(yours(predicate.complement))
    return clause._replace(
        predicate=predicate,
        subjects=tuple(map(yours, clause.subjects)),
        objects=tuple(map(yours, clause.objects)),
        recipient=None if clause.recipient is None else yours(clause.recipient),
        companion=None if clause.companion is None else yours(clause.companion),
    )


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
    name = "want" if clause.modal == "want" else "" if clause.modal == "must" or lead == "be" else _name(predicate)
    base = [((lead,), name), *rest]
    if clause.mood in ("command", "suggestion"):
        return Group("", denied, base)
    if clause.future:
        return Group("will", denied, base)
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
        return "be", []
    first, *others = predicate.english.split()
    name = _name(predicate)
    following: list[tuple[english.Word, str]] = [((word,), name) for word in others]
    if clause.modal == "want":
        return "want", [(("to",), ""), ((first,), name), *following]
    if clause.modal == "must":
        return "have", [(("to",), ""), ((first,), name), *following]
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


def _after_subject(clause: Clause, names: str, subjects: tuple[NounPhrase, ...], *, elided: bool = False) -> list[Word]:
    """cannot always eat bread …; with `elided`, without the auxiliary"""
    found = group(clause, agreement(subjects))
    words: list[Word] = []
    if not elided:
        cannot = found.finite == "can" and found.denied
        words = plain("cannot" if cannot else found.finite) + plain("not" if found.denied and not cannot else "")
    return words + _verb_and_rest(clause, found, names)


def _question(clause: Clause, names: str, subjects: tuple[NounPhrase, ...]) -> list[Word]:
    """Did you not eat bread? Where did you eat bread? What is this?"""
    found = group(clause, agreement(subjects), inverted=True)
    words = _asking(clause, names) + plain(found.finite) + noun_phrases(subjects, f"{names}subject")
    return words + plain("not" if found.denied else "") + _verb_and_rest(clause, found, names)


def _asking(clause: Clause, names: str) -> list[Word]:
    """The word that asks, at the beginning."""
    if isinstance(clause.predicate, Being) and clause.predicate.complement is None:
        return plain(ASKING_BEING[clause.predicate.asked], f"{names}predicate")
    if clause.asked is None:
        return []
    role, word = clause.asked
    text = ASKING.get(role, "who" if word[0].startswith("누") else "what")
    return plain(text, f"{names}asked")


def is_there(clause: Clause) -> bool:
    """Whether it is said that there is something, and not of something where it is."""
    if not isinstance(clause.predicate, Existing) or clause.asked is not None or not clause.subjects:
        return False
    return clause.topic != "subject" and not clause.subjects[0].definite and not clause.subjects[0].focus


def _there(clause: Clause, names: str) -> list[Word]:
    """There is a cat in the room; is there no cat in the room"""
    found = group(clause, agreement(clause.subjects))
    what = noun_phrases(clause.subjects, f"{names}subject", "none" if found.denied else "a")
    what = plain("no" if found.denied else "") + what
    finite, be = plain(found.finite), [named(word, None) for word, _ in found.verb]
    there = plain("there")
    start = finite + there + be if clause.mood == "question" else there + finite + be
    return start + what + _adjuncts(clause, names)


def _verb_and_rest(clause: Clause, found: Group, names: str) -> list[Word]:
    """always eat bread; but be very big, since very belongs to big"""
    adverb, verb = clause.adverb, found.verb
    if adverb is None or adverb.position != "middle":
        return _rest(clause, verb, names)
    middle = plain(adverb.english, f"{names}adverb")
    if isinstance(clause.predicate, Adjective) and not adverb.habit and verb[0][0] == ("be",):
        return plain("be") + middle + _rest(clause, verb[1:], names)
    return middle + _rest(clause, verb, names)


def _rest(clause: Clause, verb: list[tuple[english.Word, str]], names: str) -> list[Word]:
    """The verb and all that follows it."""
    words = [named(word, f"{names}{name}" if name else None) for word, name in verb]
    being = clause.predicate if isinstance(clause.predicate, Being) else None
    if being is not None and being.complement is not None:
        words += noun_phrase(_agreeing(being.complement, clause.subjects), f"{names}predicate", "a")
    become = isinstance(clause.predicate, Verb) and clause.predicate.shape == "double" and _counts(clause.predicate)
    words += noun_phrases(clause.objects, f"{names}object", "a" if become else "object")
    give = isinstance(clause.predicate, Verb) and clause.predicate.shape == "give"
    if clause.recipient is not None:
        words += plain("to" if give else "") + noun_phrase(clause.recipient, f"{names}recipient", "object")
    if give and clause.asked is not None and clause.asked.role == "recipient":
        words += plain("to")
    return words + _adjuncts(clause, names)


def _manner(clause: Clause, names: str, position: str) -> list[Word]:
    """slowly, very slowly: the adverb if it has this position"""
    if clause.adverb is None or clause.adverb.position != position:
        return []
    degree = [] if clause.degree is None else plain(clause.degree.english, f"{names}degree")
    return degree + plain(clause.adverb.english, f"{names}adverb")


def _agreeing(complement: NounPhrase, subjects: tuple[NounPhrase, ...]) -> NounPhrase:
    """They are students, though Korean says 학생."""
    several = len(subjects) > 1 or any(one.plural for one in subjects)
    countable = complement.noun.counter and not complement.noun.measure and not complement.pointer
    return complement._replace(many=True) if several and countable else complement


def _counts(verb: Verb) -> bool:
    """Whether what it takes is one of many: to have or become a …, but to like the …"""
    return verb.english in ("have", "become", "need")


def _adjuncts(clause: Clause, names: str) -> list[Word]:
    """How, where, from where, with whom, with what, how again, too, when."""
    going = isinstance(clause.predicate, Verb) and clause.predicate.shape in ("to", "into", "in")
    how, where = _manner(clause, names, "close"), place_in_english(clause, names)
    words = where + how if going else how + where
    if clause.origin is not None:
        words += plain("from") + article_of(clause.origin) + plain(clause.origin.english, f"{names}origin")
    if clause.companion is not None:
        words += plain("with") + noun_phrase(clause.companion, f"{names}companion", "object")
    if clause.means is not None:
        words += plain(clause.means.before) + plain(clause.means.english, f"{names}means")
    words += _manner(clause, names, "end")
    too = plain("either" if group(clause, 1).denied else "too")
    if any(one.focus == "도" for one in clause.phrases):
        words += too
    if clause.hour:
        words += plain("at") + plain(HOURS[clause.hour], f"{names}hour") + plain("o'clock")
    if clause.time is not None:
        words += plain(clause.time.before) + plain(clause.time.english, f"{names}time")
    return words + (too if clause.also else [])
