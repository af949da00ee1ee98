"""Sentences drawn at random: a clause, or two that -고, -지만 or -아서 joins, of one who does both or of two."""

from __future__ import annotations

import random

from clearhead.translate.drawing import SPEAKERS, drawn_clause
from clearhead.translate.lexicon import CALLS, DAYS, SEASONS, TIMES, Adjective, Time, Verb, nouns
from clearhead.translate.manner import filled_roles
from clearhead.translate.meaning import Being, Clause, Existing, NounPhrase, Sentence, implied, pronoun
from clearhead.translate.phrases import AMBIGUOUS, POINTED, likely
from clearhead.translate.relatives import with_relative
from clearhead.translate.to_english import is_there

MOST_ROLES = 6  # of both clauses together
PARTS = ("아침", "저녁", "밤", "오후", "주말")  # of days and weeks


def drawn(generator: random.Random) -> Sentence:
    """Any sentence of the language."""
    if likely(generator, 0.21):
        if likely(generator, 0.25):
            return _with_reason(generator)
        if likely(generator, 0.06):
            return _both(generator)
        return _told(generator) if likely(generator, 0.12) else _joined(generator)
    clause = drawn_clause(generator, _mood(generator))
    if likely(generator, 0.35):
        clause = with_relative(generator, clause) or clause
    called = _called(generator, clause) if likely(generator, 0.04) else ()
    return Sentence((clause,), end=_end(generator, clause), called=called)


def _called(generator: random.Random, clause: Clause) -> tuple[str, ...]:
    """Who is spoken to, in a style that goes with it; or yes and no, before a statement."""
    kindly = clause.style in ("polite", "formal")
    if clause.mood == "statement":
        return generator.choice((("네",), ("아니요",))) if kindly else ()
    calls = [call for call in CALLS if call not in (("네",), ("아니요",)) and (len(call) > 1) != kindly]
    called = generator.choice(calls if kindly else [*calls, ("엄마",), ("아빠",)])
    return () if any(one.noun.korean == called[0] for one in clause.phrases) else called


def _with_reason(generator: random.Random) -> Sentence:
    """아파서 못 갔다, 비가 와서 집에 있었다, 공원에 가서 놀았다"""
    while True:
        first, second = (drawn_clause(generator, "statement") for _ in range(2))
        if first.tense != second.tense or first.future or first.modal == "try":
            first = first._replace(tense="present", time=None, hour="", also=False, attached=False)
            first = first._replace(topic="" if first.topic == "time" else first.topic, attached=False)
        second = second._replace(time=None, hour="", also=False, attached=False)
        second = second._replace(topic="" if second.topic == "time" else second.topic)
        first = first._replace(style=second.style, modal="" if first.modal == "try" else first.modal, bare=False)
        if first.time is not None and first.time.english == "now":
            continue
        hushed = second.style == "casual" and not second.past and not first.subjects
        if hushed or not _fitting_style(first, second) or _too_long(first, second):
            continue
        if weather_or_there(first):
            if second.subjects and second.subjects[0].noun == first.subjects[0].noun:
                continue
        elif likely(generator, 0.65):
            shared = _sharing(first, second)
            if shared is None or pronoun(first.subjects or (NounPhrase(implied(first)),)) is None:
                continue
            second = shared
        elif not (first.subjects and second.subjects) or first.subjects[0].noun == second.subjects[0].noun:
            continue
        else:  # a topic would be that of both
            first = first._replace(topic="" if first.topic == "subject" else first.topic)
        return Sentence((first, second), "서", "." if likely(generator, 0.3) else "")


def weather_or_there(clause: Clause) -> bool:
    """Whether it is said of nobody who could do something else as well."""
    rain = isinstance(clause.predicate, Verb) and clause.predicate.shape == "weather"
    return rain or (is_there(clause) and clause.topic != "subject")


def _mood(generator: random.Random) -> str:
    [mood] = generator.choices(("statement", "question", "command", "suggestion"), (67, 19, 9, 5))
    return str(mood)


def _end(generator: random.Random, clause: Clause) -> str:
    """A mark at the end, or none; only a question that nothing else shows must have one."""
    if clause.mood == "question":
        shown = clause.style in ("plain", "formal")
        return "" if shown and likely(generator, 0.2) else "?"
    return "." if likely(generator, 0.3) else "!" if likely(generator, 0.04) else ""


def _told(generator: random.Random) -> Sentence:
    """Wash the cup and drink coffee; let's eat and sleep."""
    mood = generator.choice(("command", "command", "suggestion"))
    while True:
        first, second = (drawn_clause(generator, mood) for _ in range(2))
        second = second._replace(
            style=first.style, full=first.full, time=None, hour="", also=False, attached=False, topic=""
        )
        if first.denial or second.denial or second.subjects or first.kindly != second.kindly:
            continue
        if mood == "suggestion" and first.style == "polite":
            continue
        if _too_long(first, second) or not _fitting_style(first, second):
            continue
        return Sentence((first, second), "고", "." if likely(generator, 0.3) else "")


def _too_long(first: Clause, second: Clause) -> bool:
    return len(filled_roles(first)) + len(filled_roles(second)) > MOST_ROLES


def _fitting_style(first: Clause, second: Clause) -> bool:
    """저 is not said among friends."""
    humble = any("humble" in one.noun.kinds for clause in (first, second) for one in clause.phrases)
    return not humble or first.style in ("polite", "formal")


def _may_be_joined(clause: Clause, joint: str) -> bool:
    """What one wants is only set against something else; who does both wants both otherwise."""
    return not clause.modal or (joint == "지만" and (clause.modal != "want" or not clause.subjects))


def _joined(generator: random.Random) -> Sentence:
    """Two statements, of one who does both or of two."""
    while True:
        first, second = (drawn_clause(generator, "statement") for _ in range(2))
        joint = "고" if first.future else generator.choice(("고", "고", "지만"))  # what is joined by 지만 is not ahead
        if not (_may_be_joined(first, joint) and _may_be_joined(second, joint)):
            continue
        if first.time is not None and first.time.english == "now":
            continue
        second = second._replace(tense=first.tense, style=first.style, time=None, hour="", also=False, attached=False)
        if second.topic == "time":
            second = second._replace(topic="")
        if any(
            clause.future != first.future
            or (clause.future and (clause.modal or clause.denial in ("못", "못하다")))
            or (clause.tense == "will" and not isinstance(clause.predicate, Verb | Adjective))
            or (clause.tense == "will" and isinstance(clause.predicate, Verb) and clause.predicate.negative)
            or clause.modal == "try"
            for clause in (first, second)
        ):
            continue
        if not _fitting_style(first, second) or _too_long(first, second):
            continue
        if likely(generator, 0.6):
            shared = _sharing(first, second)
            if shared is None or (first.style == "casual" and first.tense == "present" and not first.subjects):
                continue
            second = shared
        elif not (first.subjects and second.subjects) or first.subjects[0].noun == second.subjects[0].noun:
            continue
        if likely(generator, 0.06):
            first, second = _at_two_times(generator, first, second)
        return Sentence((first, second), joint, "." if likely(generator, 0.3) else "")


def _at_two_times(generator: random.Random, first: Clause, second: Clause) -> tuple[Clause, Clause]:
    """봄에는 꽃이 피고 겨울에는 눈이 온다: where both can be said of such times, one of each"""
    if any(clause.future or not _happens(clause) for clause in (first, second)):
        return first, second
    kind = generator.choice((SEASONS, SEASONS, DAYS, PARTS))
    times = generator.sample([time for time in TIMES if time.korean in kind], 2)
    return _then(first, times[0]), _then(second, times[1])


def _then(clause: Clause, time: Time) -> Clause:
    """The same at another time, of which it is said."""
    order = ("time", *(role for role in clause.order if role != "time"))
    return clause._replace(time=time, hour="", also=False, attached=False, topic="time", order=order)


def _happens(clause: Clause) -> bool:
    """Whether it may be said when: no verb that lasts, and no noun."""
    predicate = clause.predicate
    focused = any(one.focus for one in clause.phrases)
    habit = clause.adverb is not None and clause.adverb.habit
    lasting = isinstance(predicate, Verb) and predicate.lasting
    return isinstance(predicate, Verb | Adjective) and not (lasting or focused or habit or clause.modal or clause.bare)


def _both(generator: random.Random) -> Sentence:
    """피아노도 치고 기타도 친다, 물도 없고 빵도 없다"""
    while True:
        first = drawn_clause(generator, "statement")
        there = is_there(first) and not _double(first) and likely(generator, 0.5)
        several = first.subjects if there else first.objects
        if first.modal or first.future or first.honoured or first.bare or first.split or len(several) != 1:
            continue
        noun, verb = several[0].noun, first.predicate
        if isinstance(verb, Existing):
            kinds = "" if verb.plenty else "food drink goods pet animal plant"
        elif isinstance(verb, Verb) and verb.shape in ("", "give"):
            kinds = next((objects for _, objects in verb.takes if noun in nouns(objects)), "")
        else:
            kinds = ""
        others = [other for other in nouns(kinds) if other != noun and not other.oblique and other not in AMBIGUOUS]
        if noun.oblique or noun in AMBIGUOUS or not others:
            continue
        pair = NounPhrase(noun, focus="도"), NounPhrase(generator.choice(others), focus="도")
        topic = "" if first.topic in ("object", "time") or (there and first.topic == "subject") else first.topic
        first = first._replace(topic=topic, also=False, degree=None, adverb=None, attached=False)
        second = Clause(first.predicate, tense=first.tense, style=first.style, denial=first.denial, full=first.full)
        if there:
            first, second = first._replace(subjects=pair[:1]), second._replace(subjects=pair[1:])
        else:
            first, second = first._replace(objects=pair[:1]), second._replace(objects=pair[1:])
            if any(one.focus for one in first.subjects) or pair[1].noun in {one.noun for one in first.phrases}:
                continue
        return Sentence((first, second), "고", "." if likely(generator, 0.3) else "")


def _sharing(first: Clause, second: Clause) -> Clause | None:
    """The second clause said of the first one's subject, or nothing where that makes no sense."""
    for clause in (first, second):
        if isinstance(clause.predicate, Existing) or _of_nobody(clause):
            return None
    if (first.topic == "object" and first.subjects) or any(
        one.focus for clause in (first, second) for one in clause.phrases
    ):
        return None
    if second.adverb is not None and second.adverb.english == "together":
        return None
    if second.topic == "subject" or (second.topic == "object" and not _double(second)):
        second = second._replace(topic="")
    if not first.subjects:
        return (
            second._replace(subjects=(), honoured=False)
            if implied(first) == implied(second._replace(subjects=()))
            else None
        )
    noun = first.subjects[0].noun
    if not set(first.subjects) or noun in POINTED:
        return None
    kinds = {noun.korean, *noun.kinds.split()}
    if isinstance(second.predicate, Being | Existing):
        return None
    able = (
        second.predicate.nouns
        if isinstance(second.predicate, Adjective)
        else " ".join(s for s, _ in second.predicate.takes)
    )
    if not kinds & set(able.split()):
        return None
    if noun in {one.noun for one in second.phrases if one not in second.subjects}:
        return None
    if second.modal == "want" and noun not in SPEAKERS:  # which would be 싶어 하다, of someone who is not named
        return None
    if noun.oblique and any(one.noun.oblique for one in second.objects):
        return None
    return second._replace(subjects=(), honoured=first.honoured and not _double(second))


def _of_nobody(clause: Clause) -> bool:
    """비가 오다 has no doer, and of 커피가 좋다 nobody knows who it is if he is not named."""
    predicate = clause.predicate
    return isinstance(predicate, Verb) and (predicate.shape == "weather" or predicate.stem.text == "좋")


def _double(clause: Clause) -> bool:
    return isinstance(clause.predicate, Verb) and clause.predicate.shape == "double"
