"""The front end's own tests, under Node, and the types it claims. Node is needed for development only."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from tests.documents import ROOT
from tests.test_study_notes import other_terms

from clearhead.page.bundle import WEB

HERE = Path(__file__).parent / "web"
PLACES = re.compile(r"\{(\w+)\}")


def strings() -> dict[str, tuple[str, str]]:
    """The table of texts, as it stands in the module."""
    table = (WEB / "strings.js").read_text(encoding="utf-8")
    found = re.findall(r'^  (\w+): \["((?:[^"\\]|\\.)*)", "((?:[^"\\]|\\.)*)"\],$', table, re.MULTILINE)
    assert len(found) == len(re.findall(r"^  \w+: \[", table, re.MULTILINE))
    return {name: (english, korean) for name, english, korean in found}


def test_the_modules_pass_their_tests():
    node = shutil.which("node")
    assert node, "the page's JavaScript is tested under Node, which is not installed: apt-get install nodejs"
    tests = sorted(map(str, HERE.glob("*.test.js")))
    ran = subprocess.run([node, "--test", *tests], cwd=ROOT, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert int(re.search(r"^# pass (\d+)$|pass (\d+)", ran.stdout, re.MULTILINE)[0].split()[-1]) >= 20


def test_every_text_has_the_same_places_in_both_languages():
    for name, (english, korean) in strings().items():
        assert english.strip(), name
        assert korean.strip(), name
        assert sorted(set(PLACES.findall(english))) == sorted(set(PLACES.findall(korean))), name


@pytest.mark.parametrize("language", ["en", "ko"])
def test_every_text_keeps_to_the_terms_of_the_glossary(language):
    others = {name: other_terms(texts[language == "ko"], language) for name, texts in strings().items()}
    assert {name: terms for name, terms in others.items() if terms} == {}


def test_every_text_that_is_asked_for_is_there():
    table, asked = strings(), set()
    for module in WEB.glob("*.js"):
        asked |= set(re.findall(r'\b(?:say|told)\("(\w+)"', module.read_text(encoding="utf-8")))
    assert asked - table.keys() == set()
