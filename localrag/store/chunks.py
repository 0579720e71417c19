"""Chunks and sections: rows in, rows out, linked to their neighbours."""

from __future__ import annotations

import json
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING

from localrag.records import ChunkSize, StoredChunk

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import apsw

    from localrag.records import Chunk, Section

__all__ = [
    "ChunkPlace",
    "chunk_hash",
    "chunk_ids_of",
    "chunk_sizes",
    "count_chunks",
    "fetch_chunks",
    "fetch_range",
    "insert_chunks",
    "insert_sections",
    "places_of",
    "update_contexts",
]

COLUMNS = (
    "c.id, c.document_id, d.uri, d.title, c.ordinal, c.kind, c.text, c.preamble, c.context, "
    'c.headings, c.start, c."end", c.page, c.lines, c.tokens, c.section_id, '
    "c.previous_id, c.next_id"
)
FROM = "FROM chunks AS c JOIN documents AS d ON d.id = c.document_id"


@dataclass(frozen=True, slots=True)
class ChunkPlace:
    """Where a chunk stands."""

    document_id: int
    section_id: int
    ordinal: int


def chunk_hash(chunk: Chunk) -> str:
    """Return the SHA-256, in hexadecimal, of what is embedded: equal text, equal vector."""
    context = chunk.context if chunk.embeds_context else ""
    embedded = f"{context}\x00{chunk.preamble}\x00{chunk.text}"
    return sha256(embedded.encode("utf-8", "surrogatepass")).hexdigest()


def insert_sections(
    connection: apsw.Connection, document_id: int, sections: Sequence[Section]
) -> list[int]:
    """Insert a document's section tree and return the ids in its order."""
    ids: list[int] = []
    for section in sections:
        connection.execute(
            "INSERT INTO sections(document_id, parent_id, level, heading, first_chunk, last_chunk) "
            "VALUES(?, ?, ?, ?, ?, ?)",
            (
                document_id,
                None if section.parent is None else ids[section.parent],
                section.level,
                section.heading,
                section.first_chunk,
                section.last_chunk,
            ),
        )
        ids.append(connection.last_insert_rowid())
    return ids


def insert_chunks(
    connection: apsw.Connection,
    document_id: int,
    section_ids: Sequence[int],
    chunks: Sequence[Chunk],
) -> list[int]:
    """Insert a document's chunks, linked in their order, and return their ids."""
    # Ids are given out here so that both links of a chunk can be written with it. An id is never
    # used twice (AUTOINCREMENT): an old trace must not show the text of a newer chunk.
    last = connection.execute("SELECT seq FROM sqlite_sequence WHERE name = 'chunks'").get
    first = 1 + int(last or 0)
    ids = list(range(first, first + len(chunks)))
    previous = [None, *ids[:-1]]
    following = [*ids[1:], None]
    connection.executemany(
        "INSERT INTO chunks(id, document_id, section_id, ordinal, kind, text, preamble, context, "
        'headings, start, "end", page, lines, tokens, content_hash, previous_id, next_id) '
        "VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [
            (
                ids[index],
                document_id,
                section_ids[chunk.section],
                chunk.ordinal,
                chunk.kind,
                chunk.text,
                chunk.preamble,
                chunk.context,
                json.dumps(chunk.headings, ensure_ascii=False),
                chunk.start,
                chunk.end,
                chunk.page,
                json.dumps(chunk.lines),
                chunk.tokens,
                chunk_hash(chunk),
                previous[index],
                following[index],
            )
            for index, chunk in enumerate(chunks)
        ],
    )
    return ids


def update_contexts(connection: apsw.Connection, contexts: Iterable[tuple[int, str, int]]) -> None:
    """Set context and tokens of chunks: (id, context, tokens).

    The content hash stays: it names what was embedded, and the vectors stay too.
    """
    connection.executemany(
        "UPDATE chunks SET context = ?2, tokens = ?3 WHERE id = ?1", list(contexts)
    )


def fetch_chunks(connection: apsw.Connection, ids: Iterable[int]) -> dict[int, StoredChunk]:
    """Return the chunks with these ids; an id that is gone is left out."""
    rows = connection.execute(
        f"SELECT {COLUMNS} {FROM} WHERE c.id IN (SELECT value FROM json_each(?))",  # noqa: S608 - constants
        (json.dumps(list(ids)),),
    )
    return {row[0]: _stored(row) for row in rows}


def fetch_range(
    connection: apsw.Connection, document_id: int, first: int, last: int
) -> list[StoredChunk]:
    """Return a document's chunks from ordinal `first` to `last`, both inclusive, in order."""
    rows = connection.execute(
        f"SELECT {COLUMNS} {FROM} WHERE c.document_id = ? AND c.ordinal BETWEEN ? AND ? "
        "ORDER BY c.ordinal",
        (document_id, first, last),
    )
    return [_stored(row) for row in rows]


def places_of(connection: apsw.Connection, ids: Iterable[int]) -> dict[int, ChunkPlace]:
    """Return where the chunks with these ids stand; an id that is gone is left out."""
    rows = connection.execute(
        "SELECT id, document_id, section_id, ordinal FROM chunks "
        "WHERE id IN (SELECT value FROM json_each(?))",
        (json.dumps(list(ids)),),
    )
    return {int(id_): ChunkPlace(*place) for id_, *place in rows}


def chunk_ids_of(connection: apsw.Connection, document_id: int) -> list[int]:
    """Return the ids of a document's chunks."""
    rows = connection.execute("SELECT id FROM chunks WHERE document_id = ?", (document_id,))
    return [int(row[0]) for row in rows]


def chunk_sizes(connection: apsw.Connection, beginning: int = 200) -> Iterator[ChunkSize]:
    """Yield the size and the first characters of every chunk, document by document, in order."""
    rows = connection.execute(
        'SELECT d.uri, c.ordinal, c.kind, substr(c.text, 1, ?), c.tokens, c.start, c."end", '
        f"length(c.context), c.preamble != '' {FROM} ORDER BY d.uri, c.ordinal",
        (beginning,),
    )
    for document, ordinal, kind, text, tokens, start, end, context, has_preamble in rows:
        yield ChunkSize(
            document=str(document),
            ordinal=int(ordinal),
            kind=str(kind),
            text=str(text),
            tokens=int(tokens),
            start=int(start),
            end=int(end),
            context_characters=int(context),
            has_preamble=bool(has_preamble),
        )


def count_chunks(connection: apsw.Connection) -> int:
    """Return the number of chunks in the file."""
    return int(connection.execute("SELECT count(*) FROM chunks").get)


def _stored(row: Sequence[object]) -> StoredChunk:
    values = list(row)
    values[9] = tuple(json.loads(str(values[9])))
    values[13] = tuple((position, line) for position, line in json.loads(str(values[13])))
    return StoredChunk(*values)  # type: ignore[arg-type]  # the columns above, in the fields' order
