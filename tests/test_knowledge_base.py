"""The facade: opening, guarding the vectors, traces, closing."""

from __future__ import annotations

import shutil
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import apsw
import pytest
from support import CountingEmbedder, open_base, write_files

import localrag
from localrag import opening
from localrag.answer.extract import NOT_FOUND
from localrag.config import make_settings
from localrag.errors import (
    FingerprintError,
    KnowledgeBaseError,
    LocalragError,
    NotAKnowledgeBaseError,
    SettingsError,
)
from localrag.inference.fake import FakeEmbedder, FakeReranker
from localrag.ingest import fingerprint
from localrag.knowledge_base import KnowledgeBase
from localrag.store import database as database_module
from localrag.store.database import Database

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

FILES = {
    "keys.md": "# Keys\n\n## Rotation\n\nKeys are rotated every month. Locks are oiled in May.\n",
    "doors.txt": "Doors stay shut at night.\n\nNobody opens them before six.\n",
    "鍵.md": "# 鍵\n\n鍵は毎月交換します。扉は夜に閉めます。\n",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with three documents."""
    return write_files(tmp_path / "docs", FILES)


@pytest.fixture
def path(tmp_path: Path, folder: Path) -> Path:
    """Return a knowledge base file of the three documents."""
    with open_base(tmp_path / "base.db") as filled:
        filled.sync(folder)
    return tmp_path / "base.db"


@pytest.fixture
def kb(path: Path) -> Iterator[KnowledgeBase]:
    """Return the knowledge base, open for writing."""
    with open_base(path) as opened:
        yield opened


# Opening


def test_the_package_opens_a_knowledge_base(tmp_path: Path) -> None:
    with localrag.open(
        tmp_path / "base.db", embedder=FakeEmbedder(), reranker=FakeReranker()
    ) as kb:
        assert isinstance(kb, localrag.KnowledgeBase)
        assert kb.documents() == []


def test_the_bundled_models_are_used_unless_others_are_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    embedder, reranker = FakeEmbedder(), FakeReranker()
    monkeypatch.setattr(opening, "load_embedder", lambda: embedder)
    monkeypatch.setattr(opening, "load_reranker", lambda: reranker)
    with KnowledgeBase(tmp_path / "base.db") as kb:
        assert kb.embedder is embedder
        assert kb.reranker is reranker


def test_closing_releases_the_models(tmp_path: Path) -> None:
    closed: list[str] = []

    class Embedder(FakeEmbedder):
        def close(self) -> None:
            closed.append("embedder")

    class Reranker(FakeReranker):
        def close(self) -> None:
            closed.append("reranker")

    with KnowledgeBase(tmp_path / "base.db", embedder=Embedder(), reranker=Reranker()) as kb:
        assert closed == []
    assert closed == ["embedder", "reranker"]
    with pytest.raises(KnowledgeBaseError, match="is closed"):
        kb.search("keys")


def test_a_base_that_was_never_prepared_cannot_be_read(tmp_path: Path) -> None:
    """As left by a process that was killed while it made the file."""
    Database(tmp_path / "base.db").close()
    with pytest.raises(NotAKnowledgeBaseError, match=r"is empty.*localrag index"):
        open_base(tmp_path / "base.db", read_only=True)
    with open_base(tmp_path / "base.db") as kb:
        assert kb.search("keys").hits == ()


# The fingerprint and the sizes belong to the file


def test_another_model_is_refused_with_the_way_out(path: Path) -> None:
    way_out = r"with fake-embedder; .*: localrag reembed --db base\.db.* not on this machine"
    with pytest.raises(FingerprintError, match=way_out) as caught:
        KnowledgeBase(path, embedder=FakeEmbedder(dimensions=32), reranker=FakeReranker())
    assert caught.value.stored.startswith(f"{FakeEmbedder().fingerprint} analyser-")
    assert caught.value.current.startswith("fake-embedder-32 analyser-")
    with open_base(path) as kb:
        assert len(kb.search("keys")) > 0


@pytest.mark.parametrize("version", ["ANALYSER_VERSION", "CHUNKER_VERSION"])
def test_another_version_of_the_text_analysis_is_refused(
    path: Path, monkeypatch: pytest.MonkeyPatch, version: str
) -> None:
    monkeypatch.setattr(fingerprint, version, "later")
    with pytest.raises(FingerprintError, match=r"another version of the text analysis.*NEW\.db"):
        open_base(path)


def test_another_reranker_is_welcome(path: Path) -> None:
    class Other(FakeReranker):
        fingerprint = "other"

    with KnowledgeBase(path, embedder=FakeEmbedder(), reranker=Other()) as kb:
        assert len(kb.search("keys")) > 0


def test_a_file_keeps_the_sizes_it_was_made_with(tmp_path: Path) -> None:
    open_base(tmp_path / "base.db", make_settings(chunk_tokens=64, overlap_tokens=8)).close()
    with open_base(tmp_path / "base.db") as kb:
        assert (kb.settings.chunk_tokens, kb.settings.overlap_tokens) == (64, 8)
    with open_base(tmp_path / "base.db", make_settings(overlap_tokens=8, rrf_k=7)) as kb:
        assert kb.settings.chunk_tokens == 64
        assert kb.settings.rrf_k == 7


def test_other_sizes_are_refused(path: Path) -> None:
    with pytest.raises(SettingsError, match=r"made with chunk_tokens = 300.*new file"):
        open_base(path, make_settings(chunk_tokens=64, overlap_tokens=8))


# Reading


def test_search_returns_where_and_what(kb: KnowledgeBase) -> None:
    result = kb.search("how often are keys rotated?")
    best = result[0]
    assert result.query == "how often are keys rotated?"
    assert best.document.endswith("keys.md")
    assert "Keys are rotated every month." in best.text
    assert best.heading[-1] == "Rotation"


def test_an_answer_is_a_sentence_of_a_document_with_its_place(
    kb: KnowledgeBase, folder: Path
) -> None:
    answer = kb.ask("keys are rotated every month")
    assert answer.found
    assert answer.question == "keys are rotated every month"
    assert answer.text == "Keys are rotated every month. [1]"
    [citation] = answer.citations
    text = (folder / "keys.md").read_text(encoding="utf-8")
    assert text[citation.start : citation.end] == citation.text == "Keys are rotated every month."
    assert citation.document == str(folder / "keys.md")
    assert citation.line == 5
    assert [record.name for record in answer.trace.stages][-2:] == ["5. expand", "6. answer"]


def test_an_answer_in_japanese(kb: KnowledgeBase) -> None:
    answer = kb.ask("鍵は毎月交換")
    assert answer.text.startswith("鍵は毎月交換します。 [1]")


def test_what_the_documents_do_not_say_is_not_found(kb: KnowledgeBase) -> None:
    answer = kb.ask("who baked the sourdough bread?")
    assert not answer.found
    assert answer.text == NOT_FOUND
    assert answer.citations == ()
    assert answer.trace.stages[-1].note.startswith("not found")


def test_an_answer_can_be_had_without_reranked_candidates(kb: KnowledgeBase) -> None:
    assert kb.ask("keys are rotated every month", rerank=False).found
    assert not kb.ask("who baked the sourdough bread?", rerank=False).found


def test_the_settings_decide_what_is_an_answer(path: Path) -> None:
    with open_base(path, make_settings(min_relevance=0.0, answer_sentences=1)) as kb:
        assert len(kb.ask("who baked the sourdough bread?").citations) == 1


def test_documents_chunks_and_status_agree(kb: KnowledgeBase, folder: Path) -> None:
    assert [row.uri for row in kb.documents()] == sorted(str(folder / name) for name in FILES)
    assert kb.status().documents == 3
    hit = kb.search("keys")[0]
    assert kb.chunks([hit.chunk_id])[hit.chunk_id].uri == hit.document
    assert kb.skipped() == []
    assert kb.verify() == []


def test_threads_share_one_knowledge_base(kb: KnowledgeBase) -> None:
    queries = ["keys rotated", "doors shut", "鍵", "nothing"] * 5

    def run(query: str) -> list[int]:
        return [hit.chunk_id for hit in kb.search(query)]

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(run, queries)) == [run(query) for query in queries]
    assert kb.status().queries == 40


def test_searching_goes_on_while_another_thread_indexes(path: Path, folder: Path) -> None:
    write_files(folder, {f"more{n}.md": f"More keys, number {n}.\n" for n in range(30)})
    with open_base(path) as kb, ThreadPoolExecutor(1) as pool:
        run = pool.submit(kb.sync, folder)
        searches = 0
        while not run.done() or searches < 5:
            assert len(kb.search("keys rotated")) > 0
            assert kb.ask("keys are rotated every month").found
            searches += 1
        assert len(run.result().added) == 30
        assert kb.status().queries == 2 * searches
        assert kb.verify() == []


# Traces


def test_every_query_leaves_a_trace(kb: KnowledgeBase) -> None:
    assert kb.trace() is None
    first = kb.search("keys").trace
    second = kb.ask("doors").trace
    assert first.id is not None
    assert second.id is not None
    for trace in (first, second):
        stored = kb.trace(trace.id)
        assert stored is not None
        assert [record.name for record in stored.stages] == [r.name for r in trace.stages]
        assert [
            [candidate.chunk_id for candidate in record.survivors] for record in stored.stages
        ] == [[candidate.chunk_id for candidate in record.survivors] for record in trace.stages]
    last = kb.trace()
    assert last is not None
    assert last.query == "doors"
    assert kb.trace(999) is None


def test_traces_can_be_switched_off(path: Path) -> None:
    with open_base(path, make_settings(keep_traces=False)) as kb:
        assert kb.search("keys").trace.id is None
        assert kb.status().queries == 0


def test_a_read_only_base_searches_and_writes_nothing(path: Path) -> None:
    before = path.read_bytes()
    with open_base(path, read_only=True) as kb:
        assert len(kb.search("keys")) > 0
        assert kb.ask("keys are rotated every month").found
        assert kb.search("keys").trace.id is None
        assert kb.trace() is None
    assert path.read_bytes() == before


def test_a_copy_of_the_file_is_the_same_base(path: Path, tmp_path: Path) -> None:
    copy = tmp_path / "elsewhere" / "copy.db"
    copy.parent.mkdir()
    shutil.copyfile(path, copy)
    with open_base(path) as kb, open_base(copy, read_only=True) as other:
        assert other.search("keys").hits == kb.search("keys").hits


def test_a_search_does_not_fail_for_its_log(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database_module, "BUSY_MILLISECONDS", 10)
    other = apsw.Connection(str(path))
    with open_base(path) as kb:
        other.execute("BEGIN IMMEDIATE")
        result = kb.search("keys")
        assert len(result) > 0
        assert result.trace.id is None
        other.execute("ROLLBACK")
        assert kb.search("keys").trace.id is not None
    other.close()


# Damage

READS: dict[str, Callable[[KnowledgeBase], object]] = {
    "search": lambda kb: kb.search("keys rotated doors"),
    "ask": lambda kb: kb.ask("keys rotated doors"),
    "documents": lambda kb: kb.documents(),
    "status": lambda kb: kb.status(),
    "verify": lambda kb: kb.verify(),
}


def outcome(path: Path, read: Callable[[KnowledgeBase], object], *, read_only: bool) -> object:
    """Return what `read` returns, or our error."""
    try:
        with open_base(path, read_only=read_only) as kb:
            return read(kb)
    except LocalragError as error:
        return error


@pytest.mark.parametrize("read", READS)
@pytest.mark.parametrize("read_only", [True, False])
@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_a_truncated_file_gives_a_clear_error_or_a_result_never_another_error(
    path: Path, read: str, share: float, *, read_only: bool
) -> None:
    whole = path.read_bytes()
    path.write_bytes(whole[: int(len(whole) * share)])
    result = outcome(path, READS[read], read_only=read_only)
    if isinstance(result, KnowledgeBaseError):
        assert isinstance(result, NotAKnowledgeBaseError)
        assert "restore a copy" in str(result)
    elif read == "verify":
        assert result, "the damage was not found"


def test_a_page_of_noise_gives_a_clear_error(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[4096 : 4096 * 12] = b"\xa5" * (4096 * 11)
    path.write_bytes(content)
    with pytest.raises(NotAKnowledgeBaseError, match="restore a copy"), open_base(path) as kb:
        kb.search("keys")


def test_damage_that_an_indexing_run_meets_is_a_clear_error(path: Path, folder: Path) -> None:
    with open_base(path) as kb:
        root = kb.database.connection.execute(
            "SELECT rootpage FROM sqlite_schema WHERE name = 'documents'"
        ).get
    content = bytearray(path.read_bytes())
    content[(root - 1) * 4096 : root * 4096] = b"\xa5" * 4096
    path.write_bytes(content)
    with pytest.raises(NotAKnowledgeBaseError), open_base(path) as kb:
        kb.sync(folder)


# How documents are cut belongs to the file too

NAMES = ("oak", "ash", "elm", "fir", "yew", "bay", "fig", "pear", "plum", "lime")
BOOK = "# Keys\n\n## Rotation\n\n" + " ".join(
    f"Sentence {word} tells of keys and locks in the old house." for word in NAMES
)


def test_a_file_keeps_the_way_of_cutting_it_was_made_with(tmp_path: Path) -> None:
    made = make_settings(chunking="sentence-window", context_line="words")
    open_base(tmp_path / "base.db", made).close()
    with open_base(tmp_path / "base.db") as kb:
        assert (kb.settings.chunking, kb.settings.context_line) == ("sentence-window", "words")
        assert (kb.settings.chunk_tokens, kb.settings.overlap_tokens) == (100, 0)
    open_base(tmp_path / "base.db", make_settings(chunking="sentence-window")).close()
    for other in ({"chunking": "fixed"}, {"context_line": "full"}):
        with pytest.raises(SettingsError, match=r"made with .* --db NEW\.db"):
            open_base(tmp_path / "base.db", make_settings(**other))


def test_a_file_from_before_there_was_a_choice_is_structural(path: Path) -> None:
    with open_base(path) as kb, kb.database.atomic() as connection:
        connection.execute("DELETE FROM settings WHERE key IN ('chunking', 'context_line')")
    with open_base(path) as kb:
        assert (kb.settings.chunking, kb.settings.context_line) == ("structural", "full")
    with pytest.raises(SettingsError, match="made with context_line = full"):
        open_base(path, make_settings(context_line="none"))


def test_a_sentence_is_found_and_its_window_is_returned(tmp_path: Path) -> None:
    write_files(tmp_path / "docs", {"book.md": BOOK})
    settings = make_settings(chunking="sentence-window", window_sentences=1)
    with open_base(tmp_path / "base.db", settings) as kb:
        kb.sync(tmp_path / "docs")
        hit = kb.search("Sentence yew tells", limit=1)[0]
        (found,) = kb.chunks([hit.chunk_id]).values()
        assert found.text == "Sentence yew tells of keys and locks in the old house."
        assert [name for name in NAMES if f"Sentence {name} " in hit.text] == ["fir", "yew", "bay"]
        assert BOOK[hit.start : hit.end] == hit.text
        answer = kb.ask("Sentence yew tells")
        assert answer.citations[0].text == found.text
        assert answer.citations[0].chunk_id == found.id


def test_a_small_chunk_is_found_and_its_section_is_returned(tmp_path: Path) -> None:
    write_files(tmp_path / "docs", {"book.md": f"{BOOK}\n\n## Other\n\nNothing.\n"})
    settings = make_settings(chunking="parent-child", chunk_tokens=32)
    with open_base(tmp_path / "base.db", settings) as kb:
        kb.sync(tmp_path / "docs")
        hit = kb.search("Sentence yew tells", limit=1)[0]
        assert hit.text == BOOK
        (found,) = kb.chunks([hit.chunk_id]).values()
        assert "Sentence yew" in found.text
        assert len(found.text) < len(hit.text) / 2


def test_the_line_of_context_stays_out_of_the_vectors_but_not_of_the_words(
    tmp_path: Path,
) -> None:
    write_files(tmp_path / "docs", {"book.md": "# Lighthouse\n\n## Keys\n\nThey are iron.\n"})
    embedder = CountingEmbedder(FakeEmbedder())
    settings = make_settings(context_line="words")
    with KnowledgeBase(
        tmp_path / "base.db", settings=settings, embedder=embedder, reranker=FakeReranker()
    ) as kb:
        kb.sync(tmp_path / "docs")
        assert embedder.passages == ["# Lighthouse\n\n## Keys\n\nThey are iron."]
        (hit,) = kb.search("lighthouse", mode="lexical", limit=1)
        (found,) = kb.chunks([hit.chunk_id]).values()
        assert found.passage.startswith("Lighthouse > Keys\n")
        kb.sync(tmp_path / "docs")
        assert kb.verify() == []


def test_statistics_of_the_chunks(tmp_path: Path) -> None:
    write_files(tmp_path / "docs", {"book.md": BOOK, "one.txt": "Yes."})
    with open_base(tmp_path / "base.db", make_settings(chunking="sentence-window")) as kb:
        kb.sync(tmp_path / "docs")
        found = kb.chunk_statistics()
        assert found.chunks == kb.status().chunks == 11
        assert found.tokens == kb.status().tokens
        assert found.documents == 2
        (tiny,) = (one for one in found.findings if "5 tokens" in one.problem)
        assert tiny.examples == (f"{tmp_path}/docs/one.txt, chunk 0: Yes.",)
