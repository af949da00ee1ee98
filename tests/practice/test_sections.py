"""Every place that a learner is sent to is there, in both languages."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from clearhead.languages import LANGUAGES
from clearhead.practice import exercises, sections
from clearhead.practice.exercise import Section
from clearhead.practice.grading import check

NOTES = Path(__file__).parents[2] / "study_notes"
LOADED = [exercises.load(name) for name in exercises.NAMES]
NAMED = {name: value for name, value in vars(sections).items() if isinstance(value, Section)}
PLACES = NAMED | {exercise.name: exercise.explained for exercise in LOADED}


@pytest.mark.parametrize("name", PLACES)
def test_the_heading_is_in_the_note(name):
    place = PLACES[name]
    for language, heading in zip(LANGUAGES, place.heading, strict=True):
        (note,) = (NOTES / language).glob(f"{place.note}_*.md")
        headings = re.findall(r"^#+ (.+)$", note.read_text(encoding="utf-8"), re.MULTILINE)
        assert heading in headings, f"{note.name} of {language} has no heading {heading!r}: {headings}"


def test_every_place_is_used_and_none_is_the_exercises_own():
    sent = {
        (exercise.name, mistake.name): mistake.explained
        for exercise in LOADED
        for part in exercise.parts
        for mistake in part.mistakes
        if mistake.explained
    }
    assert set(NAMED.values()) == set(sent.values())
    own = {exercise.name: exercise.explained for exercise in LOADED}
    assert [who for who, place in sent.items() if place == own[who[0]]] == []


@pytest.mark.parametrize(
    ("exercise", "mistake", "note", "heading"),
    [
        ("softmax", "no_maximum_subtracted", "01", "Try it"),
        ("softmax", "no_maximum_subtracted_guarded", "01", "Try it"),
        ("causal_mask", "top_left_corner", "05", "In code"),
        ("softmax", "not_divided", "01", "The formula"),
    ],
)
def test_a_verdict_names_where_its_mistake_is_explained(exercise, mistake, note, heading):
    loaded = exercises.load(exercise)
    wrong = next(slip.wrong for slip in loaded.parts[0].mistakes if slip.name == mistake)
    verdict = check(loaded, wrong)
    assert verdict.mistake == mistake
    assert f"Note {note} explains it under “{heading}”: `clearhead learn {note}`" in str(verdict)
