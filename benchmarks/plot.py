"""The picture: for each case how many times as fast as torch, beside the goal for it; below it, the errors.

Met and missed differ in shape as well as in colour, and the colours are told apart by eyes of any kind (Okabe and
Ito's). The axis is logarithmic, so that twice as fast and half as fast are equally far from 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

from benchmarks.measure import THEIRS
from benchmarks.report import Report, by_group
from benchmarks.rows import LARGEST, RMS, SHARE, SPEED, Goal, Row, Value

BLUE, VERMILION, INK, GREY, PALE = "#0072B2", "#D55E00", "#222222", "#757575", "#f3f3f1"
STYLES = {  # verdict: marker, edge, fill
    "met": ("o", BLUE, BLUE),
    "missed": ("X", VERMILION, VERMILION),
    "": ("o", INK, "white"),
}
OTHERS = {
    "onnxruntime": "^",
    "openvino": "s",
    "clearhead.hf": "*",
    "jax": "D",
}  # not the textbook, which would stretch the axis to a hundredth
ROW_HEIGHT = 0.235  # inches


def write(report: Report, path: Path) -> None:
    draw(report).savefig(path, dpi=160)


def draw(report: Report) -> Figure:
    """One panel for speed and one for errors, or only the one there is something for."""
    timed = [row for row in report.rows if SPEED in row.values]
    exact = [row for row in report.rows if LARGEST in row.values]
    parts = [(rows, panel) for rows, panel in ((timed, speed_panel), (exact, accuracy_panel)) if rows]
    heights = [len(rows) + 2.6 + 0.7 * len(by_group(rows)) for rows, _ in parts]
    figure = Figure(figsize=(9.5, 1.0 + ROW_HEIGHT * sum(heights)), facecolor="white")
    figure.set_layout_engine("constrained", h_pad=0.08, hspace=0.03)
    figure.suptitle(heading(report), x=0.012, ha="left", fontsize=9.5, color=INK)
    panels = figure.subplots(len(parts), 1, squeeze=False, height_ratios=heights)[:, 0] if parts else []
    for axes, (rows, panel) in zip(panels, parts, strict=True):
        panel(axes, rows, report)
    return figure


def heading(report: Report) -> str:
    machine, settings = report.machine, report.settings
    versions = machine["versions"]
    rest = "" if report.complete else " · stopped early"
    quick = " · quick: few rounds" if settings["quick"] else ""
    threads = "1 thread" if settings["threads"] == 1 else f"{settings['threads']} threads"
    return (
        f"clearhead {versions['clearhead']} beside torch {versions['torch']}, {threads} each\n"
        f"{machine['processor']}, {machine['cores']} cores, {machine['vectors']}{quick}{rest}"
    )


def speed_panel(axes: Axes, rows: Sequence[Row], report: Report) -> None:
    notes = {
        mean.group: f"geometric mean {mean.number:.2f}, goal {mean.goal.bound:g}: {mean.verdict}"
        for mean in report.means
        if mean.goal.value == SPEED
    }
    places = lay_out(axes, rows, notes)
    for row, y in zip(rows, places, strict=True):
        for name, marker in OTHERS.items():
            if name in row.peers and THEIRS in row.peers:
                relative = row.peers[THEIRS].seconds.number / row.peers[name].seconds.number
                axes.plot(relative, y, marker, ms=4, mfc="none", mec=GREY, mew=0.8, zorder=2)
        goal = next((goal for goal in row.goals if goal.value == SPEED), None)
        point(axes, row.values[SPEED], y, goal)
        if SHARE in row.values:
            missed = any(goal.value == SHARE for goal in row.missed)
            written(axes, y, f"{row.values[SHARE].number:.0%} of sgemm", VERMILION if missed else GREY, 40, bold=missed)
    finish(axes, "times as fast as torch")
    used = [name for name in OTHERS if any(name in row.peers for row in rows)]
    legend(axes, rows, [(OTHERS[name], name, GREY, "none", 4.5) for name in used])


def accuracy_panel(axes: Axes, rows: Sequence[Row], report: Report) -> None:
    places = lay_out(axes, rows, {})
    for row, y in zip(rows, places, strict=True):
        for kind, shift in ((LARGEST, -0.16), (RMS, 0.16)):
            goal = next((goal for goal in row.goals if goal.value == kind), None)
            point(axes, row.values[kind], y + shift, goal, size=5, note="max" if kind == LARGEST else "RMS")
    finish(axes, "error against float64, as a multiple of somebody else's: less is better")


def point(axes: Axes, value: Value, y: float, goal: Goal | None, size: float = 7, note: str = "") -> None:
    """A value with its spread, its goal, and the number in writing."""
    verdict = "" if goal is None else "met" if goal.met(value.number) else "missed"
    marker, edge, fill = STYLES[verdict]
    if goal is not None:
        axes.plot([value.number, goal.bound], [y, y], color=edge, lw=0.8, alpha=0.45, zorder=1)
        axes.plot(goal.bound, y, "|", ms=11 * size / 7, mew=2, color=INK, zorder=3)
    axes.plot([value.low, value.high], [y, y], color=edge, lw=3, alpha=0.5, solid_capstyle="butt", zorder=3)
    axes.plot(value.number, y, marker, ms=size, mfc=fill, mec=edge, mew=1.2, zorder=4)
    written(axes, y, f"{note} {value.number:.2f}".strip(), edge, 6, bold=verdict == "missed", small=bool(note))


def written(axes: Axes, y: float, text: str, colour: str, shift: float, *, bold: bool, small: bool = False) -> None:
    """Text to the right of a row."""
    axes.annotate(
        text, (1, y), xycoords=("axes fraction", "data"), xytext=(shift, 0), textcoords="offset points",
        va="center", fontsize=7 if small else 8, color=colour, fontweight="bold" if bold else "normal",
        annotation_clip=False,
    )  # fmt: skip


def lay_out(axes: Axes, rows: Sequence[Row], notes: dict[str, str]) -> list[float]:
    """A height for each row, a band and a title for each group, and the names of the rows at the left."""
    places: list[float] = []
    y = 0.0
    for number, (group, found) in enumerate(by_group(rows)):
        top = y
        for x, text, shift, side in ((0, group, 5, "left"), (1, notes.get(group, ""), -5, "right")):
            axes.annotate(
                text, (x, y + 0.1), xycoords=("axes fraction", "data"), xytext=(shift, 0), ha=side,
                textcoords="offset points", va="center", fontsize=8, color=INK, style="italic",
                bbox={"fc": "white" if number % 2 else PALE, "ec": "none", "pad": 1},
            )  # fmt: skip
        y += 0.75
        places += [y + i for i in range(len(found))]
        y += len(found)
        if number % 2 == 0:
            axes.axhspan(top - 0.45, y - 0.5, color=PALE, lw=0, zorder=0)
        y -= 0.05
    axes.set_yticks(places, [row.name for row in rows], fontsize=8.5, color=INK)
    axes.set_ylim(y - 0.4, -0.5)
    return places


def finish(axes: Axes, label: str) -> None:
    axes.set_xscale("log")
    axes.margins(x=0.06)
    axes.autoscale_view(scaley=False)
    axes.axvline(1, color=INK, lw=0.9, zorder=1)
    low, high = axes.get_xlim()
    steps = (1, 2, 5) if high / low > 8 else (1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 7, 8, 9)
    axes.xaxis.set_major_locator(LogLocator(10, steps))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g}"))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.grid(axis="x", color="#dddddd", lw=0.6, zorder=0)
    axes.set_axisbelow(True)
    axes.set_xlabel(label, fontsize=9, color=INK)
    axes.tick_params(axis="both", length=0, labelcolor=INK)
    axes.tick_params(axis="x", labelsize=8.5)
    for side in ("top", "right", "left", "bottom"):
        axes.spines[side].set_visible(False)


def legend(axes: Axes, rows: Sequence[Row], others: Sequence[tuple[str, str, str, str, float]]) -> None:
    verdicts = {row.verdict for row in rows}
    names = {"met": "goal met", "missed": "goal missed", "": "no goal"}
    entries = [(STYLES[v][0], name, STYLES[v][1], STYLES[v][2], 7.0) for v, name in names.items() if v in verdicts]
    handles = [
        Line2D([], [], marker=marker, ls="", mec=edge, mfc=fill, ms=size, label=name)
        for marker, name, edge, fill, size in (*entries, *others)
    ]
    handles.append(Line2D([], [], marker="|", ls="", mec=INK, ms=11, mew=2, label="goal"))
    axes.legend(
        handles=handles, loc="lower right", bbox_to_anchor=(1, 1.0), ncols=len(handles), fontsize=8, frameon=False,
        handletextpad=0.1, columnspacing=1.0, borderaxespad=0.2,
    )  # fmt: skip
