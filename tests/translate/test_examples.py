"""Parts that were put down under one name on both sides are linked, wherever they lie."""

from __future__ import annotations

from clearhead.translate.examples import Example, Line, Link, Task, linked, together


def line(*parts):
    made = Line()
    for part in parts:
        made.add(*part) if isinstance(part, tuple) else made.add(part)
    return made


def test_links_join_parts_of_one_name_in_the_order_of_the_target():
    source = line(("고양이", "subject"), "가 ", ("쥐", "object"), "를 ", ("잡았다", "verb"))
    target = line("The ", ("cat", "subject"), " ", ("caught", "verb"), " the ", ("mouse", "object"))
    example = linked(source, target)
    assert example == Example(
        "고양이가 쥐를 잡았다",
        "The cat caught the mouse",
        (Link((0, 3), (4, 7)), Link((8, 11), (8, 14)), Link((5, 6), (19, 24))),
    )


def test_a_part_that_only_one_side_has_is_not_linked():
    example = linked(line(("두", "number"), " ", ("권", "counter")), line(("two", "number")))
    assert example.links == (Link((0, 1), (0, 3)),)


def test_together_keeps_every_example_and_each_piece_once():
    one, two, three = (Example(letter, letter.upper()) for letter in "abc")
    both = together("all", [Task("x", [one], [two], ["a", "##b"]), Task("y", [three], [], ["##b", "c"])])
    assert both == Task("all", [one, three], [two], ["a", "##b", "c"])
