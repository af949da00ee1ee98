"""The parts of a conversation: which tokens are the system's words, the user's, the assistant's, and the template's.

A chat template writes messages into one text, with signs of its own around them. To find out which is which, it is
asked to write the same messages once more with a mark in the place of each content; what is left is its own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
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


def _named(messages: Messages) -> list[tuple[str, str]]:
    """The name of each message, and its content as text; a role that comes again is numbered."""
    counts: Counter[str] = Counter()
    found = []
    for message in messages:
        if not isinstance(message, Mapping) or "role" not in message:
            raise TypeError(f"a message is a mapping such as {{'role': 'user', 'content': '…'}}, got {message!r}")
        role = str(message["role"])
        counts[role] += 1
        found.append((role if counts[role] == 1 else f"{role} {counts[role]}", _content(message)))
    return found


def _content(message: Mapping[str, Any]) -> str:
    """The text of a message, the first one where there are images and such beside it."""
    content = message.get("content") or ""
    if isinstance(content, str):
        return content
    return next((str(item["text"]) for item in content if "text" in item), "")


def _with_content(message: Mapping[str, Any], text: str) -> dict[str, Any]:
    """The same message with another text."""
    content = message.get("content") or ""
    if isinstance(content, str):
        return {**message, "content": text}
    first = next((i for i, item in enumerate(content) if "text" in item), None)
    return {**message, "content": [{**item, "text": text} if i == first else item for i, item in enumerate(content)]}


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


def _marked(text: str, tokenizer: Any, messages: Messages, named: list[tuple[str, str]]) -> list[Part]:
    """Where contents stand, by what the template writes around marks in their places."""
    marks = [MARK.format(i) for i in range(len(named))]
    with_marks = [_with_content(message, mark) for message, mark in zip(messages, marks, strict=True)]
    written = tokenizer.apply_chat_template(with_marks, tokenize=False, add_generation_prompt=False)
    order = sorted((i for i, mark in enumerate(marks) if mark in written), key=lambda i: written.index(marks[i]))
    parts, place = [], 0
    for i, following in zip(order, [*order[1:], None], strict=True):
        before, _, written = written.partition(marks[i])
        after = written if following is None else written.partition(marks[following])[0]
        name, content = named[i]
        ways = (content, content.strip(), content.lstrip(), content.rstrip())
        start = place + len(before)
        fits = [x for x in ways if text.startswith(before, place) and text.startswith(x + after, start)]
        if not fits:
            raise ValueError(
                f"the chat template does not write {name!r} as it stands in the messages; give the text that it wrote"
            )
        place = start + len(fits[0])
        parts.append(Part(name, start, place))
    return parts


def _searched(text: str, named: list[tuple[str, str]]) -> list[Part]:
    """Where contents stand in a text, one after the other."""
    parts, place = [], 0
    for name, content in named:
        start = text.find(content.strip(), place)
        if start < 0:
            raise ValueError(f"the text does not hold the content of {name!r} after that of the messages before it")
        place = start + len(content.strip())
        parts.append(Part(name, start, place))
    return parts
