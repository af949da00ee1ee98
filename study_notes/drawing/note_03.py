"""Note 03: what heads cost, and four that were trained."""

from __future__ import annotations

from matplotlib.figure import Figure

import clearhead as ch
from clearhead.languages import Said
from study_notes.drawing.paper import BLUE, GREY, ORANGE, draws, paper, tidy

HEADS = (1, 2, 4, 8, 16)
WORDS, WIDTH = 1000, 512
FLOPS = Said(en="matrix products, GFLOPs", ko="행렬 곱, GFLOP")
MEGABYTES = Said(en="weights to keep, MB", ko="저장할 가중치, MB")
NUMBER = Said(en="number of heads", ko="헤드의 수")

SENTENCE = "고양이가 쥐를 잡았다"
TITLE = Said(en="Four heads of the translator's encoder", ko="번역기 인코더의 헤드 네 개")
HEAD = Said(en="head {number}", ko="헤드 {number}")


@draws("03_costs")
def costs(language: str) -> Figure:
    """FLOPs and bytes of one layer over 1,000 words, for 1 to 16 heads."""
    counted = [ch.attention_cost(WORDS, d_model=WIDTH, num_heads=h) for h in HEADS]
    figure, panels = paper(7.2, 2.6, 2)
    columns = (
        (FLOPS, BLUE, [cost.flops / 1e9 for cost in counted], "{:.2f}"),
        (MEGABYTES, ORANGE, [cost.attention_bytes / 1e6 for cost in counted], "{:.0f}"),
    )
    for axes, (title, colour, numbers, form) in zip(panels, columns, strict=True):
        bars = axes.bar([str(h) for h in HEADS], numbers, color=colour, width=0.6)
        axes.bar_label(bars, [form.format(number) for number in numbers], fontsize=9, padding=2)
        axes.set_title(title(language), fontsize=11)
        axes.set_xlabel(NUMBER(language), color=GREY)
        axes.set_yticks([])
        axes.margins(y=0.15)
    return tidy(figure)


@draws("03_four_heads")
def four_heads(language: str) -> Figure:
    """The first four heads of the translator's first encoder layer, over one sentence."""
    seen = ch.Translator.load().attention(SENTENCE)
    names = [HEAD(language, number=i) for i in range(4)]
    return ch.visualize_attention(
        seen.encoder[0][:4], seen.source, head_names=names, title=TITLE(language), values=False
    )
