"""What the manifest and the probes of the shared files ask of the readers."""

from __future__ import annotations

import csv
import json
import re
import tarfile
import unicodedata
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from localrag.records import Block, Document

ROOT = Path(__file__).parent.parent.parent
CANDIDATES = [folder / "files" for folder in (ROOT / "shared", ROOT.parent / "shared")]
FILES = next((folder for folder in CANDIDATES if folder.is_dir()), None)
"""The shared files, or None where they are not beside the checkout."""

NO_DOCUMENT = {
    "edge/empty.txt": "empty",
    "edge/whitespace-only.md": "empty",
    "edge/bom-only.txt": "empty",
    "edge/front-matter-only.md": "empty",
    "edge/binary-junk.md": "binary",
    "edge/png-called.txt": "unsupported",
    "data/xxe-external-entity.xml": "empty",
    "pdf/needs-user-password.pdf": "encrypted",
    "pdf/scanned-no-text-layer.pdf": "scanned",
    "pdf/zero-bytes.pdf": "empty",
    "docx/truncated-zip.docx": "damaged",
    "xlsx/encrypted.xlsx": "encrypted",
}
"""Files that hold no document, and the reason that the ledger must give."""


@dataclass(frozen=True)
class Row:
    """One file of the manifest."""

    path: str
    format: str
    probes: tuple[dict[str, Any], ...]


def manifest() -> list[Row]:
    """Return every file of the manifest; nothing where it is not beside the checkout."""
    if FILES is None:
        return []
    with (FILES / "MANIFEST.tsv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream, delimiter="\t"))
    probes: dict[str, list[dict[str, Any]]] = {}
    for line in (FILES / "probes.jsonl").read_text(encoding="utf-8").splitlines():
        probe = json.loads(line)
        probes.setdefault(probe["path"], []).append(probe)
    return [
        Row(path, row["format"], tuple(probes.get(path, ())))
        for row in rows
        for path in _expanded(_unescaped(row["path"]))
    ]


def _unescaped(path: str) -> str:
    return re.sub(r"\\u([0-9a-fA-F]{4})", lambda found: chr(int(found[1], 16)), path)


def _expanded(path: str) -> list[str]:
    if FILES is None or "*" not in path:
        return [path]
    return sorted(str(found.relative_to(FILES)) for found in FILES.glob(path))


def unpacked_edge(folder: Path) -> Path:
    """Unpack the files with odd names and contents."""
    assert FILES is not None
    with tarfile.open(FILES / "edge.tar.gz") as archive:
        if hasattr(tarfile, "data_filter"):
            archive.extractall(folder, filter="data")
        else:  # Python before 3.11.4; the archive is our own
            archive.extractall(folder)  # noqa: S202
    return folder


# Phrases are compared without white space and what extractors add or leave out.

_LEFT_OUT = re.compile(r"[\s\u00ad\ufeff\ufffe]")


def squeezed(text: str) -> tuple[str, list[int]]:
    """Return text without white space and quote marks, and where each character came from."""
    marks = {found.end() - 1 for found in re.finditer(r"\n>", text)}
    characters: list[str] = []
    origins: list[int] = []
    for origin, character in enumerate(text):
        if origin in marks or _LEFT_OUT.match(character):
            continue
        for normal in unicodedata.normalize("NFKC", character):
            characters.append(normal)
            origins.append(origin)
    return "".join(characters), origins


def positions(text: str, phrase: str) -> Iterator[int]:
    """Yield every place of a phrase in a text, white space aside."""
    sought, _ = squeezed(phrase)
    squeezed_text, origins = squeezed(text)
    for found in re.finditer(re.escape(sought), squeezed_text):
        yield origins[found.start()]


def block_at(document: Document, place: int) -> Block:
    """Return the block that holds a character."""
    return next(block for block in document.blocks if block.start <= place < block.end)


def headings_at(document: Document, place: int) -> list[str]:
    """Return the headings above a character, outermost first."""
    path: list[Block] = []
    for block in document.blocks:
        if block.start > place:
            break
        if block.kind == "heading":
            path = [one for one in path if one.level < block.level] + [block]
    return [block.heading for block in path]


# The places that probes name


def is_at(document: Document, source: bytes, place: int, where: dict[str, Any]) -> bool:
    """Whether a character stands where a probe says."""
    path = headings_at(document, place)
    page = block_at(document, place).page
    checks: dict[str, Callable[[Any], bool]] = {
        "line": lambda line: document.line(place) == line,
        "page": lambda number: page == number,
        "slide": lambda number: page == number,
        "sheet": lambda name: name in path,
        "heading": lambda heading: is_under(path, heading),
        "time": lambda time: _cue_time(source, document.line(place) or 0) == time,
        "message": lambda number: len(_messages(document, place)) == number,
        "part": lambda part: part != "subject" or document.metadata["subject"] in path,
    }
    return all(checks[key](value) for key, value in where.items() if key in checks)


def is_under(path: list[str], heading: str) -> bool:
    """Whether a path ends as a probe says: ``A > B``, or ``B (under A)``."""
    if under := re.fullmatch(r"(.+) \(under (.+)\)", heading):
        return path[-1] == under[1] and any(under[2] in one for one in path)
    wanted = heading.split(" > ")
    return path[-len(wanted) :] == wanted


def _messages(document: Document, place: int) -> list[Block]:
    return [block for block in document.blocks if block.level == 1 and block.start <= place]


def _cue_time(source: bytes, line: int) -> str:
    """Return the time of the cue that a line of a subtitle file belongs to."""
    text = source.decode("utf-16" if source.startswith(b"\xff\xfe") else "utf-8-sig")
    above = re.split(r"\r\n|\r|\n", text)[:line]
    return next(one for one in reversed(above) if "-->" in one).split(" -->")[0].strip()
