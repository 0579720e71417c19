"""Taking documents out by name, with what the file remembers of where they came from."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from localrag.ingest.discover import uri_of
from localrag.ingest.sources import below
from localrag.ingest.write import remove_document
from localrag.store.documents import (
    clear_skipped,
    delete_sources,
    list_documents,
    list_skipped,
    list_sources,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from localrag.store.database import Database

__all__ = ["remove_named"]


def remove_named(database: Database, names: Sequence[str | os.PathLike[str]]) -> tuple[str, ...]:
    """Remove every document whose URI is one of `names` or lies below it, and return those URIs.

    Folders that were indexed at or below a name are forgotten, and so is what was skipped there. A
    relative path is taken from the current folder.
    """
    uris = {os.fspath(name) for name in names} | {uri_of(Path(name)) for name in names}
    connection = database.connection
    documents = [row.uri for row in list_documents(connection) if below(row.uri, uris)]
    for uri in documents:
        remove_document(database, uri)
    skipped = [one.uri for one in list_skipped(connection) if below(one.uri, uris)]
    sources = [source.path for source in list_sources(connection) if below(source.path, uris)]
    with database.atomic() as writing:
        clear_skipped(writing, skipped)
        delete_sources(writing, sources)
    return tuple(documents)
