"""A folder of three documents, and a base whose embedder counts what it is given."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from support import CountingEmbedder, write_files

from localrag.config import make_settings
from localrag.inference.fake import FakeEmbedder, FakeReranker
from localrag.knowledge_base import KnowledgeBase

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

FILES = {
    "keys.md": "# Keys\n\nKeys are rotated every month.\n\n## Locks\n\nLocks are oiled in May.\n",
    "doors.txt": "Doors stay shut at night.\n",
    "sub/windows.md": "# Windows\n\nWindows are cleaned on Mondays.\n",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with three documents."""
    return write_files(tmp_path / "docs", FILES)


@pytest.fixture
def kb(tmp_path: Path) -> Iterator[KnowledgeBase]:
    """Return an empty knowledge base whose embedder counts what it is given."""
    with KnowledgeBase(
        tmp_path / "base.db",
        embedder=CountingEmbedder(FakeEmbedder()),
        reranker=FakeReranker(),
        settings=make_settings(chunk_tokens=32, overlap_tokens=4, max_file_bytes=10_000),
    ) as opened:
        yield opened
