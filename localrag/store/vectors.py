"""The embeddings: a vec0 table, searched exactly."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

import numpy as np

from localrag.errors import RemoteError
from localrag.records import Candidate
from localrag.store.schema import vectors_table
from localrag.store.vector_forms import FORMS, stored_form

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import apsw
    from numpy.typing import NDArray

    from localrag.config import VectorForm
    from localrag.records import Allowed

__all__ = [
    "create_vectors",
    "delete_vectors",
    "insert_vectors",
    "ranked",
    "require_dimensions",
    "require_unit",
    "search_vectors",
    "vector_dimensions",
    "vectors_by_hash",
    "vectors_of",
]

MAX_K: Final = 4_096
"""vec0 refuses a larger k: then its rows are compared one by one."""


def create_vectors(
    connection: apsw.Connection, dimensions: int, form: VectorForm = "float32"
) -> None:
    """Create the table, unless it is there."""
    connection.execute(vectors_table(dimensions, FORMS[form].column))


def vector_dimensions(connection: apsw.Connection) -> int:
    """Return the length of the file's vectors."""
    return stored_form(connection)[1]


def require_dimensions(connection: apsw.Connection, dimensions: int) -> None:
    """Check that a model's vectors are as long as the file's.

    A local model's always are, or its fingerprint would differ. A server may run another one today.

    Raises:
        RemoteError: they are not.
    """
    stored = vector_dimensions(connection)
    if dimensions != stored:
        raise RemoteError(
            f"The model returns {dimensions} dimensions and the file's vectors have {stored}: the "
            "server now runs another model under that name. Let it run the former one, or make "
            "the vectors anew: localrag reembed --model NAME"
        )


def insert_vectors(
    connection: apsw.Connection, ids: Sequence[int], vectors: NDArray[np.float32]
) -> None:
    """Store one unit vector per chunk, shape (ids, dimensions).

    Raises:
        ValueError: a vector is not finite or not of length one; vec0 would take it and every
            later search would be wrong.
    """
    if len(ids):
        require_unit(vectors)
    form, _ = stored_form(connection)
    connection.executemany(
        f"INSERT INTO chunk_vectors(chunk_id, embedding) VALUES(?, {form.constructor}(?))",
        [(id_, packed.tobytes()) for id_, packed in zip(ids, form.pack(vectors), strict=True)],
    )


def require_unit(vectors: NDArray[np.float32]) -> None:
    """Raise ValueError unless all rows, shape (n, dimensions), are finite and of length one."""
    if not np.allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-3):
        raise ValueError("Vectors must be finite and of length one.")


def delete_vectors(connection: apsw.Connection, ids: Iterable[int]) -> None:
    """Take chunks out of the table."""
    connection.executemany("DELETE FROM chunk_vectors WHERE chunk_id = ?", [(id_,) for id_ in ids])


def vectors_by_hash(
    connection: apsw.Connection, hashes: Iterable[str]
) -> dict[str, NDArray[np.float32]]:
    """Return the stored vectors of texts that were embedded before, by their content hash."""
    rows = connection.execute(
        "SELECT c.content_hash, min(c.id) FROM chunks AS c "
        "WHERE c.content_hash IN (SELECT value FROM json_each(?)) GROUP BY c.content_hash",
        (json.dumps(list(hashes)),),
    ).fetchall()
    ids = {str(content_hash): int(str(id_)) for content_hash, id_ in rows}
    vectors = vectors_of(connection, ids.values())
    return {key: vectors[id_] for key, id_ in ids.items() if id_ in vectors}


def vectors_of(connection: apsw.Connection, ids: Iterable[int]) -> dict[int, NDArray[np.float32]]:
    """Return the stored vectors of chunks, of length one; one that is gone is left out."""
    form, _ = stored_form(connection)
    found = {}
    for id_ in ids:
        vector = connection.execute(
            "SELECT embedding FROM chunk_vectors WHERE chunk_id = ?", (id_,)
        ).get
        if vector is not None:
            found[id_] = form.unit(bytes(vector))
    return found


def search_vectors(
    connection: apsw.Connection,
    vector: NDArray[np.float32],
    k: int,
    allowed: Allowed | None = None,
) -> tuple[Candidate, ...]:
    """Return the `k` nearest allowed chunks to a unit vector, exactly; the score is the cosine.

    Where vectors are kept as bytes, so is the query's: vec0 compares vectors of one type only. Of
    chunks at the same distance the lower id is first.
    """
    form, _ = stored_form(connection)
    packed = form.pack(vector).tobytes()
    if k < MAX_K:
        found = _nearest(connection, packed, k + 1, allowed, NEAREST.format(form.constructor))
        # Of several at the same distance vec0 keeps any: what is cut off must be farther.
        if len(found) <= k or found[k - 1][0] < found[k][0]:
            return ranked(found[:k])
    return ranked(_nearest(connection, packed, k, allowed, EVERY.format(form.constructor)))


NEAREST: Final = (
    "SELECT distance, chunk_id FROM chunk_vectors WHERE embedding MATCH {}(:vector) AND k = :k"
)
EVERY: Final = (
    "SELECT vec_distance_cosine(embedding, {}(:vector)) AS distance, chunk_id "
    "FROM chunk_vectors WHERE TRUE"
)


def _nearest(
    connection: apsw.Connection,
    packed: bytes,
    k: int,
    allowed: Allowed | None,
    select: str,
) -> list[tuple[float, int]]:
    """Return distances and ids of the nearest allowed chunks, of equals the lower id first."""
    # vec0 looks at the listed rows only. A condition outside, or a join, would leave out what it
    # found: fewer than k, or nothing. It refuses to order by more than the distance, so that ties
    # are broken outside.
    within = "" if allowed is None else "AND chunk_id IN (SELECT value FROM json_each(:ids))"
    rows = connection.execute(
        f"WITH nearest AS MATERIALIZED ({select} {within}) "  # noqa: S608 - constants
        "SELECT distance, chunk_id FROM nearest ORDER BY distance, chunk_id LIMIT :k",
        {"vector": packed, "k": k, "ids": allowed.ids if allowed else None},
    )
    return [(float(str(distance)), int(str(id_))) for distance, id_ in rows]


def ranked(found: Iterable[tuple[float, int]]) -> tuple[Candidate, ...]:
    """Return cosine distances and chunk ids, nearest first, as candidates."""
    return tuple(
        Candidate(id_, 1.0 - distance, rank) for rank, (distance, id_) in enumerate(found, start=1)
    )
