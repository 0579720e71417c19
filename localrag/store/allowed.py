"""The set of chunks that a search may find, by the documents they belong to."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from localrag.records import Allowed

if TYPE_CHECKING:
    from collections.abc import Iterable

    import apsw

__all__ = ["chunks_of_documents", "without_documents"]


def chunks_of_documents(connection: apsw.Connection, documents: int, ids: str) -> Allowed:
    """Return the chunks of documents, whose ids are a JSON list, as what a search may find."""
    chunks, chunk_ids = connection.execute(
        "SELECT count(*), json_group_array(id) FROM (SELECT id FROM chunks WHERE document_id IN "
        "(SELECT value FROM json_each(?)) ORDER BY id)",
        (ids,),
    ).get
    return Allowed(documents, int(chunks), str(chunk_ids))


def without_documents(
    connection: apsw.Connection, allowed: Allowed | None, documents: Iterable[int]
) -> Allowed:
    """Return what is allowed without the chunks of these documents; None allows every chunk."""
    within = "AND id IN (SELECT value FROM json_each(:allowed)) " if allowed else ""
    chunks, chunk_ids = connection.execute(
        "SELECT count(*), json_group_array(id) FROM (SELECT id FROM chunks WHERE document_id "  # noqa: S608 - literals
        f"NOT IN (SELECT value FROM json_each(:documents)) {within}ORDER BY id)",
        {"documents": json.dumps(list(documents)), "allowed": allowed.ids if allowed else None},
    ).get
    return Allowed(allowed.documents if allowed else 0, int(chunks), str(chunk_ids))
