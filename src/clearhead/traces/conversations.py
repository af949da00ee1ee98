"""The parts of a conversation: which tokens are the system's words, the user's, the assistant's, and the template's.

A chat template writes messages into one text, with signs of its own around them. To find out which is which, it is
asked to write the same messages once more with a mark in the place of each text; what is left is its own, and what it
writes for an image beside a text or between two of them is the speaker's as they are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from clearhead.text.spans import Span, Spans, token_spans

MARK = "\ue000{}\ue001"  # private use: no template and no message has it
TEMPLATE, GENERATED = "template", "generated"

Messages = Sequence[Mapping[str, Any]]


class Part(NamedTuple):
    """A message of the conversation, and where its content stands in the text."""

    name: str
    start: int
    stop: int


def read(ids: Any, tokenizer: Any, messages: Messages, text: str | None = None) -> tuple[Spans, list[str]]:
    """Where the tokens of a conversation stand, and the part that each belongs to.

    text: what the template wrote, where it was asked for more than the messages, such as tools.
    """
    named = _named(messages)
    if text is not None:
        spans = token_spans(ids, tokenizer, text)
        parts, end = _searched(text, named), len(text)
    else:
        spans, text = _written(ids, tokenizer, messages)
        parts, end = _marked(text, tokenizer, messages, named), len(text)
    shift = spans.text.index(text)
    parts = [Part(name, start + shift, stop + shift) for name, start, stop in parts]
    return spans, [_part(place, parts, shift + end) for place in spans.offsets]


def _part(place: Span, parts: list[Part], end: int) -> str:
    """The part that a token belongs to."""
    start, stop = place
    if start >= end:
        return GENERATED
    return next((part.name for part in parts if start < part.stop and part.start < stop), TEMPLATE)


def _named(messages: Messages) -> list[tuple[str, list[str]]]:
    """The name of each message, and its texts; a role that comes again is numbered."""
    counts: Counter[str] = Counter()
    found = []
    for message in messages:
        if not isinstance(message, Mapping) or "role" not in message:
            raise TypeError(f"a message is a mapping such as {{'role': 'user', 'content': '…'}}, got {message!r}")
        role = str(message["role"])
        counts[role] += 1
        found.append((role if counts[role] == 1 else f"{role} {counts[role]}", _texts(message)))
    return found


def _texts(message: Mapping[str, Any]) -> list[str]:
    """The texts of a message: one, or several with images and such between them."""
    content = message.get("content") or ""
    return [content] if isinstance(content, str) else [str(item["text"]) for item in content if "text" in item]


def _with_texts(message: Mapping[str, Any], texts: Sequence[str], *, alone: bool = False) -> dict[str, Any]:
    """The same message with other texts, as many as it has. alone: without what is beside them"""
    content = message.get("content") or ""
    if isinstance(content, str):
        return {**message, "content": texts[0]}
    given = iter(texts)
    items = [{**item, "text": next(given)} if "text" in item else item for item in content]
    return {**message, "content": [x for x in items if "text" in x] if alone and texts else items}


def _written(ids: Any, tokenizer: Any, messages: Messages) -> tuple[Spans, str]:
    """What the template wrote, with or without the beginning of an answer."""
    if getattr(tokenizer, "chat_template", None) is None:
        raise ValueError(
            "messages were given, and the tokenizer has no chat template to write them with (tokenizer.chat_template); "
            "give the text that the ids were made from too"
        )
    why: ValueError | None = None
    for prompt in (True, False):
        text = tokenizer.apply_chat_template(list(messages), tokenize=False, add_generation_prompt=prompt)
        try:
            return token_spans(ids, tokenizer, text), text
        except ValueError as error:
            why = error
    raise ValueError(f"the ids are not what the chat template makes of the messages: {why}") from None


def _marked(text: str, tokenizer: Any, messages: Messages, named: list[tuple[str, list[str]]]) -> list[Part]:
    """Where contents stand, by what the template writes around marks in the places of their texts."""
    names = [name for name, texts in named for _ in texts]
    texts = [x for _, own in named for x in own]
    marks = [MARK.format(i) for i in range(len(texts))]
    written = _around(tokenizer, messages, named, marks)
    parts, place = [], 0
    for (i, before), (_, after) in pairwise(written):
        ways = (texts[i], texts[i].strip(), texts[i].lstrip(), texts[i].rstrip())
        start = place + len(before)
        fits = [x for x in ways if text.startswith(before, place) and text.startswith(x + after, start)]
        if not fits:
            raise ValueError(
                f"the chat template does not write {names[i]!r} as it stands in the messages; give the text that it "
                "wrote"
            )
        place = start + len(fits[0])
        parts.append(Part(names[i], start, place))
    if any(not isinstance(item, str) and "text" not in item for message in messages for item in _items(message)):
        parts = _with_images(parts, written, _around(tokenizer, messages, named, marks, alone=True))
    return _joined(parts)


def _items(message: Mapping[str, Any]) -> Sequence[Any]:
    content = message.get("content") or ""
    return [content] if isinstance(content, str) else content


def _around(
    tokenizer: Any, messages: Messages, named: list[tuple[str, list[str]]], marks: list[str], *, alone: bool = False
) -> list[tuple[int, str]]:
    """What the template writes before each mark that it writes, in its order, and last, as the −1st, after them."""
    given = iter(marks)
    with_marks = [
        _with_texts(message, [next(given) for _ in texts], alone=alone)
        for message, (_, texts) in zip(messages, named, strict=True)
    ]
    written = tokenizer.apply_chat_template(with_marks, tokenize=False, add_generation_prompt=False)
    order = sorted((i for i, mark in enumerate(marks) if mark in written), key=lambda i: written.index(marks[i]))
    found = []
    for i in order:
        before, _, written = written.partition(marks[i])
        found.append((i, before))
    return [*found, (-1, written)]


def _with_images(parts: list[Part], written: list[tuple[int, str]], alone: list[tuple[int, str]]) -> list[Part]:
    """Parts with what the template writes right before and after their texts for images and such.

    written, alone: what it writes before each text, with those and without
    """
    if [i for i, _ in written] != [i for i, _ in alone]:  # it writes other texts without the images
        return parts
    found = list(parts)
    for number, ((_, beside), (_, by_itself)) in enumerate(zip(written, alone, strict=True)):
        at = beside.rfind(by_itself) if number == len(parts) else beside.find(by_itself)
        if at < 0:  # they are written somewhere else, such as before whose words they are
            continue
        if number:
            found[number - 1] = found[number - 1]._replace(stop=found[number - 1].stop + at)
        if number < len(parts):
            before = len(beside) - at - len(by_itself)
            found[number] = found[number]._replace(start=found[number].start - before)
    return found


def _joined(parts: list[Part]) -> list[Part]:
    """Neighbours of one name as one part, with what is between them."""
    found: list[Part] = []
    for part in parts:
        if found and found[-1].name == part.name:
            found[-1] = found[-1]._replace(stop=part.stop)
        else:
            found.append(part)
    return found


def _searched(text: str, named: list[tuple[str, list[str]]]) -> list[Part]:
    """Where contents stand in a text, one after the other."""
    parts, place = [], 0
    for name, content in ((name, content) for name, texts in named for content in texts):
        start = text.find(content.strip(), place)
        if start < 0:
            raise ValueError(f"the text does not hold the content of {name!r} after that of the messages before it")
        place = start + len(content.strip())
        parts.append(Part(name, start, place))
    return _joined(parts)
