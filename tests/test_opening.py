"""What cannot be opened is left as it was."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from localrag.config import make_settings
from localrag.errors import FingerprintError, NotAKnowledgeBaseError, SettingsError
from localrag.inference.fake import FakeEmbedder, FakeReranker
from localrag.knowledge_base import KnowledgeBase

if TYPE_CHECKING:
    from pathlib import Path

    from localrag.config import Settings


class Closing:
    """Two models that note when they are closed."""

    def __init__(self) -> None:
        closed: list[str] = []

        class Embedder(FakeEmbedder):
            def close(self) -> None:
                closed.append("embedder")

        class Reranker(FakeReranker):
            def close(self) -> None:
                closed.append("reranker")

        self.closed = closed
        self.embedder = Embedder(8)
        self.reranker = Reranker()

    def open(self, path: Path, settings: Settings | None = None) -> KnowledgeBase:
        return KnowledgeBase(
            path, embedder=self.embedder, reranker=self.reranker, settings=settings
        )


def test_what_was_given_is_closed_when_the_file_is_none(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("No knowledge base.", encoding="utf-8")
    models = Closing()
    with pytest.raises(NotAKnowledgeBaseError):
        models.open(path)
    assert sorted(models.closed) == ["embedder", "reranker"]
    assert path.read_text(encoding="utf-8") == "No knowledge base."


def test_what_was_given_is_closed_when_it_does_not_fit_the_file(tmp_path: Path) -> None:
    KnowledgeBase(tmp_path / "base.db", embedder=FakeEmbedder(), reranker=FakeReranker()).close()
    models = Closing()
    with pytest.raises(FingerprintError):
        models.open(tmp_path / "base.db")
    assert sorted(models.closed) == ["embedder", "reranker"]


def test_no_file_is_made_for_chunks_that_do_not_fit_the_model(tmp_path: Path) -> None:
    models = Closing()
    with pytest.raises(SettingsError, match="reads 500 tokens"):
        models.open(tmp_path / "base.db", make_settings(chunk_tokens=600, overlap_tokens=0))
    assert sorted(models.closed) == ["embedder", "reranker"]
    assert not (tmp_path / "base.db").exists()
