"""A meaning put into Korean: constituents with their particles in any order, and the predicate at the end."""

from __future__ import annotations

from clearhead.translate import korean
from clearhead.translate.korean import Manner, Stem
from clearhead.translate.korean_phrases import joined_phrases, modifier, owner_in_korean, phrase
from clearhead.translate.lexicon import Place, Verb
from clearhead.translate.meaning import Being, Clause, Existing, NounPhrase, Position, Relative, Sentence, Site
from clearhead.translate.parts import Part, Word, named

EXISTING, ABSENT, NOT, CANNOT = Stem("있"), Stem("없"), Stem("않"), Stem("못하")
MANY, TRY = Stem("많"), Stem("보")
APART = {"빌려주", "도와주", "보여주"}  # which may as well be written as two words
DO_NOT = {"plain": "마라", "casual": "마", "polite": "마세요", "formal": "마십시오"}
LET_US_NOT = {"plain": "말자", "formal": "맙시다"}


def in_korean(sentence: Sentence) -> list[Word]:
    """Clause after clause, each but the last with the ending that joins it to the next."""
    words: list[Word] = []
    if sentence.called:
        words.append([*named(sentence.called, "called"), Part(",")])
    for number, clause in enumerate(sentence.clauses):
        joint = sentence.joint if number < len(sentence.clauses) - 1 else ""
        words += clause_in_korean(clause, joint, f"{number} ")
    if sentence.end:
        words[-1].append(Part(sentence.end))
    return words


def clause_in_korean(clause: Clause, joint: str, names: str) -> list[Word]:
    found = {role: words for role, words in _constituents(clause, names).items() if words}
    order = [role for role in clause.order if role in found]
    if clause.bare and order and order[-1] in ("object", "place"):
        found[order[-1]][-1].pop()
    elif clause.bare and "subject" in found:
        found["subject"][-1].pop()
    if clause.attached:
        found["time"][-1].pop()
    return [word for role in order for word in found[role]] + _predicate(clause, joint, names)


def _constituents(clause: Clause, names: str) -> dict[str, list[Word]]:
    verb = clause.predicate if isinstance(clause.predicate, Verb) else None
    object_role = "topic" if clause.topic == "object" else "subject" if _double(clause) else "object"
    return {
        "time": _time(clause, names),
        "subject": _subject(clause, names),
        "companion": _companion(clause, names),
        "origin": [] if clause.origin is None else [[Part(clause.origin.korean, f"{names}origin"), Part("에서")]],
        "means": _means(clause, names),
        "place": _place(clause, verb, names),
        "recipient": _recipient(clause, names),
        "object": _split(clause, names) if clause.split else phrases(clause.objects, f"{names}object", object_role),
        "asked": _asked(clause, names),
        "adverb": _adverb(clause, names),
    }


def phrases(several: tuple[NounPhrase, ...], name: str, role: str) -> list[Word]:
    """고양이와 개가; 책을 읽는 소녀가, with the clause before it"""
    before = several[0].relative if several else None
    return ([] if before is None else relative_in_korean(before, f"{name} relative ")) + joined_phrases(
        several, name, role
    )


def relative_in_korean(relative: Relative, names: str) -> list[Word]:
    """책을 읽는, 어제 산, 책상 위에 있는"""
    clause = relative.clause
    found = {role: words for role, words in _constituents(clause, names).items() if words}
    stem = EXISTING if isinstance(clause.predicate, Existing) else None
    if stem is None:
        assert isinstance(clause.predicate, Verb)
        stem = clause.predicate.stem
    last = named(korean.relative(stem, clause.tense), f"{names}predicate")
    return [word for role in clause.order if role in found for word in found[role]] + [last]


def _asked(clause: Clause, names: str) -> list[Word]:
    """어디에서; 몇 시에, which is two words"""
    if clause.asked is None:
        return []
    if clause.asked.role == "hour":
        first, *others = clause.asked.word
        return [[Part(first, f"{names}asked")], named(tuple(others), f"{names}asked")]
    return [named(clause.asked.word, f"{names}asked")]


def _split(clause: Clause, names: str) -> list[Word]:
    """공부를, of 공부하다"""
    assert isinstance(clause.predicate, Verb)
    noun = clause.predicate.stem.text[:-1]
    return [[Part(noun, f"{names}predicate"), Part(korean.particle(noun, "object"))]]


def _adverb(clause: Clause, names: str) -> list[Word]:
    """빨리, 아주 빨리"""
    degree = [] if clause.degree is None else [[Part(clause.degree.korean, f"{names}degree")]]
    return degree if clause.adverb is None else [*degree, [Part(clause.adverb.korean, f"{names}adverb")]]


def _double(clause: Clause) -> bool:
    return isinstance(clause.predicate, Verb) and clause.predicate.shape == "double"


def _subject(clause: Clause, names: str) -> list[Word]:
    if not clause.subjects:
        return []
    noun = clause.subjects[-1].noun
    if clause.mood == "suggestion":  # 우리 가자
        return [[Part(noun.korean, f"{names}subject 0")]]
    if clause.honoured and noun.honoured and clause.full and not clause.subjects[-1].focus:
        words = phrases(clause.subjects, f"{names}subject", "께서")
        words[-1] += [Part("는")] * (clause.topic == "subject")
        return words
    if clause.topic == "subject" and not clause.full and noun.korean.endswith("것"):  # 이건 for 이것은
        return [[Part(noun.korean[:-1] + "건", f"{names}subject 0")]]
    return phrases(clause.subjects, f"{names}subject", "topic" if clause.topic == "subject" else "subject")


def _recipient(clause: Clause, names: str) -> list[Word]:
    if clause.recipient is None:
        return []
    honoured = clause.recipient.noun.honoured and clause.full
    casual = clause.style in ("casual", "polite") and not clause.full
    return phrase(clause.recipient, f"{names}recipient", "께" if honoured else "한테" if casual else "에게")


def _companion(clause: Clause, names: str) -> list[Word]:
    if clause.companion is None:
        return []
    words = phrase(clause.companion, f"{names}companion", clause.companion.joiner)
    return words + [[Part(clause.together)]] * bool(clause.together)


def _means(clause: Clause, names: str) -> list[Word]:
    if clause.means is None:
        return []
    means = clause.means.korean
    return [[Part(means, f"{names}means"), Part(korean.particle(means, "by"))]]


def _place(clause: Clause, verb: Verb | None, names: str) -> list[Word]:
    """학교에 if one goes, is or lives there, 학교에서 if something happens there, 학교를 if it is gone along."""
    if clause.place is None:
        return []
    there = isinstance(clause.predicate, Existing) or (
        verb is not None and verb.shape in ("to", "into", "in", "weather")
    )
    particle = [Part("에" if there else "에서")] + [Part("는")] * (clause.topic == "place")
    if clause.along and not isinstance(clause.place, Position):
        place = clause.place.place if isinstance(clause.place, Site) else clause.place
        particle = [Part(korean.particle(place.korean, "object"))]
    if isinstance(clause.place, Place):
        return [[Part(clause.place.korean, f"{names}place"), *particle]]
    if isinstance(clause.place, Site):
        return [*_before_site(clause.place, names), [Part(clause.place.place.korean, f"{names}place"), *particle]]
    assert isinstance(clause.place, Position)
    return [
        [Part(clause.place.noun.korean, f"{names}place")],
        [Part(clause.place.position, f"{names}position"), *particle],
    ]


def _before_site(site: Site, names: str) -> list[Word]:
    """우리 큰, 저"""
    words: list[Word] = []
    if site.beside is not None:
        words.append([Part(site.beside.noun.korean, f"{names}place beside")])
        words += [[Part(site.beside.position, f"{names}place position"), Part("에")], [Part("있"), Part("는")]]
    if site.owner is not None:
        words.append(owner_in_korean(site.owner, f"{names}place owner"))
    if site.pointer:
        words.append([Part(site.pointer, f"{names}place pointer")])
    if site.adjective is not None:
        words.append(modifier(site.adjective, f"{names}place adjective"))
    return words


def _time(clause: Clause, names: str) -> list[Word]:
    """어제, 아침에, 아침 일곱 시에, 어제는, 어제도"""
    words: list[Word] = []
    particle = ""
    if clause.time is not None:
        words = [[Part(word, f"{names}time")] for word in clause.time.korean.split()]
        particle = clause.time.particle
    if clause.hour:
        words += [[Part(clause.hour, f"{names}hour")], [Part("시")]]
        particle = "에"
    if words:
        words[-1] += [Part(particle)] * bool(particle)
        if clause.topic == "time":
            words[-1].append(Part(korean.particle(words[-1][-1].piece, "topic")))
        words[-1] += [Part("도")] * clause.also
    return words


def _predicate(clause: Clause, joint: str, names: str) -> list[Word]:
    """Its first word carries the meaning, 안 stands before it, and what follows is grammar."""
    predicate, name = clause.predicate, f"{names}predicate"
    manner = Manner(clause.tense, clause.style, clause.mood, clause.honoured, isinstance(predicate, Verb), clause.full)
    if isinstance(predicate, Being):
        return _being(predicate, clause, manner, joint, name)
    if isinstance(predicate, Existing):
        stem, manner = (ABSENT if predicate.absent else EXISTING), manner._replace(verb=False)
        stem, name = (MANY, name) if predicate.plenty == "많" else (stem, "")
        if clause.honoured:  # 계시다, and 안 계시다
            stem, manner = korean.STAY, manner._replace(verb=True, honoured=False)
    else:
        stem = predicate.stem
        manner = manner._replace(verb=manner.verb and (not _double(clause) or stem.text == "되"))
    if isinstance(predicate, Verb) and predicate.shape == "weather":
        name = ""  # 비 says that it rains, and 오다 nothing
    before: list[Word] = []
    if isinstance(predicate, Existing) and predicate.absent and clause.honoured:
        before = [[Part("안")]]
    if isinstance(predicate, Existing) and predicate.plenty == "많이":
        before = [[Part("많이", f"{names}predicate")]]
    if clause.split:
        stem, name = korean.HA, ""
    if clause.denial in ("안", "못"):
        before = [[Part(clause.denial)]]
        if not clause.split and isinstance(predicate, Verb) and predicate.nominal:  # 공부 안 했다
            before = [[Part(stem.text[:-1], name)], *before]
            stem = korean.HA
    words, stem, manner = _chain(clause, stem, manner)
    words = [*words, *_ended(clause, stem, manner, joint)]
    modal = {"want": f"{names}want"}.get(clause.modal, "")
    first = [named(words[0], (name if not before or len(before) == 1 else "") or None)]
    return before + first + [named(word, modal or None) for word in words[1:]]


def _chain(clause: Clause, stem: Stem, manner: Manner) -> tuple[list[korean.Word], Stem, Manner]:
    """The words up to the one that is conjugated, and that one's stem: 잡고 and 싶, 잡지 and 않."""
    words: list[korean.Word] = []
    if clause.full and stem.text in APART:  # 빌려 줬다
        words, stem = [(stem.text[:-1],)], Stem("주")
    if clause.modal == "doing":
        words = [*words, korean.joined(stem, "고")]
        stem = korean.STAY if manner.honoured else EXISTING
        manner = manner._replace(verb=manner.honoured, honoured=False)
    elif clause.modal == "want":
        words, stem, manner = [*words, korean.joined(stem, "고")], Stem("싶"), manner._replace(verb=False)
        if _another(clause):  # 가고 싶어 한다
            words, stem, manner = [*words, ("싶어",)], korean.HA, manner._replace(verb=True)
    elif clause.modal == "can":
        words = [*words, korean.possible(stem), ("수",)]
        stem, manner = (ABSENT if clause.denial else EXISTING), manner._replace(verb=False)
    elif clause.modal == "must":
        words, stem = [*words, korean.necessary(stem)], korean.HA
    elif clause.modal == "try":
        words, stem = [*words, korean.obliging(stem)], TRY
    if clause.mood in ("command", "suggestion"):
        return words, stem, manner
    if clause.denial in ("않다", "못하다") and clause.modal != "can":
        words.append(korean.joined(stem, "지"))
        stem = NOT if clause.denial == "않다" else CANNOT
    return words, stem, manner


def _another(clause: Clause) -> bool:
    """Whether it is said of someone else, whose wishes one only sees."""
    return bool(clause.subjects) and clause.subjects[0].noun.english not in ("I", "we", "you")


def _ended(clause: Clause, stem: Stem, manner: Manner, joint: str) -> list[korean.Word]:
    if joint:
        return [_tied(clause, stem, manner, joint)]
    if clause.mood == "command":
        if clause.denial:
            return [korean.joined(stem, "지"), (DO_NOT[clause.style],)]
        obliging = clause.full and clause.style != "plain" and not clause.modal
        if obliging and not stem.text.endswith("주") and stem.text != "빌리":  # 열어 주세요; 빌려 주세요 is to lend
            return [korean.obliging(stem), korean.commanded(Stem("주"), clause.style)]
        return [korean.commanded(stem, clause.style)]
    if clause.mood == "suggestion":
        if clause.denial:
            return [korean.joined(stem, "지"), (LET_US_NOT[clause.style],)]
        if clause.style == "polite":  # 같이 가요
            return list(korean.conjugated(stem, manner))
        return [korean.suggested(stem, clause.style)]
    return list(korean.conjugated(stem, manner))


def _tied(clause: Clause, stem: Stem, manner: Manner, joint: str) -> korean.Word:
    """먹고, 먹었고, 가셨지만: the ending that joins a clause to the next"""
    head: korean.Word = ()
    if manner.honoured:
        head, honour = korean.honoured(stem)
        stem = Stem(honour)
    if joint == "서":
        return (*head, *korean.since(stem))
    if manner.tense == "past" and (clause.full or joint == "지만"):
        return (*head, *korean.past(stem), joint)
    return (*head, *korean.joined(stem, joint))


def _being(being: Being, clause: Clause, manner: Manner, joint: str, name: str) -> list[Word]:
    """학생이다, 학생이 아니다, 학생일 것이다, 무엇입니까, 학생이고"""
    if being.complement is None:
        words: list[Word] = [[Part(word, name)] for word in being.asked.split()]
        words += [[Part(being.hour, name)], [Part("시", name)]] if being.hour else []
    else:
        before = being.complement.relative
        words = [] if before is None else relative_in_korean(before, f"{name} relative ")
        words += phrase(being.complement, name, "subject")
        words[-1].pop()
    noun = words[-1][-1].piece
    if clause.denial:
        words[-1].append(Part(korean.particle(noun, "subject")))
        tied = ("아니", "라서") if joint == "서" else korean.joined(Stem("아니"), joint)
        last = [tied] if joint else list(korean.not_being(manner))
        return words + [named(word, None) for word in last]
    if joint == "서":
        words[-1].append(Part("이라서" if korean.letters(noun[-1]).final else "라서"))
        return words
    if joint:
        words[-1] += named(
            ("이었" if korean.letters(noun[-1]).final else "였", joint) if manner.tense == "past" else ("이", joint),
            None,
        )
        return words
    words[-1] += named(korean.being(noun, manner), None)
    if manner.tense == "future":
        words.append(named(korean.conjugated(Stem("이"), manner)[1], None))
    return words
