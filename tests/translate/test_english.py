"""Endings against a table written by hand."""

from __future__ import annotations

from clearhead.translate.english import indefinite, with_ed, with_ing, with_s

PLURALS = "cat·s apple·s watch·es box·es potato·es glass·es boy·s baby:babies butterfly:butterflies story:stories"
GOING = """catch·ing play·ing open·ing see·ing go·ing be·ing make:making come:coming run:running swim:swimming die:dying
forget:forgetting"""
THIRDS = "have:has play·s catch·es wash·es teach·es go·es chase·s choose·s buy·s see·s cry:cries study:studies"
PASTS = "help·ed bake·d love·d play·ed clean·ed show·ed open·ed wash·ed cry:cried study:studied"


def check(made, table):
    for row in table.split():
        base, _, whole = row.partition(":")
        assert made(base.split("·")[0]) == ((whole,) if whole else tuple(base.split("·")))


def test_with_s():
    check(with_s, PLURALS)
    check(with_s, THIRDS)


def test_with_ed():
    check(with_ed, PASTS)


def test_with_ing():
    check(with_ing, GOING)


def test_a_or_an():
    assert [indefinite(word) for word in ("book", "apple", "old", "umbrella", "girl")] == ["a", "an", "an", "an", "a"]
