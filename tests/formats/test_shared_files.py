"""The readers on real files, which are not in the repository (several licences forbid it)."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import pytest
from shared_probes import FILES, NO_DOCUMENT, Row, is_at, manifest, positions, unpacked_edge

from localrag.errors import ReadError
from localrag.formats import ocr
from localrag.formats.known import FORMATS
from localrag.formats.registry import read_document

if TYPE_CHECKING:
    from pathlib import Path

    from localrag.records import Document


def cases() -> list[Any]:
    rows = [pytest.param(row, id=row.path, marks=pytest.mark.shared) for row in manifest()]
    absent = pytest.mark.skip("the shared files (../shared/files) are not beside this checkout")
    return rows or [pytest.param(Row("", "", ()), id="absent", marks=absent)]


def rows_with(*, phrases: bool = False, most_bytes: int | None = None) -> list[Any]:
    """Return those cases that have phrases to look for, or that are small enough to be damaged."""
    found = []
    for case in cases():
        row = case.values[0]
        size = row_size(row) if most_bytes else 0
        if (not phrases or any(probe["phrase"] for probe in row.probes)) and (
            most_bytes is None or (0 < size <= most_bytes and not row.path.startswith("corpus/"))
        ):
            found.append(case)
    return found


def row_size(row: Row) -> int:
    """Return the bytes of a file that is not packed."""
    path = FILES / row.path if FILES else None
    return path.stat().st_size if path and path.is_file() else 0


@pytest.fixture(scope="session")
def edge(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return unpacked_edge(tmp_path_factory.mktemp("edge"))


@pytest.fixture(autouse=True)
def without_recogniser(monkeypatch: pytest.MonkeyPatch) -> None:
    """Read pictures of pages nowhere, whether or not the extra is installed here."""
    monkeypatch.setattr(ocr, "is_installed", lambda: False)


@pytest.fixture
def source(row: Row, edge: Path) -> bytes:
    assert FILES is not None
    folder = edge if row.path.startswith("edge/") else FILES
    return (folder / row.path).read_bytes()


def read(data: bytes, path: str) -> Document:
    return read_document(data, path)


def assert_is_sound(document: Document) -> None:
    """Blocks are in order, disjoint, not blank, and only blanks lie outside of them."""
    place = 0
    for block in document.blocks:
        assert not document.text[place : block.start].strip()
        text = document.text[block.start : block.end]
        assert text.strip()
        assert text == text.rstrip()
        assert text.lstrip(" \t\u3000")[0] != "\n"
        assert (block.kind == "heading") == bool(block.level)
        assert 0 <= block.level <= 6
        place = block.end
    assert not document.text[place:].strip()
    starts = [start for start, _ in document.lines]
    assert starts == sorted(set(starts))
    document.text.encode()


@pytest.mark.parametrize("row", cases())
def test_every_file_is_a_document_or_says_why_not(row: Row, source: bytes) -> None:
    if row.path in NO_DOCUMENT:
        with pytest.raises(ReadError) as caught:
            read(source, row.path)
        assert caught.value.reason == NO_DOCUMENT[row.path]
        return
    document = read(source, row.path)
    assert document.title
    assert_is_sound(document)


@pytest.mark.parametrize("row", rows_with(phrases=True))
def test_every_phrase_is_found_where_it_stands(row: Row, source: bytes) -> None:
    document = read(source, row.path)
    for probe in row.probes:
        if probe["phrase"] is None or probe["where"].get("optional"):
            continue
        places = list(positions(document.text, probe["phrase"]))
        assert places, probe
        assert any(is_at(document, source, place, probe["where"]) for place in places), probe


def test_comments_of_the_japanese_book_are_gone(shared: Path) -> None:
    path = shared / "files/corpus/rustbook-ja/ch04-01-what-is-ownership.md"
    document = read(path.read_bytes(), path.name)
    assert document.title == "所有権とは？"
    assert "What Is Ownership" not in document.text
    assert document.line(document.blocks[0].start) == 5


def damaged(data: bytes, kind: str, seed: int) -> bytes:
    """Return a copy that was cut off, or in which bits have flipped."""
    chance = random.Random(seed)  # noqa: S311 - the same damage in every run
    if kind == "cut":
        return data[: chance.randrange(1, len(data))]
    copy = bytearray(data)
    for _ in range(max(1, len(copy) // 500)):
        copy[chance.randrange(len(copy))] ^= 1 << chance.randrange(8)
    return bytes(copy)


@pytest.mark.parametrize("kind", ["cut", "flipped"])
@pytest.mark.parametrize("row", rows_with(most_bytes=100_000))
def test_a_damaged_file_is_a_document_or_an_error(row: Row, source: bytes, kind: str) -> None:
    by_suffix = {suffix: known for known in FORMATS for suffix in known.suffixes}
    known = by_suffix.get(f".{row.path.rpartition('.')[2].lower()}")
    assert known is not None
    for seed in range(6):
        try:
            # The reader itself: `read_document` would turn any error into a `ReadError`.
            document = known.read(damaged(source, kind, seed), row.path)
        except ReadError:
            continue
        assert_is_sound(document)
