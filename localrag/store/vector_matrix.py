"""All vectors of a file in memory, coded: finds the few rows among which the nearest are."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Final

import numpy as np

from localrag.store.vector_blocks import agrees, read_block, read_layout
from localrag.store.vector_codes import Codes, Query, encode, hamming, similarities, thresholds
from localrag.store.vector_forms import stored_form

if TYPE_CHECKING:
    from collections.abc import Callable

    import apsw
    from numpy.typing import NDArray

    from localrag.store.vector_blocks import Layout, Stamp
    from localrag.store.vector_forms import Form

__all__ = ["Matrix", "build"]

BITS_FROM: Final = 50_000
"""Rows from which bits choose whose bytes are looked at."""
BYTES_PIECE: Final = 8_192
"""Rows whose bytes a thread compares at a time: about a millisecond."""
BITS_PIECE: Final = 131_072
"""Rows whose bits it compares: as long."""
PROBES: Final = 4
"""Rows per wanted one that tell how near the wanted ones are."""
CENTRE_BLOCKS: Final = 16
"""Blocks whose mean is the centre; any centre is right, a good one is faster."""


class Matrix:
    """The coded rows of one state of the file. Not safe for threads: its owner holds a lock."""

    def __init__(
        self, stamp: Stamp, layout: Layout, codes: Codes, centre: NDArray[np.float32], form: Form
    ) -> None:
        self.stamp = stamp
        self.layout = layout
        self.codes = codes
        self.centre = centre
        self.form = form
        self._by_id: NDArray[np.intp] | None = None
        self._pool = ThreadPoolExecutor(os.cpu_count() or 1, "localrag-scan")

    def close(self) -> None:
        """End the threads."""
        self._pool.shutdown()

    @property
    def bytes(self) -> int:
        """Memory that it holds."""
        order = 0 if self._by_id is None else self._by_id.nbytes
        return self.codes.bytes + self.layout.ids.nbytes + order

    def slots_of(self, ids: NDArray[np.int64]) -> NDArray[np.intp]:
        """Return the slots of those of these chunks that have a vector."""
        if self._by_id is None:
            self._by_id = np.argsort(self.layout.ids, kind="stable")
        ordered = self._by_id
        places = np.searchsorted(self.layout.ids, ids, sorter=ordered)
        slots = ordered[np.minimum(places, len(ordered) - 1)]
        return np.asarray(slots[self.layout.ids[slots] == ids])

    def nearest(
        self, vector: NDArray[np.float32], k: int, ids: NDArray[np.int64] | None
    ) -> tuple[NDArray[np.intp], bool]:
        """Return ascending slots that hold the `k` nearest rows, and whether that is proven.

        A row is left out if, at the best that its bytes allow, it is farther than `k` others at
        their worst. From `BITS_FROM` rows on, only rows are looked at whose bits make it likely
        that they are near enough; then it is not proven.
        """
        mask = self.layout.ids >= 0
        if ids is not None:
            allowed = np.zeros(len(mask), np.bool_)
            allowed[self.slots_of(ids)] = True
            mask &= allowed
        rows = np.flatnonzero(mask)
        if len(rows) <= k:
            return rows, True
        query = Query.of(vector, self.centre)
        likely = self._likely(query, k, mask) if len(rows) >= BITS_FROM else rows
        return self._possible(query, k, likely), len(likely) == len(rows)

    def _likely(self, query: Query, k: int, mask: NDArray[np.bool_]) -> NDArray[np.intp]:
        """Return the rows whose bits do not speak against their being among the `k` nearest."""
        different = np.empty(len(mask), np.uint16)
        self._each(
            len(mask), BITS_PIECE, lambda part: hamming(self.codes, query, different[part], part)
        )
        farthest = 64 * len(query.words) + 1
        different[~mask] = farthest
        counts = np.cumsum(np.bincount(different, minlength=farthest + 1))
        limit = np.searchsorted(counts, min(PROBES * k, int(counts[farthest - 1])))
        lowest, _ = self._bounds(query, k, np.flatnonzero(different <= limit))
        near = np.empty(len(mask), np.bool_)

        def compare(part: slice) -> None:
            allowed = thresholds(self.codes, query, lowest, part)
            np.less_equal(different[part], allowed, out=near[part])

        self._each(len(mask), BITS_PIECE, compare)
        return np.flatnonzero(near & mask)

    def _possible(self, query: Query, k: int, rows: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return those of `rows` whose bytes allow that they are among the `k` nearest of them."""
        lowest, best = self._bounds(query, k, rows)
        return rows[best >= lowest]

    def _bounds(
        self, query: Query, k: int, rows: NDArray[np.intp]
    ) -> tuple[float, NDArray[np.float32]]:
        """Return the cosine that `k` of `rows` surely reach, and the best that each may have."""
        found = np.empty(len(rows), np.float32)
        whole = len(rows) == len(self.layout.ids)

        def compare(part: slice) -> None:
            similarities(self.codes, query, found[part], part if whole else rows[part])

        self._each(len(rows), BYTES_PIECE, compare)
        error = self.codes.error if whole else self.codes.error[rows]
        worst = found - error
        lowest = float(np.partition(worst, len(rows) - k)[len(rows) - k])
        found += error
        return lowest, found

    def _each(self, rows: int, piece: int, work: Callable[[slice], None]) -> None:
        """Do `work` on all rows, piece by piece, on all cores if that is worth it."""
        pieces = [slice(first, min(first + piece, rows)) for first in range(0, rows, piece)]
        if len(pieces) == 1:
            work(pieces[0])
        else:
            list(self._pool.map(work, pieces))

    def patch(self, connection: apsw.Connection, stamp: Stamp) -> bool:
        """Bring the matrix to a later state of the same table; tell whether that was possible."""
        layout = read_layout(connection)
        before = self.layout
        if layout is None or layout.blocks[: len(before.blocks)] != before.blocks:
            return False
        known = np.full(len(layout.ids), -1, np.int64)
        known[: len(before.ids)] = before.ids
        if len(known) > len(self.codes.scale):
            self.codes = _grown(self.codes, len(known))
        changed = np.flatnonzero((layout.ids != known) & (layout.ids >= 0))
        for place in np.unique(changed // layout.size).tolist():
            own = changed[changed // layout.size == place]
            block = read_block(connection, layout.blocks[place], layout.size, self.form)
            self.codes.put(own, encode(block[own - place * layout.size], self.centre))
        self.stamp, self.layout, self._by_id = stamp, layout, None
        return True


def build(connection: apsw.Connection, stamp: Stamp, stopped: Callable[[], bool]) -> Matrix | None:
    """Return the matrix of the snapshot that `connection` reads.

    None if vec0's tables are not laid out as they are known, or when `stopped` says so.
    """
    layout = read_layout(connection)
    form, dimensions = stored_form(connection)
    row_bytes = dimensions * form.component_bytes
    if layout is None or not agrees(connection, layout, stamp.rows, row_bytes):
        return None
    centre = _centre(connection, layout, form)
    codes = Codes.empty(len(layout.ids), dimensions)
    for place, block in enumerate(layout.blocks):
        if stopped():
            return None
        first = place * layout.size
        taken = np.flatnonzero(layout.ids[first : first + layout.size] >= 0)
        vectors = read_block(connection, block, layout.size, form)[taken]
        codes.put(first + taken, encode(vectors, centre))
    return Matrix(stamp, layout, codes, centre, form)


def _centre(connection: apsw.Connection, layout: Layout, form: Form) -> NDArray[np.float32]:
    """Return the mean of the unit vectors of some blocks."""
    step = -(-len(layout.blocks) // CENTRE_BLOCKS)
    means = []
    for place in range(0, len(layout.blocks), step):
        own = layout.ids[place * layout.size : (place + 1) * layout.size] >= 0
        if own.any():
            block = read_block(connection, layout.blocks[place], layout.size, form)[own]
            means.append((block / np.linalg.norm(block, axis=1, keepdims=True)).mean(axis=0))
    return np.asarray(np.mean(means, axis=0), np.float32)


def _grown(codes: Codes, rows: int) -> Codes:
    """Return the codes with room for `rows`."""
    before = len(codes.scale)
    larger = Codes.empty(rows, codes.levels.shape[1])
    larger.put(slice(0, before), codes)
    return larger
