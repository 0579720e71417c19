"""A knowledge base that stays open searches a coded matrix, says so, and releases it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from support import open_base, write_files

from localrag.config import Settings

if TYPE_CHECKING:
    from pathlib import Path

    from localrag.knowledge_base import KnowledgeBase


def plan(kb: KnowledgeBase, query: str) -> str:
    """Return how the last search found the nearest chunks."""
    stages = kb.search(query, rerank=False).trace.stages
    return next(stage.note for stage in stages if stage.name == "2b. vector")


def test_a_base_that_stays_open(tmp_path: Path) -> None:
    names = [f"{number}.md" for number in range(30)]
    folder = write_files(tmp_path / "docs", {name: f"# {name}\n\nword {name}" for name in names})
    with open_base(tmp_path / "base.db", Settings(vector_matrix_from=10)) as kb:
        kb.sync(folder)
        assert kb.status().vector_memory == 0
        assert kb.status().vector_memory_open > 0
        assert plan(kb, "word") == "vec0: no matrix yet"
        direct = kb.search("word 3.md", mode="vector", rerank=False)
        kb.vectors.wait()
        found = kb.search("word 3.md", mode="vector", rerank=False)
        assert [hit.chunk_id for hit in found] == [hit.chunk_id for hit in direct]
        assert plan(kb, "word").startswith("matrix, ")
        assert kb.status().vector_memory >= kb.status().vector_memory_open

        write_files(folder, {"new.md": "# New\n\nan entirely different sentence"})
        kb.sync(folder)
        first = kb.search("an entirely different sentence", mode="vector", rerank=False)[0]
        assert first.document.endswith("new.md")
        assert plan(kb, "word").startswith("matrix, ")
        (folder / "new.md").unlink()
        kb.sync(folder)
        assert not [
            hit
            for hit in kb.search("an entirely different sentence", rerank=False)
            if hit.document.endswith("new.md")
        ]
        vectors = kb.vectors
    assert vectors.bytes == 0


def test_a_small_base_is_left_to_vec0(tmp_path: Path) -> None:
    folder = write_files(tmp_path / "docs", {"a.md": "# A\n\nword"})
    with open_base(tmp_path / "base.db") as kb:
        kb.sync(folder)
        assert kb.status().vector_memory_open == 0
        assert plan(kb, "word") == "vec0, 1 vectors"
