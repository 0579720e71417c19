"""Answers questions from your own documents: one SQLite file, offline, on a laptop CPU.

::

    import localrag

    with localrag.open("notes.db") as kb:
        kb.sync("docs/")
        for hit in kb.search("how do I rotate keys?", limit=5):
            print(hit.relevance, hit.citation, hit.text)
        answer = kb.ask("how do I rotate keys?")

Importing this package loads no model, no runtime and no database: that happens at first use.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from localrag.errors import LocalragError

if TYPE_CHECKING:
    import os

    from localrag.config import Settings
    from localrag.inference.protocols import Embedder, Reranker
    from localrag.knowledge_base import KnowledgeBase
    from localrag.records import Answer, Citation, Hit, SearchResult, SyncReport, Trace

__version__ = "0.1.0"

__all__ = [
    "Answer",
    "Citation",
    "Hit",
    "KnowledgeBase",
    "LocalragError",
    "SearchResult",
    "Settings",
    "SyncReport",
    "Trace",
    "__version__",
    "open",
]

_HOMES = {
    "Answer": "localrag.records",
    "Citation": "localrag.records",
    "Hit": "localrag.records",
    "KnowledgeBase": "localrag.knowledge_base",
    "SearchResult": "localrag.records",
    "Settings": "localrag.config",
    "SyncReport": "localrag.records",
    "Trace": "localrag.records",
}


def open(  # noqa: A001 - `localrag.open` reads as what it does, like `gzip.open`
    path: str | os.PathLike[str],
    *,
    read_only: bool = False,
    settings: Settings | None = None,
    embedder: Embedder | str | os.PathLike[str] | None = None,
    reranker: Reranker | str | os.PathLike[str] | None = None,
) -> KnowledgeBase:
    """Open a knowledge base file, or make one. See `KnowledgeBase` for arguments and errors."""
    from localrag.knowledge_base import KnowledgeBase  # noqa: PLC0415 - keeps the import light

    return KnowledgeBase(
        path, read_only=read_only, settings=settings, embedder=embedder, reranker=reranker
    )


def __getattr__(name: str) -> object:
    """Import a public name when it is first used (PEP 562)."""
    if name not in _HOMES:
        raise AttributeError(f"module 'localrag' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)
