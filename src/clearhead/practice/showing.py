"""A verdict as it is seen: in a terminal, as plain text, and in a notebook, from one description of it."""

from __future__ import annotations

import html as escaping
import io
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from clearhead import advice
from clearhead.practice import words
from clearhead.practice.examples import Cell, Example, Grid
from clearhead.practice.traces import Trace

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType
    from rich.table import Table
    from rich.text import Text

    from clearhead.practice.verdict import Verdict

WIDTH = 100  # of plain text, in columns
AROUND_A_CELL, AROUND_A_GRID = 3, 2  # columns: a bracket on either side and a space; what rich leaves free

RIGHT, WRONG, UNWRITTEN = "✓", "✗", "○"
COLOURS = {RIGHT: "green", WRONG: "red", UNWRITTEN: "yellow"}
SIDE = "padding-right:2em;vertical-align:top;text-align:left"
SEEN = {  # exercises whose answer is seen at work in a trained model, and the note whose page shows it
    "self_attention": "02", "multi_head_attention": "03", "causal_mask": "05", "masked_attention": "05",
    "cross_attention": "06", "read_alignment": "06", "name_the_head": "08",
}  # fmt: skip
HTML_COLOURS = {RIGHT: "#2a9d5c", WRONG: "#d9534f", UNWRITTEN: "#b8860b"}


class Heading(NamedTuple):
    """Right, wrong or not yet written; and of what."""

    mark: str
    text: str


class Paragraph(NamedTuple):
    """What is said. Quiet ones are for whoever looks for them."""

    text: str
    quiet: bool = False


class Source(NamedTuple):
    """Lines of the learner's, those that matter marked."""

    lines: Trace


class Verbatim(NamedTuple):
    """Text as it is, under a heading."""

    heading: str
    text: str


class Pair(NamedTuple):
    """What was expected beside what came."""

    example: Example


Block = Heading | Paragraph | Source | Verbatim | Pair


def blocks(verdict: Verdict) -> Iterator[Block]:
    """The description that every way of showing is made from."""
    exercise, part = verdict.exercise, verdict.part
    several = part is not None and len(exercise.parts) > 1 and not verdict.right
    name = f"{exercise.name}: {part.name}" if several and part else exercise.name
    yield Heading(mark(verdict), f"{name} · {exercise.title()}")
    for said in verdict.said:
        yield Paragraph(said())
    if verdict.trace:
        yield Source(verdict.trace)
    if verdict.example:
        called = "\n".join(_argument(*argument) for argument in verdict.example.arguments)
        if called:
            yield Verbatim(words.found.WITH(), called)
        if verdict.example.expected:
            yield Pair(verdict.example)
    if verdict.printed:
        yield Verbatim(words.found.PRINTED(), verdict.printed.rstrip("\n"))
    for remark in verdict.remarks:
        yield Paragraph(remark())
    if verdict.right and exercise.name in SEEN:
        command = f"{advice.program()} learn {SEEN[exercise.name]} --see"
        yield Paragraph(words.found.SEE(command=f"`{command}`"), quiet=True)
    if not verdict.right and verdict.kind != "unreadable":
        note, heading = verdict.explained or exercise.explained
        command = f"{advice.program()} learn {note}"
        yield Paragraph(words.found.READ(note=note, section=heading(), command=f"`{command}`"), quiet=True)


def mark(verdict: Verdict) -> str:
    """The sign that stands before a verdict."""
    return RIGHT if verdict.right else UNWRITTEN if verdict.kind == "unwritten" else WRONG


def text(verdict: Verdict) -> str:
    """Plain text: differing cells stand in brackets."""
    from rich.console import Console

    written = io.StringIO()
    show(verdict, Console(file=written, width=WIDTH, color_system=None, legacy_windows=False))
    return "\n".join(line.rstrip() for line in written.getvalue().splitlines())


def show(verdict: Verdict, console: Console) -> None:
    """Print a verdict to a terminal."""
    from rich.padding import Padding

    for block in blocks(verdict):
        shown = _rendered(block)
        below = 0 if isinstance(block, Pair) else 1  # a table ends in an empty line of its own
        console.print(shown if isinstance(block, Heading) else Padding(shown, (0, 0, below, 2)), highlight=False)


def html(verdict: Verdict) -> str:
    """The same for a notebook, readable on a light and on a dark page."""
    return f'<div style="max-width:50em;line-height:1.5">{"".join(map(_html, blocks(verdict)))}</div>'


def _argument(name: str, value: str) -> str:
    first, *others = value.split("\n")
    return "\n".join([f"{name} = {first}", *(" " * (len(name) + 3) + line for line in others)])


def _rendered(block: Block) -> RenderableType:
    from rich.console import Group
    from rich.text import Text

    match block:
        case Heading(sign, title):
            return Text(f"{sign} {title}", style=f"bold {COLOURS[sign]}")
        case Paragraph(said, quiet):
            return Text(said, style="dim" if quiet else "")
        case Source(lines):
            return Text("\n").join(_source_line(*line) for line in lines)
        case Verbatim(heading, body):
            return Group(Text(heading, style="dim"), Text(body))
        case Pair(example):
            return _SideBySide(example)


def _source_line(number: int, line: str, marked: bool) -> Text:
    from rich.text import Text

    return Text(f"{'→' if marked else ' '} {number:>4} │ {line}", style="bold red" if marked else "")


class _SideBySide:
    """Two grids beside each other; where they do not fit, some columns of both at a time, where they differ."""

    def __init__(self, example: Example) -> None:
        self.example, self.widths = example, _widths(example.expected, example.got)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
        for columns in self._columns(options.max_width // 2 - AROUND_A_GRID):
            if any(cell.differs for row in self.example.got for cell in row[columns]):
                yield self._table(columns)

    def _columns(self, room: int) -> Iterator[slice]:
        """As many columns at a time as there is room for, and one at least."""
        start = 0
        while start < len(self.widths):
            stop = start + 1
            while stop < len(self.widths) and sum(w + AROUND_A_CELL for w in self.widths[start : stop + 1]) <= room:
                stop += 1
            yield slice(start, stop)
            start = stop

    def _table(self, columns: slice) -> Table:
        from rich import box
        from rich.table import Table

        first, last = self.example.column + columns.start, self.example.column + columns.stop
        title = self.example.output + ("" if columns == slice(0, len(self.widths)) else f"[:, {first}:{last}]")
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False, title=title or None, title_justify="left")
        table.add_column(words.found.EXPECTED(), no_wrap=True)
        table.add_column(words.found.GOT(), no_wrap=True)
        for rows in zip(self.example.expected, self.example.got, strict=True):
            table.add_row(*(_cells(row[columns], self.widths[columns]) for row in rows))
        return table


def _widths(*grids: Grid) -> list[int]:
    columns = zip(*(row for grid in grids for row in grid), strict=True)
    return [max(len(cell.text) for cell in column) for column in columns]


def _cells(row: tuple[Cell, ...], widths: list[int]) -> Text:
    from rich.text import Text

    line = Text()
    for cell, width in zip(row, widths, strict=True):
        padded = f"[{cell.text}]" if cell.differs else f" {cell.text} "
        line.append(padded.rjust(width + 2) + " ", style="bold red" if cell.differs else "")
    return line


def _html(block: Block) -> str:
    match block:
        case Heading(sign, title):
            return f'<p style="color:{HTML_COLOURS[sign]}"><b>{sign} {escaping.escape(title)}</b></p>'
        case Paragraph(said, quiet):
            return f'<p style="opacity:{0.7 if quiet else 1}">{_with_code(said)}</p>'
        case Source(lines):
            return f"<pre>{''.join(map(_html_line, lines))}</pre>"
        case Verbatim(heading, body):
            head = f'<p style="opacity:0.7;margin-bottom:0">{escaping.escape(heading)}</p>'
            return f"{head}<pre>{escaping.escape(body)}</pre>"
        case Pair(example):
            sides = ((words.found.EXPECTED(), example.expected), (words.found.GOT(), example.got))
            tables = "".join(f'<td style="{SIDE}">{_html_grid(name, grid)}</td>' for name, grid in sides)
            label = f"<code>{escaping.escape(example.output)}</code>" if example.output else ""
            return f'{label}<table style="margin:0.5em 0"><tr>{tables}</tr></table>'


def _with_code(said: str) -> str:
    """A sentence with what stands between backticks set as code."""
    return re.sub("`([^`]+)`", r"<code>\1</code>", escaping.escape(said))


def _html_line(line: tuple[int, str, bool]) -> str:
    number, text, marked = line
    shown = escaping.escape(f"{'→' if marked else ' '} {number:>4} │ {text}") + "\n"
    return f'<b style="color:#d9534f">{shown}</b>' if marked else shown


def _html_grid(name: str, grid: Grid) -> str:
    rows = "".join(f"<tr>{''.join(map(_html_cell, row))}</tr>" for row in grid)
    return f'<div style="opacity:0.7;white-space:nowrap">{escaping.escape(name)}</div><table>{rows}</table>'


def _html_cell(cell: Cell) -> str:
    text = escaping.escape(cell.text)
    inner = f'<mark style="background:#d9534f;color:white;padding:0 0.3em">{text}</mark>' if cell.differs else text
    return f'<td style="text-align:right;font-family:monospace">{inner}</td>'
