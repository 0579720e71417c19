"""The vectors of another model, gathered beside those that searches use, then exchanged for them.

They are kept by the hash of their text and not by chunk: what a sync adds, changes or removes
between two runs needs no bookkeeping. Both the table and the setting exist only meanwhile.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from localrag.records import passage_text
from localrag.store.schema import REEMBEDDED, vectors_table
from localrag.store.settings import delete_setting, get_setting, set_setting
from localrag.store.vector_forms import stored_form
from localrag.store.vectors import require_unit

if TYPE_CHECKING:
    from collections.abc import Mapping

    import apsw
    from numpy.typing import NDArray

__all__ = [
    "PendingText",
    "begin",
    "count_staged",
    "count_texts",
    "discard",
    "exchange",
    "pending_texts",
    "stage_vectors",
]

SETTING: Final = "reembedding"
"""Which model the gathered vectors are of."""


@dataclass(frozen=True, slots=True)
class PendingText:
    """A text of a chunk that has no vector of the other model yet."""

    chunk_id: int
    content_hash: str
    uri: str
    passage: str
    """What models read."""


def begin(connection: apsw.Connection, target: str) -> None:
    """Make ready for vectors of `target`: those of another one go, and those of no chunk."""
    connection.execute(REEMBEDDED)
    if get_setting(connection, SETTING) != target:
        connection.execute("DELETE FROM reembedded")
        set_setting(connection, SETTING, target)
    connection.execute(
        "DELETE FROM reembedded WHERE content_hash NOT IN (SELECT content_hash FROM chunks)"
    )


def count_staged(connection: apsw.Connection, target: str) -> int:
    """Return how many texts of the file have a vector of `target`."""
    if get_setting(connection, SETTING) != target:
        return 0
    return int(
        connection.execute(
            "SELECT count(*) FROM reembedded "
            "WHERE content_hash IN (SELECT content_hash FROM chunks)"
        ).get
    )


def count_texts(connection: apsw.Connection) -> int:
    """Return how many different texts the chunks have."""
    return int(connection.execute("SELECT count(DISTINCT content_hash) FROM chunks").get)


def pending_texts(
    connection: apsw.Connection, after: int, limit: int, *, staged: bool = True
) -> list[PendingText]:
    """Return the next texts without a vector of the other model, each once, by chunk id.

    Args:
        connection: to the file.
        after: chunk id that was the last of the page before; 0 for the first page.
        limit: most texts.
        staged: whether vectors were gathered; otherwise every text is without one.
    """
    unstaged = (
        "AND NOT EXISTS (SELECT 1 FROM reembedded AS r WHERE r.content_hash = c.content_hash) "
        if staged
        else ""
    )
    rows = connection.execute(
        "SELECT c.id, c.content_hash, d.uri, c.context, c.preamble, c.text "  # noqa: S608 - constants
        "FROM chunks AS c JOIN documents AS d ON d.id = c.document_id WHERE c.id > ? "
        "AND NOT EXISTS (SELECT 1 FROM chunks AS earlier "
        f"WHERE earlier.content_hash = c.content_hash AND earlier.id < c.id) {unstaged}"
        "ORDER BY c.id LIMIT ?",
        (after, limit),
    )
    # `Chunk.embedded`: with this setting the line of context is not in the vectors.
    words_only = get_setting(connection, "context_line") == "words"
    return [
        PendingText(
            id_, content_hash, uri, passage_text("" if words_only else context, preamble, text)
        )
        for id_, content_hash, uri, context, preamble, text in rows
    ]


def stage_vectors(connection: apsw.Connection, vectors: Mapping[str, NDArray[np.float32]]) -> None:
    """Keep unit vectors of the other model by the hash of their text.

    Raises:
        ValueError: a vector is not finite or not of length one.
    """
    require_unit(np.stack(list(vectors.values())))
    form, _ = stored_form(connection)
    connection.executemany(
        "INSERT OR REPLACE INTO reembedded(content_hash, embedding) VALUES(?, ?)",
        [(content_hash, form.pack(vector).tobytes()) for content_hash, vector in vectors.items()],
    )


def exchange(connection: apsw.Connection, dimensions: int) -> bool:
    """Put the gathered vectors in the place of the old ones, and tell whether that was possible.

    It is not while a chunk lacks its vector; then nothing has changed.
    """
    lacking = connection.execute(
        "SELECT EXISTS (SELECT 1 FROM chunks "
        "WHERE content_hash NOT IN (SELECT content_hash FROM reembedded))"
    ).get
    if lacking:
        return False
    form, _ = stored_form(connection)
    connection.execute("DROP TABLE chunk_vectors")
    connection.execute(vectors_table(dimensions, form.column))
    connection.execute(
        "INSERT INTO chunk_vectors(chunk_id, embedding) "  # noqa: S608 - a constant
        f"SELECT c.id, {form.constructor}(r.embedding) "
        "FROM chunks AS c JOIN reembedded AS r ON r.content_hash = c.content_hash"
    )
    discard(connection)
    return True


def discard(connection: apsw.Connection) -> None:
    """Drop what was gathered."""
    connection.execute("DROP TABLE IF EXISTS reembedded")
    delete_setting(connection, SETTING)
