"""A meaning put into English, by rules that leave nothing open, so that every Korean sentence has one translation.

Articles. A noun with nothing else before it is "the", and "a" as a predicate or after "there is". Coffee, bread and the
like have none unless they are the subject; friends, letters and gifts are "a" unless they are the subject; one's
family is "my", in questions and commands "your"; names have none (`Noun.article` says which).
Persons. Where Korean names nobody it is I, in questions you, and it where only things are so (`meaning.implied`).
Tenses. The present is the simple present; -고 있다, anything with 지금, and rain that is not said to be a habit are
under way: It is raining. Both futures are "will", but 모르겠다 is "do not know". 못 and -ㄹ 수 없다 are "cannot".
Order. Subject, verb, object, to whom, how, where, from where, with whom, with what, alone or again, too, when; but
where one goes stands before how. What comes of something stands before it: I did not go because it rained; unless -아서
only says what one did first, 가서.
There. Of what one can have, it is said that one has it, 돈이 없다; of all else that it is there, 손님이 없다.
Clauses before a noun follow it with "who" or "that", and 책상 위에 있는 책 is the book on the desk.
"""

from __future__ import annotations

from clearhead.translate import english
from clearhead.translate.english_phrases import article_of, noun_phrase, noun_phrases, place_in_english
from clearhead.translate.english_verbs import Group, agreement, group
from clearhead.translate.lexicon import CALLS, HOURS, PLACES, Adjective, Noun, Verb
from clearhead.translate.meaning import (
    Being,
    Clause,
    Existing,
    NounPhrase,
    Relative,
    Sentence,
    implied,
    pronoun,
)
from clearhead.translate.parts import Part, Word, named, plain

ASKING = {"time": "when", "place": "where", "origin": "where", "why": "why", "how": "how", "hour": "what time"}
ASKING_BEING = {"무엇": "what", "뭐": "what", "누구": "who", "어디": "where", "얼마": "how much", "몇 시": "what time"}
COUNTRIES = {place.korean for place in PLACES if place.at == "in"}
FIRST = {
    "가",
    "오",
    "돌아가",
    "돌아오",
    "들어가",
    "일어나",
    "만나",
    "앉",
    "나가",
    "들어오",
}  # 가서: went there, and then


def in_english(sentence: Sentence) -> list[Word]:
    """Who is spoken to, and clause after clause; what comes of another stands before it."""
    words = _because(sentence) if sentence.joint == "서" and is_reason(sentence) else _one_after_another(sentence)
    if sentence.called:
        words = [[Part(CALLS[sentence.called], "called"), Part(",")], *words]
    piece, name = words[0][0]
    words[0][0] = Part(piece[0].upper() + piece[1:], name)
    question = sentence.clauses[-1].mood == "question"
    if question or sentence.end:
        words[-1].append(Part("?" if question else sentence.end))
    return words


def is_reason(sentence: Sentence) -> bool:
    """Whether the first of two clauses is why the second is so, 아파서 못 갔다, and not only before it, 가서 놀았다."""
    first, second = sentence.clauses
    if not isinstance(first.predicate, Verb) or not isinstance(second.predicate, Verb) or second.subjects:
        return True
    follows = first.predicate.stem.text in FIRST and "person" in first.predicate.takes[0][0].split()
    return not follows or bool(first.modal or first.denial or second.denial or second.predicate.lasting)


def _because(sentence: Sentence) -> list[Word]:
    """I could not go because I was sick: of whom it is said a second time, English says he or it"""
    first, second = sentence.clauses
    reason = first._replace(tense=_tense_of_reason(first, second))
    if second.subjects or weather(first) or weather(second) or is_there(first):
        return clause_in_english(second, "1 ") + plain("because") + clause_in_english(reason, "0 ")
    subjects = _implied_or_own(first)
    same = pronoun(subjects)
    assert same is not None
    again = (NounPhrase(same),)
    words = _noun_phrases(subjects, "0 subject") + _after_subject(second._replace(subjects=subjects), "1 ", subjects)
    words += plain("because") + plain(same.english)
    return words + _after_subject(reason._replace(subjects=again), "0 ", again)


def _tense_of_reason(first: Clause, second: Clause) -> str:
    """-아서 shows no tense: it is that of the second; but what made one tired was done before."""
    if second.past:
        return "past"
    done = isinstance(first.predicate, Verb) and not first.predicate.lasting and not first.modal and not first.denial
    return "past" if done and isinstance(second.predicate, Adjective) else "present"


def _one_after_another(sentence: Sentence) -> list[Word]:
    """A second clause without a subject shares that of the first, and its will or be."""
    first, *others = sentence.clauses
    if sentence.joint == "서":
        first = first._replace(tense=others[0].tense)
    if sentence.joint == "고" and all(_too(clause) for clause in sentence.clauses):
        first = _without_too(first)
    words = clause_in_english(first, "0 ")
    for number, clause in enumerate(others, start=1):
        words += plain("but" if sentence.joint == "지만" else "and")
        if clause.mood in ("command", "suggestion"):
            told = _yours(clause) if clause.mood == "command" else clause
            words += _rest(told, group(told, 2).verb, f"{number} ")
        elif clause.subjects or weather(clause):
            words += clause_in_english(clause, f"{number} ")
        else:
            shared = clause._replace(subjects=first.subjects)
            words += _after_subject(shared, f"{number} ", _implied_or_own(first), elided=_elided(first, clause))
    return words


def _too(clause: Clause) -> bool:
    return any(one.focus == "도" for one in clause.phrases)


def _without_too(clause: Clause) -> Clause:
    """피아노도 치고 기타도: the piano, and the guitar too"""
    subjects, objects = (
        tuple(one._replace(focus="" if one.focus == "도" else one.focus) for one in several)
        for several in (clause.subjects, clause.objects)
    )
    return clause._replace(subjects=subjects, objects=objects)


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
    return _subject(clause, names, subjects) + _after_subject(clause, names, subjects)


def _subject(clause: Clause, names: str, subjects: tuple[NounPhrase, ...]) -> list[Word]:
    everyone = not clause.objects and all_is_meant(clause)
    return plain("all" if everyone else "", f"{names}adverb") + _noun_phrases(subjects, f"{names}subject")


def _noun_phrases(several: tuple[NounPhrase, ...], name: str, role: str = "subject") -> list[Word]:
    """The girl; the girl who reads the book, with what Korean says before it"""
    words = noun_phrases(several, name, role)
    for one in several[:1]:
        words += [] if one.relative is None else _relative(one, one.relative, f"{name} relative ")
    return words


def _relative(head: NounPhrase, relative: Relative, names: str) -> list[Word]:
    """who reads the book, that I bought yesterday; on the desk"""
    clause = relative.clause
    if isinstance(clause.predicate, Existing):
        return _adjuncts(clause, names)
    if isinstance(clause.predicate, Verb) and clause.predicate.english == "wear" and relative.role == "subject":
        clause = clause._replace(tense="present")  # 모자를 쓴, who has put it on
    if relative.role == "subject":
        person = bool({"person", "baby"} & set(head.noun.kinds.split()))
        return plain("who" if person else "that") + _after_subject(clause, names, (head,))
    subjects = _implied_or_own(clause)
    return plain("that") + noun_phrases(subjects, f"{names}subject") + _after_subject(clause, names, subjects)


def all_is_meant(clause: Clause) -> bool:
    """Whether 다 is said: of the object, or where there is none of the subject."""
    return clause.adverb is not None and clause.adverb.position == "all"


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
    words = _asking(clause, names) + plain(found.finite) + _subject(clause, names, subjects)
    return words + plain("not" if found.denied else "") + _verb_and_rest(clause, found, names)


def _asking(clause: Clause, names: str) -> list[Word]:
    """The word that asks, at the beginning."""
    if isinstance(clause.predicate, Being) and clause.predicate.asked:
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
    shown = clause.topic != "subject" or clause.place is None or _plenty(clause)
    return shown and not clause.subjects[0].definite and clause.subjects[0].focus != "만"


def _there(clause: Clause, names: str) -> list[Word]:
    """There is a cat in the room; is there no cat in the room"""
    subjects = tuple(_plentiful(one) for one in clause.subjects) if _plenty(clause) else clause.subjects
    found = group(clause, agreement(subjects))
    what = _noun_phrases(subjects, f"{names}subject", "none" if found.denied or _plenty(clause) else "a")
    what = plain("no" if found.denied else "") + what
    if _plenty(clause):
        what = plain("many" if subjects[0].plural else "a lot", f"{names}predicate") + (
            what if subjects[0].plural else plain("of") + what
        )
    finite, be = plain(found.finite), [named(word, None) for word, _ in found.verb]
    there = plain("there")
    start = finite + there + be if clause.mood == "question" else there + finite + be
    return start + what + _adjuncts(clause, names)


def _plenty(clause: Clause) -> bool:
    return isinstance(clause.predicate, Existing) and bool(clause.predicate.plenty)


def _plentiful(one: NounPhrase) -> NounPhrase:
    """Many people, a lot of water: what is counted is several."""
    return one._replace(many=bool(one.noun.counter) and not one.noun.measure)


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
        one = _agreeing(being.complement, clause.subjects)
        words += _from_a_country(one, f"{names}predicate") or noun_phrase(one, f"{names}predicate", "a")
        words += [] if one.relative is None else _relative(one, one.relative, f"{names}predicate relative ")
    if being is not None and being.hour:
        words += plain(HOURS[being.hour], f"{names}predicate") + plain("o'clock")
    words += _objects(clause, names)
    give = isinstance(clause.predicate, Verb) and clause.predicate.shape == "give"
    if clause.recipient is not None:
        words += plain("to" if give else "") + noun_phrase(clause.recipient, f"{names}recipient", "object")
    if give and clause.asked is not None and clause.asked.role == "recipient":
        words += plain("to")
    return words + _adjuncts(clause, names)


def _from_a_country(one: NounPhrase, name: str) -> list[Word]:
    """중국 사람 as a predicate is Chinese, and not a Chinese person; nothing of other nouns"""
    plain_person = one.noun.korean == "사람" and not (one.owner or one.pointer or one.number or one.relative)
    if not plain_person or one.adjective is None or one.adjective.stem.text not in COUNTRIES:
        return []
    return plain(one.adjective.english, f"{name} adjective")


def _objects(clause: Clause, names: str) -> list[Word]:
    verb, objects = clause.predicate, clause.objects
    role = "object"
    if isinstance(verb, Verb) and verb.shape == "double" and _counts(verb):
        role = "a"
    if isinstance(verb, Verb) and verb.english in ("have many", "have a lot of"):
        role = "none"
        objects = tuple(_plentiful(one) for one in objects) if verb.english == "have many" else objects
    if clause.modal == "try" and clause.mood == "question":  # Have you tried taking an airplane?
        role = "a"
    if objects and all_is_meant(clause):  # all the milk
        return plain("all", f"{names}adverb") + _noun_phrases(objects, f"{names}object")
    return _noun_phrases(objects, f"{names}object", role)


def _manner(clause: Clause, names: str, position: str) -> list[Word]:
    """slowly, very slowly: the adverb if it has this position"""
    if clause.adverb is None or clause.adverb.position != position:
        return []
    degree = [] if clause.degree is None else plain(clause.degree.english, f"{names}degree")
    much = bool(degree) and clause.adverb.english == "a lot"  # 너무 많이 is too much
    return degree + plain("much" if much else clause.adverb.english, f"{names}adverb")


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
    if clause.asked is not None and clause.asked.role == "origin":
        words += plain("from")
    if clause.origin is not None:
        words += plain("from") + article_of(clause.origin) + plain(clause.origin.english, f"{names}origin")
    if clause.companion is not None:
        words += plain("with") + noun_phrase(clause.companion, f"{names}companion", "object")
    if clause.means is not None:
        words += plain(clause.means.before) + plain(clause.means.english, f"{names}means")
    words += _manner(clause, names, "end")
    too = plain("either" if group(clause, 1).denied else "too")
    if _too(clause):
        words += too
    if clause.hour:
        words += plain("at") + plain(HOURS[clause.hour], f"{names}hour") + plain("o'clock")
    if clause.time is not None:
        words += plain(clause.time.before) + plain(clause.time.english, f"{names}time")
    return words + (too if clause.also else [])
