"""Why a document is not counted, kept so that it can be said in either language."""

from __future__ import annotations

import errno
import pickle

import pytest
from tests.english import english_in

from clearhead.census import words
from clearhead.census.causes import Cause, UncountedError, cause_of


def test_a_cause_is_said_in_every_language():
    cause = Cause.of("no_field", field="본문 {x}")
    assert str(cause) == "the line is no object with a text in '본문 {x}'"
    assert cause.said() == (str(cause), "'본문 {x}' 필드에 글이 든 객체가 아닌 줄입니다")
    assert Cause(*cause) == cause
    assert Cause().said() == ("", "")


@pytest.mark.parametrize("name", words.CAUSES)
def test_no_cause_is_english_in_korean(name):
    assert english_in(words.CAUSES[name].ko.format_map(dict.fromkeys(FIELDS, "1"))) == []


FIELDS = (
    "byte", "value", "place", "code", "column", "field", "type", "tokens", "limit", "these", "those", "names", "count",
    "error",
)  # fmt: skip


def test_what_errors_say():
    uncounted = UncountedError(Cause.of("no_column", field="body"))
    assert str(uncounted) == "there is no column 'body'"
    assert cause_of(pickle.loads(pickle.dumps(uncounted))) == uncounted.why
    assert cause_of(PermissionError(errno.EACCES, "no")) == Cause.of("no_permission")
    assert str(cause_of(OSError(errno.EIO, "no"))) == "the system does not read it: EIO"
    assert cause_of(TypeError("odd \ud800\nmore")).said() == ("TypeError: odd \\ud800", "`TypeError: odd \\ud800`")
