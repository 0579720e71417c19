"""Real files are indexed, or listed with the reason; what stands in them is found where it stands.

The files are not in the repository: several licences forbid it. The models are fakes, so what is
searched for are the words of the probes, by BM25; the rest of the pipeline is the product's.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from support import open_base

from localrag.ingest import readers

sys.path.append(str(Path(__file__).parent / "formats"))
from shared_probes import (
    FILES,
    NO_DOCUMENT,
    Row,
    is_at,
    is_under,
    manifest,
    positions,
    unpacked_edge,
)

from localrag.formats.registry import read_document

if TYPE_CHECKING:
    from collections.abc import Iterator

    from localrag.knowledge_base import KnowledgeBase
    from localrag.records import Hit, Place, StoredChunk, SyncReport

NOT_FOUND = {
    "Table cell1": "the headers and footers of Word files repeat on every page and are left out",
    "Test": "the word stands in dozens of sections: a search within the file finds it, see below",
}
"""Phrases that the ten best hits need not show."""

ABOUT_THE_FILES = ("/MANIFEST.tsv", "/probes.jsonl", "/README.md", "/edge.tar.gz", "/corpus")
"""What is not part of the test: descriptions that quote every phrase, and another corpus."""

WITHOUT_OCR = "from localrag.formats import ocr; ocr.is_installed = lambda: False; main(int("


@dataclass(frozen=True)
class Indexed:
    """All files in one knowledge base."""

    kb: KnowledgeBase
    report: SyncReport
    edge: Path

    def path(self, name: str) -> Path:
        """Return where a file of the manifest lies."""
        assert FILES is not None
        return (self.edge if name.startswith("edge/") else FILES) / name


@pytest.fixture(scope="module")
def indexed(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Indexed]:
    folder = tmp_path_factory.mktemp("files")
    edge = unpacked_edge(folder)
    with pytest.MonkeyPatch.context() as patch, open_base(folder / "base.db") as kb:
        # Reading pictures takes a minute, and an extra that need not be installed.
        patch.setattr(readers, "START", readers.START.replace("main(int(", WITHOUT_OCR))
        report = kb.sync(shared / "files", edge / "edge", exclude=ABOUT_THE_FILES)
        yield Indexed(kb, report, edge)


def rows() -> list[Row]:
    return [row for row in manifest() if not row.path.startswith("corpus/")]


def probes() -> list[Any]:
    """Return each phrase to look for, with its file."""
    found = []
    for row in rows():
        for probe in row.probes:
            phrase = probe["phrase"]
            if phrase is None:
                continue
            reason = NOT_FOUND.get(phrase)
            marks = [pytest.mark.xfail(reason=reason, strict=True)] if reason else []
            found.append(pytest.param(probe, id=f"{row.path}: {phrase[:30]}", marks=marks))
    absent = pytest.mark.skip("the shared files (../shared/files) are not beside this checkout")
    return found or [pytest.param({}, id="absent", marks=absent)]


def test_every_file_is_indexed_or_skipped_with_its_reason(indexed: Indexed) -> None:
    named = {str(indexed.path(row.path)): row.path for row in rows()}
    skipped = {named[one.uri]: one.reason for one in indexed.report.skipped}
    assert skipped == NO_DOCUMENT
    assert {named[uri] for uri in indexed.report.added} == set(named.values()) - set(NO_DOCUMENT)
    # The ledger is in the order of the URIs, the report in that of the folders that were given.
    assert [(one.uri, one.reason) for one in indexed.kb.skipped()] == sorted(
        (one.uri, one.reason) for one in indexed.report.skipped
    )
    for one in indexed.report.skipped:
        assert one.detail
        assert "\n" not in one.detail
    assert indexed.kb.verify() == []


def test_a_second_run_reads_nothing_again(indexed: Indexed) -> None:
    assert FILES is not None
    report = indexed.kb.sync(FILES, indexed.edge / "edge", exclude=ABOUT_THE_FILES, dry_run=True)
    assert not report.changed
    assert len(report.unchanged) == len(indexed.report.added)


@pytest.mark.parametrize("probe", probes())
def test_a_search_finds_the_phrase_where_it_stands(indexed: Indexed, probe: dict[str, Any]) -> None:
    result = indexed.kb.search(probe["phrase"], mode="lexical", rerank=False)
    document = str(indexed.path(probe["path"]))
    found = [hit for hit in result if document in documents_of(hit)]
    assert found, f"only in {[hit.citation for hit in result]}"
    assert any(stands(indexed, hit, probe) for hit in found), [hit.citation for hit in found]


def test_a_frequent_word_is_found_in_the_file_that_is_asked_for(indexed: Indexed) -> None:
    path = indexed.path("docx/strict-ooxml.docx")
    [hit] = indexed.kb.search("Test", mode="lexical", rerank=False, path=str(path))
    assert hit.document == str(path)
    assert hit.text == "Test"


def test_values_of_equal_rows_stand_under_their_sheets(indexed: Indexed) -> None:
    path = str(indexed.path("xlsx/two-sheets-title-rows.xlsx"))
    hits = indexed.kb.search("Maple Leafs", mode="lexical", rerank=False, path=path)
    rows = {
        hit.heading[-1]: line for hit in hits for line in hit.text.splitlines() if "Maple" in line
    }
    assert rows == {
        "Stanley Cups": "| Maple Leafs | TOR | 13 |",
        "Stanley Cups Since 67": "| Maple Leafs | TOR | 0 |",
    }


def test_most_questions_are_answered_by_words_alone(indexed: Indexed) -> None:
    """Questions in other words than the text's are for the vectors, which are fakes here."""
    asked = [case.values[0] for case in probes()]
    found = sum(
        any(
            stands(indexed, hit, probe)
            for hit in indexed.kb.search(probe["query"], mode="lexical", rerank=False)
            if str(indexed.path(probe["path"])) in documents_of(hit)
        )
        for probe in asked
    )
    assert found >= 0.9 * len(asked), f"{found} of {len(asked)}"


def documents_of(hit: Hit) -> list[str]:
    return [hit.document, *(place.document for place in hit.also_in)]


def stands(indexed: Indexed, hit: Hit, probe: dict[str, Any]) -> bool:
    """Whether a hit holds a probe's phrase, and says that it stands where the probe says."""
    document = str(indexed.path(probe["path"]))
    return any(
        is_cited(indexed, hit, document, hit.start + place, probe["where"])
        for place in positions(hit.text, probe["phrase"])
    )


def is_cited(
    indexed: Indexed, hit: Hit, document: str, position: int, where: dict[str, Any]
) -> bool:
    """Whether a hit's own words about its place agree with a probe's."""
    places: list[Hit | Place] = [hit, *hit.also_in]
    here = next(one for one in places if one.document == document)
    page = where.get("page", where.get("slide"))
    heading, sheet = where.get("heading"), where.get("sheet")
    line = where.get("line", where.get("row"))
    if page is not None and here.page != page:
        return False
    if heading is not None and not is_under(list(here.heading), heading):
        return False
    if sheet is not None and sheet not in here.heading:
        return False
    if line is not None and chunk_at(indexed.kb, hit, position).line_at(position) != line:
        return False
    if not where.keys() & {"time", "message", "part"}:
        return True
    # What a hit has no field for is a matter of its offsets: they are those of the document.
    source = Path(document).read_bytes()
    return is_at(read_document(source, document), source, position, where)


def chunk_at(kb: KnowledgeBase, hit: Hit, position: int) -> StoredChunk:
    """Return the chunk of a hit, which may be several that follow each other, at a character."""
    rows = kb.database.connection.execute(
        "SELECT other.id FROM chunks AS hit JOIN chunks AS other USING(document_id) "
        'WHERE hit.id = ? AND other.start <= ? AND other."end" > ?',
        (hit.chunk_id, position, position),
    )
    ids = [id_ for (id_,) in rows]
    return kb.chunks(ids)[ids[0]]
