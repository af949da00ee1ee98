"""How a clause is said, once it is settled what it says: tense, style, time, adverb, particles and order."""

from __future__ import annotations

import random

from clearhead.translate.lexicon import (
    ADVERBS,
    DAYS,
    HOURS,
    PARTS_OF_DAYS,
    SEASONS,
    TIMES,
    VERBS,
    WEEKS,
    YEARS,
    Adjective,
    Adverb,
    Time,
    Verb,
    nouns,
)
from clearhead.translate.meaning import ROLES, Being, Clause, Existing, NounPhrase, Position, implied
from clearhead.translate.phrases import LIVING, likely

STYLES = ("plain", "casual", "polite", "formal")
DEGREES = [adverb for adverb in ADVERBS if adverb.english in ("very", "too", "really")]
GRADED = {"well", "quickly", "slowly", "hard", "early", "late", "a lot"}  # what can be done very well
LIKING, FEELING = {"like", "love", "hate"}, {"sick", "busy", "tired", "sad", "hungry"}


def finished(generator: random.Random, clause: Clause) -> Clause:
    """Tense, style, time, adverb, particles and order."""
    clause = _in_style(generator, clause)
    clause = _at_a_time(generator, clause)
    clause = _with_adverb(generator, clause)
    if _sounds_like_a_command(clause):
        clause = clause._replace(style="plain")
    clause = _focused(generator, clause)
    clause = clause._replace(topic=_topic(generator, clause))
    return _ordered(generator, clause)


def _sounds_like_a_command(clause: Clause) -> bool:
    """천천히 먹어: among friends, what nobody in particular does at no particular time is to be done."""
    verb = clause.predicate
    if not isinstance(verb, Verb) or clause.mood != "statement" or clause.subjects or clause.tense != "present":
        return False
    habit = clause.adverb is not None and clause.adverb.position == "middle"
    said_otherwise = clause.denial or clause.modal or clause.time is not None or clause.hour or habit
    return clause.style == "casual" and not said_otherwise and not verb.lasting


def _in_style(generator: random.Random, clause: Clause) -> Clause:
    told = clause.mood in ("command", "suggestion")
    predicate = clause.predicate
    humble = any("humble" in one.noun.kinds for one in clause.phrases)
    if told:
        command = ("polite", "formal") if humble else ("plain", "casual", "polite", "polite", "formal")
        suggestion = ("formal",) if humble else ("plain", "formal") if clause.denial else ("plain", "formal", "polite")
        styles: tuple[str, ...] = command if clause.mood == "command" else suggestion
        return clause._replace(style=generator.choice(styles), tense="present", full=likely(generator, 0.5))
    [style] = generator.choices(STYLES, (32, 13, 33, 22))
    style = generator.choice(("polite", "formal")) if humble else style
    if isinstance(predicate, Being) and predicate.complement is None:
        if predicate.asked == "무엇":
            style = generator.choice(("plain", "formal"))
        elif predicate.asked == "뭐":
            style = generator.choice(("casual", "polite"))
        elif clause.mood == "question" and style == "plain" and (predicate.hour or predicate.asked == "몇 시"):
            style = "polite"
        return clause._replace(style=style, tense="present", full=likely(generator, 0.5))
    [tense] = generator.choices(("past", "present", "future", "will"), (36, 38, 14, 12))
    if clause.modal in ("doing", "want", "can") or clause.denial in ("못", "못하다"):
        tense = generator.choice(("past", "present"))
    elif clause.modal == "try":
        tense = "past" if clause.mood == "question" else generator.choice(("past", "past", "future"))
    elif clause.subjects and "dated" in clause.subjects[0].noun.kinds.split():  # 어제는 월요일이었다
        tense = "past" if clause.subjects[0].noun.english == "yesterday" else "present"
    if isinstance(predicate, Being | Existing) or clause.modal == "must":
        tense = "future" if tense == "will" else tense
    honoured = False
    if not isinstance(predicate, Being | Existing) and not (
        isinstance(predicate, Verb) and predicate.shape in ("double", "weather")
    ):
        if any(one.noun.honoured for one in clause.subjects[-1:]):
            honoured = likely(generator, 0.55)
        elif (not clause.subjects and clause.mood == "question" and clause.asked is None) or (
            clause.asked and clause.asked.role != "subject" and not clause.subjects
        ):
            honoured = style in ("polite", "formal") and likely(generator, 0.35) and implied(clause).english == "you"
    if isinstance(predicate, Existing) and not predicate.plenty:  # 집에 계세요
        respected = clause.mood == "question" and style in ("polite", "formal") and not clause.subjects
        honoured = (respected or any(_one_respected(one) for one in clause.subjects[-1:])) and likely(generator, 0.5)
    return clause._replace(tense=tense, style=style, honoured=honoured, full=likely(generator, 0.5))


def _one_respected(one: NounPhrase) -> bool:
    return one.noun.honoured and not (one.number or one.many)


def _at_a_time(generator: random.Random, clause: Clause) -> Clause:
    predicate = clause.predicate
    verb = predicate if isinstance(predicate, Verb) else None
    if clause.modal == "try" and clause.past:  # which was at some time
        return clause
    if (verb is not None and verb.lasting) or (clause.asked is not None and clause.asked.role == "time"):
        return clause
    simply = isinstance(predicate, Existing) and clause.place is None and clause.asked is None
    chance = 0.34 if verb is not None else 0.14 if isinstance(predicate, Adjective) or simply else 0.05
    if isinstance(predicate, Adjective) and not clause.subjects and "climate" in predicate.nouns.split():
        chance = 0.5
    if isinstance(predicate, Being) or not likely(generator, chance):
        return clause
    if clause.mood == "command" and clause.style == "casual" and not clause.denial:
        return clause  # at a time, it would not sound like a command
    tenses = ["future" if clause.future else clause.tense]
    if (
        clause.mood in ("command", "suggestion")
        or clause.modal == "must"
        or (verb is not None and clause.tense == "present")
    ):
        tenses.append("future")
    fitting = [time for time in TIMES if set(tenses) & set(time.tenses.split())]
    if clause.modal in ("doing", "want", "can") or not verb:
        fitting = [time for time in fitting if not time.habit]
    habit = verb is not None and not clause.modal and clause.tense in ("past", "present")
    time = _part_of(generator, generator.choice(fitting), [*tenses, *["habit"] * habit])
    hour = ""
    asked = clause.asked is not None and clause.asked.role == "hour"
    if verb is not None and verb.shape != "weather" and likely(generator, 0.18) and time.english != "now" and not asked:
        hour = generator.choice(list(HOURS))
        if likely(generator, 0.35):
            return clause._replace(hour=hour)
    return clause._replace(time=time, hour=hour, also=likely(generator, 0.06) and clause.mood == "statement")


def _part_of(generator: random.Random, time: Time, tenses: list[str]) -> Time:
    """월요일 아침 for 월요일, or 다음 주 월요일, now and then; 작년 겨울 for 겨울."""
    if time.korean not in DAYS | SEASONS or not likely(generator, 0.55):
        return time
    if likely(generator, 0.6) or time.korean in SEASONS:
        return _which(generator, time, tenses)
    part = generator.choice(list(PARTS_OF_DAYS))
    return time._replace(korean=f"{time.korean} {part}", english=f"{time.english} {PARTS_OF_DAYS[part]}")


def _which(generator: random.Random, time: Time, tenses: list[str]) -> Time:
    """Last winter, next Monday, every Saturday: one that goes with the tense, if there is any."""
    wholes = WEEKS | {"매주": ("every", "habit")} if time.korean in DAYS else YEARS
    found = [(whole, which, tense) for whole, (which, tense) in wholes.items() if tense in tenses]
    if not found:
        return time
    whole, which, tense = generator.choice(found)
    if tense == "habit":
        return time._replace(korean=f"{whole} {time.korean}", english=f"every {time.english}", before="", habit=True)
    return time._replace(korean=f"{whole} {time.korean}", english=f"{which} {time.english}", before="", tenses=tense)


def _with_adverb(generator: random.Random, clause: Clause) -> Clause:
    if clause.mood == "suggestion" and (clause.subjects or clause.style == "polite"):
        # 우리 부엌에 가자 would be to our kitchen, and 부엌에 가요 that I go there
        if clause.subjects and clause.style != "polite" and (clause.time or clause.hour) and likely(generator, 0.6):
            return clause  # 우리 내일 가자
        together = generator.choice([adverb for adverb in ADVERBS if adverb.english == "together"])
        alone = clause.companion is None
        return clause._replace(adverb=together) if alone else clause._replace(subjects=(), style="formal")
    predicate = clause.predicate
    kind = "verb" if isinstance(predicate, Verb) else "adjective" if isinstance(predicate, Adjective) else ""
    going = {kind, *_goes_also(clause)}
    if (adverb := _early_or_late(generator, clause)) is not None:
        return clause._replace(adverb=adverb)
    if not kind or not likely(generator, 0.4 if "all" in going else 0.15 if kind == "verb" else 0.22):
        return clause
    fitting = [adverb for adverb in ADVERBS if going & set(adverb.goes.split())]
    if "all" in going and likely(generator, 0.6):
        fitting = [adverb for adverb in fitting if adverb.position == "all"]
    verb = predicate if isinstance(predicate, Verb) else None
    once = clause.modal or clause.future or (clause.time is not None and clause.time.habit)
    if clause.mood in ("command", "suggestion"):
        fitting = [adverb for adverb in fitting if adverb.position != "middle"]
    if verb is not None and (verb.lasting or verb.shape == "weather"):
        allowed = {"always", "often", "sometimes", "a lot", "really", "very much"}
        fitting = [adverb for adverb in fitting if adverb.english in allowed]
    if once:
        fitting = [adverb for adverb in fitting if not adverb.habit]
    if not _several(clause):
        fitting = [adverb for adverb in fitting if adverb.english != "together"]
    if not fitting:
        return clause
    adverb = generator.choice(fitting)
    degrees = [degree for degree in DEGREES if degree.english != "really" or adverb.english != "a lot"]
    degree = generator.choice(degrees) if adverb.english in GRADED and likely(generator, 0.2) else None
    return clause._replace(adverb=adverb, degree=degree if clause.mood in ("statement", "question") else None)


def _early_or_late(generator: random.Random, clause: Clause) -> Adverb | None:
    """What is often said of a morning and of a night."""
    verb, time = clause.predicate, clause.time
    if not isinstance(verb, Verb) or verb.lasting or verb.shape in ("double", "weather") or time is None or clause.hour:
        return None
    english = "early" if time.korean.endswith("아침") else "late" if time.korean.endswith(("밤", "저녁")) else ""
    found = [adverb for adverb in ADVERBS if adverb.english == english]
    return found[0] if found and likely(generator, 0.2) else None


def _goes_also(clause: Clause) -> list[str]:
    """What else an adverb may go with: how one likes something, how one is, and all of what there is."""
    predicate = clause.predicate
    if isinstance(predicate, Adjective):
        return ["feeling"] * (predicate.english in FEELING)
    if not isinstance(predicate, Verb):
        return []
    if predicate.english in LIKING and predicate.shape == "":
        return ["liking"]
    (*others, one) = clause.objects or clause.subjects or (None,)
    if one is None or others or clause.denial or clause.modal or predicate.lasting or predicate.shape not in ("", "to"):
        return []
    uncounted = one.noun.article == "mass" or "several" in one.noun.kinds.split()
    plain = not (one.number or one.noun.oblique or one.nameless) and bool(one.noun.article)
    return ["all"] * (
        plain and one.noun.article not in ("my", "your") and (one.many or (uncounted and clause.objects != ()))
    )


def _several(clause: Clause) -> bool:
    """Whether they can do it together."""
    if clause.companion is not None:  # 친구와 같이 is with a friend
        return False
    return clause.mood == "suggestion" or len(clause.subjects) > 1 or any(one.plural for one in clause.subjects)


def _focused(generator: random.Random, clause: Clause) -> Clause:
    """도 or 만 on the subject or on the object."""
    if clause.asked is not None or clause.also or not likely(generator, 0.12):
        return clause
    predicate = clause.predicate
    if isinstance(predicate, Existing) and (clause.place is None or predicate.plenty):
        return clause
    if clause.adverb is not None and clause.adverb.position == "all":
        return clause
    if isinstance(predicate, Verb) and predicate.english == "know" and not clause.subjects:
        return clause  # 너도 알아 would be: you know too
    if isinstance(predicate, Being) and predicate.complement is None:
        return clause
    focus = generator.choice(("도", "만"))
    double = isinstance(predicate, Verb) and predicate.shape in ("double", "weather")
    if len(clause.objects) == 1 and likely(generator, 0.5) and not double:
        return clause._replace(objects=(clause.objects[0]._replace(focus=focus),))
    if len(clause.subjects) == 1 and not (double and focus == "만") and clause.mood != "suggestion":
        if isinstance(predicate, Verb) and predicate.shape == "weather":
            return clause
        return clause._replace(subjects=(clause.subjects[0]._replace(focus=focus),))
    return clause


def _topic(generator: random.Random, clause: Clause) -> str:
    """Which role has 은/는."""
    predicate = clause.predicate
    double = isinstance(predicate, Verb) and predicate.shape == "double"
    focused = any(one.focus for one in clause.subjects)
    if double:
        if clause.subjects:
            return "subject" if not focused and likely(generator, 0.8) else ""
        return "object" if len(clause.objects) == 1 and not clause.objects[0].focus and likely(generator, 0.25) else ""
    subject = clause.subjects[0].noun if clause.subjects else None
    if isinstance(predicate, Being) and predicate.complement is not None and clause.denial:
        return "subject" if clause.subjects and not focused else ""
    there = isinstance(predicate, Existing) and clause.place is None
    chances = {"subject": 0.0, "object": 0.0, "time": 0.05, "place": 0.03}
    chances["time"] = 0.5 if there or isinstance(predicate, Being) else 0.05
    if subject is not None and not focused and not (isinstance(predicate, Verb) and predicate.shape == "weather"):
        chances["subject"] = 0.8 if subject.oblique or isinstance(predicate, Being) else 0.4
    if _may_be_topic(clause):
        chances["object"] = 0.3 if clause.asked is not None and clause.asked.role == "subject" else 0.08
    if (clause.time is None and not clause.hour) or clause.also:
        chances["time"] = 0.0
    if clause.place is None:
        chances["place"] = 0.0
    for role in ("object", "time", "place", "subject"):
        if likely(generator, chances[role]):
            return role
    return ""


def _may_be_topic(clause: Clause) -> bool:
    """Whether the object may have 은/는: 빵은 아이가 먹었다; 커피는 안 마셔요, where it could not be who drinks."""
    if len(clause.objects) != 1 or clause.objects[0].focus or clause.mood in ("command", "suggestion"):
        return False
    noun, verb = clause.objects[0].noun, clause.predicate
    if clause.subjects and clause.mood == "statement":
        return True
    same = [one for one in VERBS if isinstance(verb, Verb) and one.stem == verb.stem and not one.takes[0][1]]
    alone = any(noun in nouns(one.takes[0][0]) for one in same)  # 가게는 연다: it opens
    asked = clause.asked is not None and clause.asked.role == "subject"
    return (asked or (not clause.subjects and not alone)) and noun not in LIVING and not noun.oblique


def _ordered(generator: random.Random, clause: Clause) -> Clause:
    """The order that Korean prefers, or another one."""
    order = list(ROLES)
    if likely(generator, 0.5):  # the time after the subject
        order[:2] = ["subject", "time"]
    if likely(generator, 0.4):
        order = generator.sample(order, len(order))
    elif clause.topic in ("object", "place"):
        order.remove(clause.topic)
        order.insert(0, clause.topic)
    order.remove("adverb")
    order.insert(_place_of(generator, clause.adverb, order), "adverb")
    if likely(generator, 0.5):
        order.remove("asked")
        order.insert(order.index("subject") + 1, "asked")
    double = isinstance(clause.predicate, Verb) and clause.predicate.shape == "double"
    if double:  # 나는 시간이: who has it comes first
        order.remove("subject")
        order.insert(order.index("object"), "subject")
    if clause.mood == "suggestion" and clause.subjects:  # 우리 같이 가자
        second = "time" if clause.adverb is None else "adverb"
        order = ["subject", second, *(role for role in order if role not in ("subject", second))]
    together = generator.choice(("함께", "같이", "", ""))
    clause = _attached(generator, clause._replace(order=tuple(order), together=together))
    if clause.companion is not None and not together and not _clearly_with(clause):
        clause = clause._replace(together=generator.choice(("함께", "같이")))
    counted = any(one.number for one in clause.objects)
    where = isinstance(clause.predicate, Existing) and clause.asked is not None
    dropped = clause.style in ("casual", "polite") and not double
    dropped = dropped and likely(generator, 0.5 if where else 0.3 if counted else 0.1)
    return clause._replace(bare=dropped and (_may_be_bare(clause) or _bare_subject(clause)))


def _attached(generator: random.Random, clause: Clause) -> Clause:
    """아침 일찍, 밤 늦게: right behind a part of a day, which then has no particle."""
    time, adverb = clause.time, clause.adverb
    if time is None or adverb is None or clause.hour or clause.also or clause.topic == "time" or clause.degree:
        return clause
    parts = {"early": ("아침",), "late": ("밤", "저녁")}.get(adverb.english, ())
    if not parts or not time.korean.endswith(parts) or not time.particle or not likely(generator, 0.7):
        return clause
    order = [role for role in clause.order if role != "adverb"]
    order.insert(order.index("time") + 1, "adverb")
    return clause._replace(order=tuple(order), attached=True)


def _bare_subject(clause: Clause) -> bool:
    """그 책 정말 재미있어요, 내 지갑 어디 있어: which one or whose, right before what it is like, or where."""
    where = isinstance(clause.predicate, Existing) and clause.asked is not None
    if not (isinstance(clause.predicate, Adjective) or where) or clause.honoured or len(clause.subjects) != 1:
        return False
    one, roles = clause.subjects[0], filled_roles(clause)
    plain = not (one.focus or one.floating or one.number or one.relative)
    return (
        plain
        and bool(one.pointer or one.owner)
        and roles[-2:] in (["subject"], ["subject", "adverb"], ["subject", "asked"])
    )


def _place_of(generator: random.Random, adverb: Adverb | None, order: list[str]) -> int:
    """Mostly right before the verb; together and how often, as often right after the subject."""
    if adverb is not None and adverb.position == "all":
        return len(order)
    anywhere = adverb is not None and (adverb.habit or adverb.english == "together")
    if likely(generator, 0.4 if anywhere else 0.75):
        return len(order)
    return order.index("subject") + 1 if anywhere and likely(generator, 0.6) else generator.randrange(len(order) + 1)


def filled_roles(clause: Clause) -> list[str]:
    """The roles that are filled, in the order of the clause."""
    filled = {
        "time": clause.time is not None or clause.hour,
        "subject": clause.subjects,
        "companion": clause.companion is not None,
        "origin": clause.origin is not None,
        "means": clause.means is not None,
        "place": clause.place is not None,
        "recipient": clause.recipient is not None,
        "object": clause.objects or clause.split,
        "asked": clause.asked is not None,
        "adverb": clause.adverb is not None,
    }
    return [role for role in clause.order if filled[role]]


def _clearly_with(clause: Clause) -> bool:
    """친구와 before 빵을 is with a friend; before 아이를 it would be a friend and a child."""
    roles = filled_roles(clause)
    following = [*roles[roles.index("companion") + 1 :], ""][0]
    if following == "object" and not clause.split:
        return clause.objects[0].noun not in LIVING and not clause.objects[0].noun.oblique
    return following not in ("subject", "recipient", "asked")


def _may_be_bare(clause: Clause) -> bool:
    """밥 먹었어요, 학교 가요: one thing, or the place one goes to, right before the verb."""
    roles = filled_roles(clause)
    verb = clause.predicate
    if not roles or not isinstance(verb, Verb) or clause.denial in ("안", "못") or clause.topic == roles[-1]:
        return False
    if clause.split:
        return False
    if roles[-1] == "object":
        (one, *more) = clause.objects
        return not more and one.noun not in LIVING and not one.noun.oblique and not one.focus and not one.floating
    return roles[-1] == "place" and verb.shape == "to" and not isinstance(clause.place, Position)
