"""The readers on real files, which are not in the repository (several licences forbid it)."""

import json
import re
import tarfile
import unicodedata
from pathlib import Path

import pytest

from localrag.errors import ReadError
from localrag.formats.registry import read_document
from localrag.records import Document


def squeezed(text: str) -> str:
    """Return text without white space and quote marks, since wrapping differs."""
    normal = unicodedata.normalize("NFKC", text)
    return re.sub(r"[\s\u00ad\ufeff]|(?<=\n)> ?", "", normal)


@pytest.fixture(scope="session")
def files(shared: Path) -> Path:
    folder = shared / "files"
    if not folder.is_dir():
        pytest.skip("the ingestion test files (../shared/files) are not beside this checkout")
    return folder


@pytest.fixture(scope="session")
def edge(files: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("edge")
    with tarfile.open(files / "edge.tar.gz") as archive:
        archive.extractall(folder, filter="data")
    return folder


def read(path: Path) -> Document:
    return read_document(path.read_bytes(), path.name)


def probes(files: Path, *formats: str) -> list[dict[str, str]]:
    lines = (files / "probes.jsonl").read_text(encoding="utf-8").splitlines()
    return [probe for probe in map(json.loads, lines) if probe["format"] in formats]


def test_phrases_are_found(files: Path) -> None:
    for probe in probes(files, "text", "markdown"):
        text = read(files / probe["path"]).text
        assert squeezed(probe["phrase"]) in squeezed(text), probe["path"]


def test_edge_cases(files: Path, edge: Path) -> None:
    for probe in probes(files, "edge"):
        path = edge / probe["path"]
        if probe["phrase"]:
            assert squeezed(probe["phrase"]) in squeezed(read(path).text), probe["path"]


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("empty.txt", "empty"),
        ("whitespace-only.md", "empty"),
        ("bom-only.txt", "empty"),
        ("front-matter-only.md", "empty"),
        ("binary-junk.md", "binary"),
        ("png-called.txt", "unsupported"),
    ],
)
def test_what_cannot_be_read(edge: Path, name: str, reason: str) -> None:
    with pytest.raises(ReadError) as caught:
        read(edge / "edge" / name)
    assert caught.value.reason == reason


def test_blocks_hold_all_text_of_the_book(files: Path) -> None:
    for path in sorted((files / "corpus").glob("rustbook-*/*.md")):
        document = read(path)
        position = 0
        for block in document.blocks:
            assert not document.text[position : block.start].strip(), path
            position = block.end
            assert block.kind == "code" or "<!--" not in document.text[block.start : block.end]
        assert not document.text[position:].strip(), path


def test_comments_of_the_japanese_book_are_gone(files: Path) -> None:
    document = read(files / "corpus/rustbook-ja/ch04-01-what-is-ownership.md")
    assert document.title == "所有権とは？"
    assert "What Is Ownership" not in document.text
    assert document.line(document.blocks[0].start) == 5
