"""What vec0 keeps in its shadow tables, read as it lies there: blocks of rows, each row a slot.

Reading a row by id through vec0 takes about as long as searching all of them, and a scan gives each
row as a Python object. Everything here is checked against the public table before it is believed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import apsw
    from numpy.typing import NDArray

    from localrag.store.vector_forms import Form

__all__ = ["Layout", "Stamp", "agrees", "distances", "read_block", "read_layout", "read_stamp"]

BLOCKS: Final = "chunk_vectors_vector_chunks00"


@dataclass(frozen=True, slots=True, order=True)
class Stamp:
    """Which state of the vectors a snapshot shows; a later state compares as greater.

    Ids are never used twice, so that an insert raises `sequence` and anything else that changes
    the rows takes some away. An exchange of the table (`reembed`, `compact`) changes the schema.
    """

    schema: int
    """SQLite's own count of changes of the schema."""
    sequence: int
    """The highest id that was ever inserted."""
    removed: int
    """Minus the number of rows."""

    @property
    def rows(self) -> int:
        """Vectors in the table."""
        return -self.removed


@dataclass(frozen=True, slots=True)
class Layout:
    """Where vec0 has put each row. A slot is a place in a block, counted through all blocks."""

    blocks: tuple[int, ...]
    """Row id of each block."""
    size: int
    """Slots of a block."""
    ids: NDArray[np.int64]
    """Chunk id by slot; -1 where a slot is free."""


def read_stamp(connection: apsw.Connection) -> Stamp:
    """Return the state of the vectors; all zero where there is no table of them."""
    schema = int(str(connection.pragma("schema_version")))
    if not connection.table_exists("main", "chunk_vectors_rowids"):
        return Stamp(schema, 0, 0)
    sequence, rows = connection.execute(
        "SELECT (SELECT seq FROM sqlite_sequence WHERE name = 'chunk_vectors_rowids'), "
        "(SELECT count(*) FROM chunk_vectors_rowids)"
    ).get
    return Stamp(schema, int(sequence or 0), -int(rows))


def read_layout(connection: apsw.Connection) -> Layout | None:
    """Return where each row is, or None if the tables are not what sqlite-vec 0.1 makes."""
    rows: list[Any] = connection.execute(
        "SELECT chunk_id, size, validity, rowids FROM chunk_vectors_chunks ORDER BY chunk_id"
    ).fetchall()
    sizes = {int(size) for _, size, _, _ in rows}
    if len(sizes) != 1:
        return None
    (size,) = sizes
    if any(len(valid) * 8 != size or len(ids) != size * 8 for _, _, valid, ids in rows):
        return None
    ids = np.frombuffer(b"".join(own for *_, own in rows), np.int64).copy()
    valid = np.frombuffer(b"".join(own for _, _, own, _ in rows), np.uint8)
    ids[np.unpackbits(valid, bitorder="little") == 0] = -1
    return Layout(tuple(int(block) for block, *_ in rows), size, ids)


def read_block(
    connection: apsw.Connection, block: int, size: int, form: Form
) -> NDArray[np.float32]:
    """Return all slots of a block, shape (size, dimensions); free ones hold anything.

    Rows kept as bytes are not of length one.
    """
    with connection.blob_open("main", BLOCKS, "vectors", block, False) as blob:
        content = bytearray(blob.length())
        blob.read_into(content)
    return form.unpack(content).reshape(size, -1)


def read_slots(
    connection: apsw.Connection, layout: Layout, slots: NDArray[np.intp], row_bytes: int
) -> Iterator[bytes]:
    """Yield the vectors of ascending slots as they are kept."""
    blob: apsw.Blob | None = None
    opened = -1
    try:
        for slot in slots.tolist():
            place, offset = divmod(slot, layout.size)
            if blob is None:
                blob = connection.blob_open("main", BLOCKS, "vectors", layout.blocks[place], False)
            elif place != opened:
                blob.reopen(layout.blocks[place])
            opened = place
            blob.seek(offset * row_bytes)
            yield blob.read(row_bytes)
    finally:
        if blob is not None:
            blob.close()


def distances(
    connection: apsw.Connection,
    layout: Layout,
    slots: NDArray[np.intp],
    vector: NDArray[np.float32],
    form: Form,
) -> list[float]:
    """Return the cosine distances of ascending slots, by vec0's own arithmetic."""
    query = form.pack(vector).tobytes()
    rows = read_slots(connection, layout, slots, len(query))
    return [
        float(distance)
        for (distance,) in connection.executemany(
            f"SELECT vec_distance_cosine({form.constructor}(?), {form.constructor}(?))",
            ((row, query) for row in rows),
        )
    ]


def agrees(connection: apsw.Connection, layout: Layout, rows: int, row_bytes: int) -> bool:
    """Tell whether the public table says the same of a few rows as the blocks do."""
    taken = np.flatnonzero(layout.ids >= 0)
    if len(taken) != rows:
        return False
    probes = taken[[0, len(taken) // 2, -1]]
    stored: Sequence[bytes] = list(read_slots(connection, layout, np.unique(probes), row_bytes))
    return all(
        connection.execute(
            "SELECT embedding FROM chunk_vectors WHERE chunk_id = ?", (int(layout.ids[slot]),)
        ).get
        == vector
        for slot, vector in zip(np.unique(probes), stored, strict=True)
    )
