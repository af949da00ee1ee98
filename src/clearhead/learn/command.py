"""`clearhead learn`: the notes with what was read and practised, or one of them to read."""

from __future__ import annotations

import argparse
import sys

from clearhead import advice
from clearhead.languages import RefusedError, Said
from clearhead.learn import seeing, words
from clearhead.learn.notes import NOTES, Note, asked_note
from clearhead.learn.words import DESCRIPTION as DESCRIPTION


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = words.EXAMPLES(program=parser.prog)
    parser.set_defaults(prog=parser.prog)
    parser.add_argument("note", nargs="?", metavar="NOTE", help=words.OPTIONS["note"]())
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--pager", action="store_true", help=words.OPTIONS["pager"]())
    how.add_argument("--see", action="store_true", help=words.OPTIONS["see"]())


def run(options: argparse.Namespace) -> int:
    if options.note is None:
        if options.pager or options.see:
            raise argparse.ArgumentError(None, words.NEEDS_NOTE(option="--see" if options.see else "--pager"))
        list_notes(options.prog)
        return 0
    note = asked_note(options.note)
    if options.see:
        open_what_is_seen(note)
        return 0
    if options.pager:
        from clearhead.learn.terminal import show

        show(note)
    else:
        open_page(note, options.prog)
    remember(note)
    print(words.EXERCISES(exercises=", ".join(note.exercises), command=f"{advice.program()} practice"))
    if seeing.is_seen(note):
        print(words.SEE(command=f"{options.prog} {note.number} --see"))
    return 0


def list_notes(program: str) -> None:
    """Print the notes as a table, and which one comes next."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from clearhead.learn.record import recorded

    record = recorded()
    say(record.troubles)
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for heading in ("", words.NOTE(), words.READ(), words.PRACTISED()):
        table.add_column(heading, justify="left", no_wrap=heading != words.NOTE())
    for note in NOTES:
        passed = len(record.passed.intersection(note.exercises))
        title = Text.assemble(note.title(), "\n", (note.question(), "dim"))
        mark = words.MARK() if note.name in record.read else ""
        table.add_row(note.number, title, mark, words.COUNT(passed=passed, all=len(note.exercises)))
    console = Console(highlight=False)
    console.print(table)
    unread = [note for note in NOTES if note.name not in record.read]
    said = words.NEXT(program=program, number=unread[0].number) if unread else words.ALL_READ(program=program)
    console.print(f"\n{said}", soft_wrap=True, markup=False)


def open_page(note: Note, program: str) -> None:
    """Open a note in the browser, and say where its page is."""
    import webbrowser

    from clearhead.learn.pages import page_of

    page = page_of(note)
    if not webbrowser.open(page.as_uri()):
        raise RefusedError(words.NO_BROWSER.filled(page=page, program=program, number=note.number))
    print(words.OPENED(title=note.title(), page=page))


def open_what_is_seen(note: Note) -> None:
    """Open the page of a trained model where it shows what a note speaks of, and say where that is."""
    import webbrowser

    address = seeing.address_of(note)
    opened = webbrowser.open(address)
    print((words.SEEN if opened else words.TO_BE_SEEN)(title=note.title(), address=address))


def remember(note: Note) -> None:
    """Remember that a note was read, and say so. Where nothing can be written that is said, and is no failure."""
    from clearhead.learn import record

    try:
        say(record.remember(note.name).troubles)
    except OSError as error:
        say((words.NOT_REMEMBERED.filled(error=error),))
    else:
        print(words.COUNTED())


def say(troubles: tuple[Said, ...]) -> None:
    for trouble in troubles:
        print(trouble(), file=sys.stderr)
