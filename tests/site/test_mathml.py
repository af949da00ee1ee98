"""Formulas as MathML."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest
from docs.site.mathml import mathml
from tests.documents import ROOT, prose

NAMESPACE = "{http://www.w3.org/1998/Math/MathML}"
FORMULAS = re.compile(r"\$\$\n(.*?)\n\$\$|(?<!\$)\$([^$\n]+)\$(?!\$)", re.DOTALL)


def test_a_formula_becomes_elements():
    (fraction,) = ElementTree.fromstring(mathml(r"\frac{QK^\top}{\sqrt{d}}", block=True)).iter(f"{NAMESPACE}mfrac")
    above, below = fraction
    assert "".join(above.itertext()) == "QK⊤"
    assert "".join(below.itertext()) == "d"
    assert below.find(f".//{NAMESPACE}msqrt") is not None


@pytest.mark.parametrize(("block", "display"), [(True, "block"), (False, "inline")])
def test_it_stands_alone_or_in_a_line(block, display):
    assert ElementTree.fromstring(mathml("n^2", block=block)).get("display") == display


def test_a_command_that_is_not_known_is_refused():
    with pytest.raises(ValueError, match=r"has \\nonsense, which MathML has no word for; write it another way"):
        mathml(r"\nonsense{x}", block=False)


def test_every_formula_of_the_notes_is_understood():
    notes = sorted((ROOT / "study_notes").glob("*/0*.md"))
    found = [match for note in notes for match in FORMULAS.finditer(prose(str(note.relative_to(ROOT))))]
    assert len(found) > 100
    for match in found:
        ElementTree.fromstring(mathml(match[1] or match[2], block=match[1] is not None))
