"""The cache on disk: what is loaded is what was saved under the same key, whoever else is writing."""

from __future__ import annotations

from clearhead.kernels.compiler import Files


def test_two_that_write_at_once_do_not_share_a_file(tmp_path):
    one, other = (Files(str(tmp_path), "kernel-7.py311", "source") for _ in range(2))
    one.save(("float32", "cpu"), "narrow")
    other.save(("float64", "cpu"), "wide")
    one.save(("float32", "cpu"), "narrow")
    for reader in (one, other):
        assert reader.load(("float32", "cpu")) == "narrow"
        assert reader.load(("float64", "cpu")) == "wide"
        assert reader.load(("float64", "another")) is None


def test_other_source_has_other_files(tmp_path):
    old, new = (Files(str(tmp_path), "kernel-7.py311", stamp) for stamp in ("old", "new"))
    old.save("float32", "old code")
    assert new.load("float32") is None
    new.save("float32", "new code")
    assert (old.load("float32"), new.load("float32")) == ("old code", "new code")
    assert len(list(tmp_path.iterdir())) == 2
