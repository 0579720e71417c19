from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from support import write_files

from localrag.ingest.discover import Root, Source, discover, path_of, uri_of
from localrag.ingest.patterns import Wanted
from localrag.records import Skipped

if TYPE_CHECKING:
    from collections.abc import Callable

LIMIT = 1_000


def found(*paths: Path) -> list[Source | Skipped]:
    return list(discover(Root(path, LIMIT) for path in paths))


def names(root: Path, *paths: Path) -> list[str]:
    return [os.path.relpath(item.uri, root) for item in found(*(paths or (root,)))]


def only(items: list[Source | Skipped]) -> Source | Skipped:
    [item] = items
    return item


def test_files_come_in_a_stable_order_each_folder_before_those_below_it(tmp_path: Path) -> None:
    write_files(tmp_path, dict.fromkeys(["b.md", "a/z.md", "a/b/c.md", "c/d.md", "a.md"], "x"))
    assert names(tmp_path) == ["a.md", "b.md", "a/z.md", "a/b/c.md", "c/d.md"]


def test_a_source_carries_its_size_and_date(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_bytes(b"12345")
    os.utime(path, ns=(7_000_000_123, 7_000_000_123))
    assert only(found(tmp_path)) == Source(path, str(path), 5, 7_000_000_123)


def test_hidden_files_and_folders_are_left_out(tmp_path: Path) -> None:
    write_files(tmp_path, dict.fromkeys([".env", ".git/config", "a/.hidden/b.md", "a/c.md"], "x"))
    assert names(tmp_path) == ["a/c.md"]


def test_a_hidden_path_that_is_given_is_taken(tmp_path: Path) -> None:
    write_files(tmp_path, {".notes/a.md": "x", ".b.md": "x"})
    assert names(tmp_path, tmp_path / ".notes", tmp_path / ".b.md") == [".notes/a.md", ".b.md"]


def test_a_file_that_is_given_twice_is_found_once(tmp_path: Path) -> None:
    write_files(tmp_path, {"a/b.md": "x", "c.md": "x"})
    roots = [tmp_path / "a" / "b.md", tmp_path, tmp_path / "a"]
    assert names(tmp_path, *roots) == ["a/b.md", "c.md"]


def test_a_relative_path_is_known_by_its_absolute_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_files(tmp_path, {"sub/a.md": "x"})
    monkeypatch.chdir(tmp_path / "sub")
    assert names(tmp_path, Path("../sub")) == ["sub/a.md"]
    assert uri_of(Path("a.md")) == str(tmp_path / "sub" / "a.md")


def test_links_are_followed_under_their_own_name(tmp_path: Path) -> None:
    write_files(tmp_path, {"elsewhere/a.md": "x", "notes/b.md": "x"})
    (tmp_path / "notes" / "linked").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "notes" / "file.md").symlink_to(tmp_path / "elsewhere" / "a.md")
    assert names(tmp_path, tmp_path / "notes") == [
        "notes/b.md",
        "notes/file.md",
        "notes/linked/a.md",
    ]


def test_a_folder_that_links_to_its_parent_is_entered_once(tmp_path: Path) -> None:
    write_files(tmp_path, {"a/b.md": "x"})
    (tmp_path / "a" / "up").symlink_to(tmp_path)
    (tmp_path / "a" / "self").symlink_to(tmp_path / "a")
    assert names(tmp_path) == ["a/b.md"]


def test_a_link_that_leads_to_itself_is_skipped_and_the_rest_is_found(tmp_path: Path) -> None:
    write_files(tmp_path, {"a.md": "x"})
    (tmp_path / "loop").symlink_to("loop")
    source, skipped = found(tmp_path)
    assert source.uri.endswith("a.md")
    assert isinstance(skipped, Skipped)
    assert (skipped.uri, skipped.reason) == (str(tmp_path / "loop"), "unreadable")


def test_a_link_to_nothing_is_skipped(tmp_path: Path) -> None:
    (tmp_path / "dangling.md").symlink_to(tmp_path / "gone.md")
    uri = str(tmp_path / "dangling.md")
    assert only(found(tmp_path)) == Skipped(uri, "missing", "a link to nothing")


def test_a_file_that_vanished_is_skipped(tmp_path: Path) -> None:
    uri = str(tmp_path / "gone.md")
    assert only(found(tmp_path / "gone.md")) == Skipped(
        uri, "missing", "it vanished during the run"
    )


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this platform has no named pipes")
def test_a_pipe_is_skipped_and_does_not_block(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.md")
    results: list[Source | Skipped] = []
    walk = threading.Thread(target=lambda: results.extend(found(tmp_path)), daemon=True)
    walk.start()
    walk.join(timeout=10)
    skipped = only(results)
    assert isinstance(skipped, Skipped)
    assert skipped.reason == "not a file"


def test_a_file_beyond_the_limit_is_skipped_with_both_sizes(tmp_path: Path) -> None:
    (tmp_path / "fits.md").write_bytes(b"x" * LIMIT)
    (tmp_path / "large.md").write_bytes(b"x" * (LIMIT + 1))
    fits, large = found(tmp_path)
    assert isinstance(fits, Source)
    assert large == Skipped(
        str(tmp_path / "large.md"),
        "too large",
        "1,001 bytes; the limit is 1,000: raise it with --max-mb",
    )


def test_a_name_that_is_no_text_keeps_its_bytes_as_escapes(tmp_path: Path) -> None:
    raw = os.fsencode(tmp_path) + b"/caf\xe9.md"
    try:
        Path(os.fsdecode(raw)).write_text("x", encoding="utf-8")
    except OSError:
        pytest.skip("this file system takes names in UTF-8 only")
    source = only(found(tmp_path))
    assert isinstance(source, Source)
    assert source.uri == f"{tmp_path}/caf\\xe9.md"
    assert source.path.read_text(encoding="utf-8") == "x"


def denied(folder: Path) -> Callable[[str | Path], os.PathLike[str]]:
    """Return a `scandir` that refuses one folder: tests may run as root, whom chmod stops not."""
    real = os.scandir

    def scandir(path: str | Path) -> os.PathLike[str]:
        if Path(path) == folder:
            raise PermissionError(13, "Permission denied", str(path))
        return real(path)  # type: ignore[return-value]

    return scandir


def test_a_folder_that_cannot_be_opened_is_skipped_and_the_rest_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_files(tmp_path, {"closed/a.md": "x", "open/b.md": "x"})
    monkeypatch.setattr(os, "scandir", denied(tmp_path / "closed"))
    skipped, source = found(tmp_path)
    assert skipped == Skipped(
        str(tmp_path / "closed"), "unreadable", "Permission denied; check its permissions"
    )
    assert source.uri == str(tmp_path / "open" / "b.md")


def test_an_empty_folder_holds_nothing(tmp_path: Path) -> None:
    assert found(tmp_path) == []
    assert found() == []


def test_a_name_that_is_no_text_leads_back_to_its_file(tmp_path: Path) -> None:
    raw = os.fsencode(tmp_path) + b"/caf\xe9"
    try:
        Path(os.fsdecode(raw)).mkdir()
    except OSError:
        pytest.skip("this file system takes names in UTF-8 only")
    uri = uri_of(Path(os.fsdecode(raw)))
    assert path_of(uri) == Path(os.fsdecode(raw))
    assert path_of(str(tmp_path)) == tmp_path
    assert path_of("/nowhere/caf\\xe9") == Path("/nowhere/caf\\xe9")


def test_names_that_look_alike_are_different_files(tmp_path: Path) -> None:
    alike = ["Note.md", "note.md", "note .md", " note.md", "caf\u00e9.md", "cafe\u0301.md"]
    for name in alike:
        (tmp_path / name).write_text("x", encoding="utf-8")
    if len(list(tmp_path.iterdir())) < len(alike):
        pytest.skip("this file system takes some of these names for the same")
    assert sorted(names(tmp_path)) == sorted(alike)


def test_each_root_is_walked_in_its_own_way(tmp_path: Path) -> None:
    write_files(tmp_path, {"sub/a.md": "x", "sub/b.txt": "x", "c.md": "x"})
    roots = [
        Root(tmp_path, LIMIT, Wanted(include=("*.md",))),
        Root(tmp_path / "sub", LIMIT, Wanted(include=("*.txt",))),
    ]
    found = [os.path.relpath(item.uri, tmp_path) for item in discover(roots)]
    assert found == ["c.md", "sub/a.md", "sub/b.txt"]
