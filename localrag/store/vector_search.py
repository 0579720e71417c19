"""Which way the nearest chunks are found: by vec0 itself, or by a matrix in memory before it.

vec0 reads all of its file for every query and needs nothing else: right for a command that asks
once, and for a small base. A process that goes on asking makes a `Matrix` of a large base, in the
background and from the second search on, and keeps it up to date.
"""

from __future__ import annotations

import json
import threading
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import apsw
import numpy as np

from localrag.errors import KnowledgeBaseError
from localrag.store.database import connect
from localrag.store.vector_blocks import distances, read_stamp
from localrag.store.vectors import ranked, search_vectors, vector_dimensions

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from localrag.records import Allowed, Candidate
    from localrag.store.database import Database
    from localrag.store.vector_blocks import Stamp
    from localrag.store.vector_matrix import Matrix

__all__ = ["Nearest", "VectorSearch"]

PATCHED: Final = 4_096
"""Rows that may have changed since the matrix was made, or it is made anew in the background."""


@dataclass(frozen=True, slots=True)
class Nearest:
    """The result of a search by meaning."""

    candidates: tuple[Candidate, ...]
    """Best first; of equals the lower id."""
    plan: str
    """How they were found, for the trace."""


class VectorSearch:
    """Finds the nearest chunks of one file, on any thread.

    Args:
        database: the file.
        matrix_from: vectors from which a matrix is made.
        memory_bytes: most memory that it may take; a base that needs more is left to vec0.
    """

    def __init__(self, database: Database, *, matrix_from: int, memory_bytes: int) -> None:
        self.database = database
        self.matrix_from = matrix_from
        self.memory_bytes = memory_bytes
        self._matrix: Matrix | None = None
        self._lock = threading.Lock()
        self._builder: threading.Thread | None = None
        self._stopped = threading.Event()
        self._searches = 0
        self._unfit: Stamp | None = None

    @property
    def bytes(self) -> int:
        """Memory that the matrix takes now; 0 without one."""
        with self._lock:
            return self._matrix.bytes if self._matrix else 0

    def bytes_needed(self, connection: apsw.Connection) -> int:
        """Return the memory that a matrix of the file takes; 0 if none is made of it."""
        rows = read_stamp(connection).rows
        needed = _matrix_bytes(rows, vector_dimensions(connection))
        return needed if self.matrix_from <= rows and needed <= self.memory_bytes else 0

    def close(self) -> None:
        """Release the memory."""
        self._stopped.set()
        self.wait()
        with self._lock:
            self._drop()

    def wait(self) -> None:
        """Return when no matrix is being made."""
        builder = self._builder
        if builder is not None:
            builder.join()

    def search(
        self,
        connection: apsw.Connection,
        vector: NDArray[np.float32],
        k: int,
        allowed: Allowed | None = None,
    ) -> Nearest:
        """Return the `k` nearest allowed chunks to a unit vector; the score is the cosine."""
        vector = vector.astype(np.float32)
        with connection:  # one snapshot for the state, the matrix and the rows
            plan, found = self._by_matrix(connection, vector, k, allowed)
            candidates = search_vectors(connection, vector, k, allowed) if found is None else found
        return Nearest(candidates, plan)

    def _by_matrix(
        self,
        connection: apsw.Connection,
        vector: NDArray[np.float32],
        k: int,
        allowed: Allowed | None,
    ) -> tuple[str, tuple[Candidate, ...] | None]:
        """Return how the search goes, and what it found unless it is vec0's."""
        stamp = read_stamp(connection)
        if stamp.rows < self.matrix_from:
            return f"vec0, {stamp.rows:,} vectors", None
        if _matrix_bytes(stamp.rows, len(vector)) > self.memory_bytes:
            return "vec0: the matrix would take more than vector_memory_bytes", None
        ids = None if allowed is None else np.array(json.loads(allowed.ids), np.int64)
        with self._lock:
            if not self._ready(connection, stamp, len(vector)):
                return "vec0: no matrix yet", None
            assert self._matrix is not None  # noqa: S101 - what being ready means
            layout, form = self._matrix.layout, self._matrix.form
            # Compared with what vec0 compares with, or it would find others.
            kept = form.pack(vector).astype(np.float32)
            slots, proven = self._matrix.nearest(kept, k, ids)
        pairs = zip(
            distances(connection, layout, slots, vector, form),
            layout.ids[slots].tolist(),
            strict=True,
        )
        best = sorted(pairs)[:k]
        how = "exact" if proven else "chosen by bits"
        return (
            f"matrix, {len(slots):,} of {stamp.rows:,} vectors read, {how}",
            ranked(best),
        )

    def _ready(self, connection: apsw.Connection, stamp: Stamp, dimensions: int) -> bool:
        """Tell whether the matrix shows this state, after bringing it there if that is quick."""
        matrix = self._matrix
        if matrix is not None:
            if matrix.stamp == stamp:
                return True
            if stamp < matrix.stamp:
                return False  # another thread has seen a later state than this snapshot shows
            if self._patch(connection, matrix, stamp):
                return True
            self._drop()
        self._searches += 1
        if self._searches > 1 and self._unfit != stamp and not self._building():
            self._builder = threading.Thread(
                target=self._build, args=(dimensions,), name="localrag-matrix", daemon=True
            )
            self._builder.start()
        return False

    def _patch(self, connection: apsw.Connection, matrix: Matrix, stamp: Stamp) -> bool:
        before = matrix.stamp
        few = max(stamp.sequence - before.sequence, abs(stamp.rows - before.rows)) <= PATCHED
        return stamp.schema == before.schema and few and matrix.patch(connection, stamp)

    def _building(self) -> bool:
        return self._builder is not None and self._builder.is_alive()

    def _build(self, dimensions: int) -> None:
        """Make the matrix of the file as it is now; called on a thread of its own."""
        from localrag.store.vector_matrix import build  # noqa: PLC0415 - not for one search

        stamp, matrix = None, None
        try:
            connecting = connect(self.database.path, read_only=self.database.read_only)
            with closing(connecting) as own, own:
                stamp = read_stamp(own)
                if vector_dimensions(own) == dimensions:
                    matrix = build(own, stamp, self._stopped.is_set)
        except (apsw.Error, KnowledgeBaseError, MemoryError):
            matrix = None  # vec0 goes on answering, and says itself what is wrong with the file
        with self._lock:
            if matrix is None:
                self._unfit = stamp
            else:
                self._matrix = matrix

    def _drop(self) -> None:
        if self._matrix is not None:
            self._matrix.close()
            self._matrix = None


def _matrix_bytes(rows: int, dimensions: int) -> int:
    from localrag.store.vector_codes import bytes_per_row  # noqa: PLC0415 - not for a small base

    return rows * bytes_per_row(dimensions)
