"""What the facade calls of this lane, imported at first use.

A search needs none of it, and its modules take a tenth of a second to import.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from localrag.ingest.discover import path_of, uri_of
    from localrag.ingest.glossary import Glossary
    from localrag.ingest.memory import add_document
    from localrag.ingest.pipeline import own_files, sync
    from localrag.ingest.reembed import reembed, reembed_file
    from localrag.ingest.removal import remove_named
    from localrag.ingest.sources import named, remembered, roots_of, scope_of
    from localrag.ingest.watch import watched

__all__ = [
    "Glossary",
    "add_document",
    "named",
    "own_files",
    "path_of",
    "reembed",
    "reembed_file",
    "remembered",
    "remove_named",
    "roots_of",
    "scope_of",
    "sync",
    "uri_of",
    "watched",
]

_HOMES = {
    "Glossary": "glossary",
    "add_document": "memory",
    "named": "sources",
    "own_files": "pipeline",
    "path_of": "discover",
    "reembed": "reembed",
    "reembed_file": "reembed",
    "remembered": "sources",
    "remove_named": "removal",
    "roots_of": "sources",
    "scope_of": "sources",
    "sync": "pipeline",
    "uri_of": "discover",
    "watched": "watch",
}


def __getattr__(name: str) -> object:
    """Import a name when it is first used (PEP 562)."""
    if name not in _HOMES:
        raise AttributeError(f"module 'localrag.ingest.lazy' has no attribute {name!r}")
    return getattr(importlib.import_module(f"localrag.ingest.{_HOMES[name]}"), name)
