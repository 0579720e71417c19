"""One run over everything that a disk can hold and a tar file cannot: the run ends, and says so."""

from __future__ import annotations

import os
import socket
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from support import open_base, write_files

from localrag.ingest.prepare import read_source

if TYPE_CHECKING:
    from localrag.ingest.discover import Source
    from localrag.records import Skipped

SPARSE = 5 << 30


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "disk"
    write_files(root, {"a/one.md": "# One\n\nThe first walrus.\n", "b/two.txt": "The second.\n"})
    (root / "a" / "b").symlink_to("..")
    (root / "x").symlink_to("x")
    (root / "dangling").symlink_to("nowhere")
    outside = tmp_path / "outside.md"
    outside.write_text("Outside of the folder.\n", encoding="utf-8")
    (root / "outside.md").symlink_to(outside)
    os.mkfifo(root / "pipe.txt")
    with (root / "sparse.txt").open("wb") as stream:
        stream.truncate(SPARSE)
    (root / "same.md").write_bytes((root / "a" / "one.md").read_bytes())
    (root / "new\nline.md").write_text("A name of two lines.\n", encoding="utf-8")
    Path(os.fsdecode(os.fsencode(root) + b"/caf\xe9.md")).write_text("Coffee.\n", encoding="utf-8")
    deep = root.joinpath(*["d"] * 200)
    deep.mkdir(parents=True)
    (deep / "deep.md").write_text("Far down.\n", encoding="utf-8")
    return root


def test_a_run_over_odd_files_ends_with_an_honest_report(folder: Path) -> None:
    with socket.socket(socket.AF_UNIX) as bound:
        here = Path.cwd()
        os.chdir(folder)  # the path of a socket must be short
        try:
            bound.bind("socket.md")
        finally:
            os.chdir(here)
        with open_base(folder.parent / "kb.db") as kb:
            report = kb.sync(folder)
            again = kb.sync(folder)
    reasons = {Path(skipped.uri).name: skipped.reason for skipped in report.skipped}
    assert reasons == {
        "x": "unreadable",
        "dangling": "missing",
        "pipe.txt": "not a file",
        "socket.md": "not a file",
        "sparse.txt": "too large",
    }
    assert sorted(Path(uri).name for uri in report.added) == [
        "caf\\xe9.md",
        "deep.md",
        "new\nline.md",
        "one.md",
        "outside.md",
        "same.md",
        "two.txt",
    ]
    assert again.added == again.updated == again.removed == ()
    assert len(again.unchanged) == len(report.added)


def test_a_file_that_vanishes_or_grows_during_the_run(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def late(source: Source) -> bytes | Skipped:
        if source.path.name == "two.txt":
            source.path.unlink()
        if source.path.name == "same.md":
            source.path.write_text("Grown. " * 100, encoding="utf-8")
        return read_source(source)

    monkeypatch.setattr("localrag.ingest.prepare.read_source", late)
    with open_base(folder.parent / "kb.db") as kb:
        report = kb.sync(folder)
        assert any(Path(one.uri).name == "two.txt" for one in report.skipped)
        monkeypatch.setattr("localrag.ingest.prepare.read_source", read_source)
        again = kb.sync(folder)
        assert kb.search("grown", limit=1)[0].text.startswith("Grown.")
    assert again.added == again.updated == again.removed == ()
