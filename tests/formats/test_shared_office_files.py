"""The readers of office formats on real files, which are not in the repository."""

import json
import re
import unicodedata
from pathlib import Path
from typing import Any

import pytest

from localrag.errors import ReadError
from localrag.formats import ocr
from localrag.formats.registry import read_document
from localrag.records import Document

FORMATS = ("html", "pdf", "docx", "pptx", "xlsx", "csv", "epub")
UNREADABLE = {
    "pdf/needs-user-password.pdf": "encrypted",
    "pdf/zero-bytes.pdf": "empty",
    "docx/truncated-zip.docx": "damaged",
    "xlsx/encrypted.xlsx": "encrypted",
}


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
def documents(files: Path) -> dict[str, Document]:
    """Every readable file of the formats, read once."""
    paths = [path for name in FORMATS for path in sorted((files / name).iterdir())]
    names = {path.relative_to(files).as_posix(): path for path in paths}
    unreadable = {*UNREADABLE, "pdf/scanned-no-text-layer.pdf"}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ocr, "is_installed", lambda: False)
        return {
            name: read_document(path.read_bytes(), name)
            for name, path in names.items()
            if name not in unreadable
        }


def probes(files: Path) -> list[dict[str, Any]]:
    lines = (files / "probes.jsonl").read_text(encoding="utf-8").splitlines()
    found = [probe for probe in map(json.loads, lines) if probe["format"] in FORMATS]
    return [probe for probe in found if probe["phrase"] and not probe["where"].get("optional")]


def paths_of_headings(document: Document) -> list[list[str]]:
    """Return for each block the headings above it."""
    paths: list[list[str]] = []
    stack: list[tuple[int, str]] = []
    for block in document.blocks:
        if block.kind == "heading":
            stack = [*(one for one in stack if one[0] < block.level), (block.level, block.heading)]
        paths.append([heading for _, heading in stack])
    return paths


def test_probes(files: Path, documents: dict[str, Document]) -> None:
    found = probes(files)
    assert len(found) > 50
    for probe in found:
        document = documents[probe["path"]]
        assert squeezed(probe["phrase"]) in squeezed(document.text), probe


def test_places_of_probes(files: Path, documents: dict[str, Document]) -> None:
    checked = 0
    for probe in probes(files):
        document, where = documents[probe["path"]], probe["where"]
        blocks = list(zip(document.blocks, paths_of_headings(document), strict=True))
        phrase = squeezed(probe["phrase"])
        number = where.get("page") or where.get("slide")
        if number:
            text = "".join(
                document.text[block.start : block.end]
                for block, _ in blocks
                if block.page == number
            )
            assert phrase in squeezed(text), probe
        heading = where.get("heading") or where.get("sheet")
        if heading:
            text = "".join(
                document.text[block.start : block.end] for block, path in blocks if heading in path
            )
            assert phrase in squeezed(text), probe
        checked += bool(number or heading)
    assert checked > 35


def test_rows_have_their_lines(documents: dict[str, Document]) -> None:
    for name, phrase, line in (
        ("csv/cp932.csv", "髙橋淳", 4),
        ("csv/semicolon-with-commas.csv", "sed, do", 3),
        ("csv/utf16-le-bom.csv", "Maple Leafs", 5),
        ("xlsx/two-sheets-title-rows.xlsx", "| Maple Leafs | TOR | 0 |", 5),
    ):
        document = documents[name]
        assert document.line(document.text.index(phrase)) == line, name


def test_blocks_hold_all_text(documents: dict[str, Document]) -> None:
    for name, document in documents.items():
        position = 0
        for block in document.blocks:
            assert not document.text[position : block.start].strip(), name
            assert document.text[block.start : block.end].strip(), name
            position = block.end
        assert not document.text[position:].strip(), name


@pytest.mark.parametrize(("name", "reason"), UNREADABLE.items())
def test_what_cannot_be_read(files: Path, name: str, reason: str) -> None:
    with pytest.raises(ReadError) as caught:
        read_document((files / name).read_bytes(), name)
    assert caught.value.reason == reason


def test_running_header_is_left_out(documents: dict[str, Document]) -> None:
    text = documents["pdf/federal-register-3-columns.pdf"].text
    assert text.count("Federal Register /") == 0


def test_navigation_is_left_out(documents: dict[str, Document]) -> None:
    text = documents["html/v8-blog-nav-code.html"].text
    assert "Show navigation" not in text
    assert "Privacy" not in text
    assert "__wasi_fd_write" in text


def test_ruby_is_left_out(documents: dict[str, Document]) -> None:
    assert "やまみち" not in documents["epub/kusamakura-vertical-ruby.epub"].text


def test_letters_without_names_are_reported(documents: dict[str, Document]) -> None:
    assert documents["pdf/kampo-gazette-vertical.pdf"].metadata["pages_unreadable"] == [1]


def test_docx_is_known_by_its_content(files: Path) -> None:
    data = (files / "docx/footnotes.docx").read_bytes()
    assert "tachyon" in read_document(data, "docx-called.txt").text
