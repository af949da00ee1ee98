from __future__ import annotations

import os
import stat

import numpy as np
import pytest
from matplotlib.figure import Figure

from clearhead.figures import visualize_attention
from clearhead.figures.lettering import DPI, SAVED_DPI
from clearhead.figures.sheet import MARGIN, titled_sheet

HALF = np.full((2, 2), 0.5)
STARTS = {".png": b"\x89PNG", ".svg": b"<?xml", ".pdf": b"%PDF", ".PNG": b"\x89PNG"}


@pytest.mark.parametrize("suffix", STARTS)
def test_each_kind_of_file_is_written_whole(tmp_path, suffix):
    path = tmp_path / f"한글 이름{suffix}"
    visualize_attention(HALF, ["가", "나"], title="제목", save=str(path))
    assert path.read_bytes().startswith(STARTS[suffix])
    assert path.stat().st_size > 5000
    assert [found.name for found in tmp_path.iterdir()] == [path.name]


def test_a_file_that_was_there_is_replaced_and_readable_by_others(tmp_path):
    path = tmp_path / "map.png"
    path.write_text("old")
    visualize_attention(HALF, save=path)
    assert path.read_bytes().startswith(b"\x89PNG")
    mask = os.umask(0)
    os.umask(mask)
    assert stat.S_IMODE(path.stat().st_mode) == 0o666 & ~mask


def test_a_link_keeps_pointing_where_it_pointed(tmp_path):
    (tmp_path / "real.png").write_text("old")
    (tmp_path / "link.png").symlink_to(tmp_path / "real.png")
    visualize_attention(HALF, save=tmp_path / "link.png")
    assert (tmp_path / "link.png").is_symlink()
    assert (tmp_path / "real.png").read_bytes().startswith(b"\x89PNG")


def test_a_failed_save_leaves_what_was_there_and_nothing_else(tmp_path, monkeypatch):
    def fail(self, target, **options):
        target.write_text("half a picture")
        raise OSError("the disk is full")

    path = tmp_path / "map.png"
    path.write_text("old")
    monkeypatch.setattr(Figure, "savefig", fail)
    with pytest.raises(OSError, match="the disk is full"):
        visualize_attention(HALF, save=path)
    assert [found.name for found in tmp_path.iterdir()] == ["map.png"]
    assert path.read_text() == "old"


@pytest.mark.parametrize("text", ["Pooled: each cell is a mean. ", "어텐션은 모델이 어디를 보았는지 "])
@pytest.mark.parametrize("dpi", [DPI, SAVED_DPI])
def test_title_and_note_end_before_the_margin_on_a_screen_and_in_a_file(text, dpi):
    sheet, top = titled_sheet(7.0, 1.0, text * 9, text * 9)
    sheet.set_dpi(dpi)
    title, note = (written.get_window_extent() for written in sheet.texts)
    for box in (title, note):
        assert box.x1 <= (7.0 - MARGIN) * dpi + 1
        assert box.x1 > 0.8 * 7.0 * dpi
    assert title.y0 >= sheet.bbox.height - top * dpi - 1


@pytest.mark.usefixtures("unchecked")
def test_a_wrong_suffix_is_refused_before_anything_is_drawn(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match="save must end in"):
        visualize_attention(np.full((2, 2), np.nan), save="map.jpeg")
    assert list(tmp_path.iterdir()) == []
