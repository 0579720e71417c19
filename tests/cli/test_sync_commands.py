"""The commands that change what the file holds, as a person and as a program sees them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from command_line import FILES, parsed, run
from support import open_base, write_files

from localrag import knowledge_base
from localrag.ingest import pipeline
from localrag.ingest.readers import Readers
from localrag.records import Skipped, SyncReport

if TYPE_CHECKING:
    from collections.abc import Iterator

    from localrag.config import Settings


@pytest.fixture(autouse=True)
def here(workplace: Path) -> Path:
    """Work in a folder that holds docs/ and nothing else."""
    write_files(workplace / "docs", FILES)
    return workplace


@pytest.fixture
def base(here: Path) -> Path:
    """Return the default knowledge base, with docs/ in it."""
    with open_base(here / "localrag.db") as kb:
        kb.sync(here / "docs")
    return here / "localrag.db"


def test_index_remembers_its_patterns_and_sync_repeats_them(here: Path) -> None:
    options = ["--include", "*.md", "--include", "*.txt", "--exclude", "sub/", "--max-mb", "0.0001"]
    assert run("index", "docs", *options).stdout.startswith("2 added\n")
    (here / "docs" / "long.md").write_text("x" * 200, encoding="utf-8")
    (here / "docs" / "new.md").write_text("New text.\n", encoding="utf-8")
    (here / "docs" / "doors.txt").unlink()
    text = run("sync").stdout
    assert text.startswith("1 added, 1 unchanged, 1 removed, 1 skipped\n")
    assert "200 bytes; the limit is 100: raise it with --max-mb" in text
    assert run("sync", "docs", "-q").stdout == ""
    assert "elsewhere was not indexed" in run("sync", "elsewhere", code=1).stderr


def test_a_wrong_pattern_is_explained() -> None:
    assert "'!' is no pattern" in run("index", "docs", "--exclude", "!", code=1).stderr
    assert run("index", "docs", "--max-mb", "0", code=2).stdout == ""


def test_a_dry_run_makes_no_file_and_lists_what_would_happen(here: Path) -> None:
    text = run("index", "docs", "--dry-run").stdout
    assert text.startswith("Nothing was written. It would be: 3 added\n")
    assert "  add    docs/keys.md\n" in text
    assert sorted(path.name for path in here.iterdir()) == ["docs"]


def test_a_dry_run_of_a_sync_changes_nothing(base: Path) -> None:
    docs = base.parent / "docs"
    (docs / "keys.md").rename(docs / "locks.md")
    (docs / "doors.txt").write_text("Doors stand open.\n", encoding="utf-8")
    (docs / "sub" / "鍵.md").unlink()
    for number in range(25):
        (docs / f"new{number:02}.md").write_text(f"New {number}.\n", encoding="utf-8")
    before = base.read_bytes()
    text = run("sync", "--dry-run").stdout
    assert base.read_bytes() == before
    assert "25 added, 1 updated, 1 moved, 1 removed" in text
    for line in (
        "  add    docs/new19.md\n  add    … and 5 more (--json shows all)\n",
        "  update docs/doors.txt\n",
        "  move   docs/keys.md -> docs/locks.md\n",
        "  remove docs/sub/鍵.md\n",
    ):
        assert line in text
    report = parsed("sync", "--dry-run")
    assert (report["dry_run"], len(report["added"])) == (True, 25)
    moved = {"old": str(docs / "keys.md"), "new": str(docs / "locks.md")}
    assert report["moved"] == parsed("sync")["moved"] == [moved]


def test_a_watch_is_no_dry_run(base: Path) -> None:
    del base
    for command in (["index", "docs"], ["sync"]):
        refused = run(*command, "--watch", "--dry-run", code=2).stderr
        assert "--dry-run and --watch exclude each other" in refused


def test_a_watch_tells_what_changed_and_ctrl_c_ends_it(
    base: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    del base
    same = SyncReport(unchanged=("/a",))
    reports = [
        same,
        same,
        SyncReport(removed=("/a",)),
        SyncReport(skipped=(Skipped("b", "x", ""),)),
    ]

    def watch(*_: object, **__: object) -> Iterator[SyncReport]:
        yield from reports
        raise KeyboardInterrupt

    monkeypatch.setattr(knowledge_base.KnowledgeBase, "watch", watch)
    result = run("sync", "--watch")
    assert result.stdout == "1 unchanged\n1 removed\n1 skipped\nskipped, x: 1\n  b: \n"
    assert result.stderr.endswith("Stopped watching. What was indexed is kept.\n")
    lines = run("index", "docs", "--watch", "--json").stdout.splitlines()
    assert [json.loads(line)["removed"] for line in lines] == [[], ["/a"], []]
    assert run("sync", "--watch", "-q").stdout == ""


def test_skipped_lists_everything_by_reason(base: Path) -> None:
    assert run("skipped").stdout == "Nothing was skipped.\n"
    for number in range(5):
        (base.parent / "docs" / f"empty{number}.md").touch()
    (base.parent / "docs" / "photo.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    assert "  … and 2 more: localrag skipped\n" in run("index", "docs").stdout
    text = run("skipped").stdout
    assert text.startswith("skipped, empty: 5\n")
    assert text.count("the file holds no text") == 5
    assert "skipped, unsupported: 1\n  docs/photo.png: no reader" in text
    found = parsed("skipped")["skipped"]
    assert [Path(one["uri"]).name for one in found][-1] == "photo.png"
    assert {one["reason"] for one in found} == {"empty", "unsupported"}


def test_index_and_sync_take_the_time_that_reading_may_cost(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    times: list[int] = []

    class Recorded(Readers):
        def __init__(self, settings: Settings) -> None:
            times.append(settings.reader_seconds)
            super().__init__(settings)

    monkeypatch.setattr(pipeline, "Readers", Recorded)
    run("index", "docs", "--reader-seconds", "600")
    run("sync", "--reader-seconds", "900")
    run("sync")
    assert times == [600, 900, 120]


def test_remove_takes_documents_out(base: Path) -> None:
    again = run("remove", "docs/keys.md").stdout
    assert again.startswith("1 removed\n1 will come back with the next sync")
    assert run("remove", "docs/keys.md", code=3).stdout == (
        "0 removed\nNo document is named so or lies below: docs/keys.md. "
        "localrag status --documents names them all.\n"
    )
    (base.parent / "docs" / "doors.txt").unlink()
    assert run("remove", "docs/doors.txt").stdout == "1 removed\n  docs/doors.txt\n"
    assert parsed("remove", "docs")["removed"] == [str(base.parent / "docs" / "sub" / "鍵.md")]
    assert "Nothing was indexed from a folder yet" in run("sync", code=1).stderr


def test_compact_says_how_large_the_file_was_and_is(base: Path) -> None:
    run("remove", "docs")
    assert re.fullmatch(r"localrag\.db: \d\.\d MB -> \d\.\d MB\n", run("compact").stdout)
    sizes = parsed("compact")
    assert sizes == {"bytes": base.stat().st_size, "freed_bytes": 0}


@pytest.mark.parametrize("call", [["sync"], ["remove", "x"], ["compact"], ["skipped"]])
def test_no_file_is_made_to_be_changed(here: Path, call: list[str]) -> None:
    assert "none.db does not exist" in run(*call, "--db", "none.db", code=1).stderr
    assert not (here / "none.db").exists()
