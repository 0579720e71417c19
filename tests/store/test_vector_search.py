"""The matrix gives what vec0 gives, to the bit, whatever happens to the file between searches."""

from __future__ import annotations

import json
import threading
from typing import TYPE_CHECKING

import apsw
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from localrag.records import Allowed
from localrag.store import vector_matrix, vector_search
from localrag.store.compact import rebuild_vectors
from localrag.store.database import Database
from localrag.store.vector_blocks import read_layout, read_stamp
from localrag.store.vector_codes import Codes, bytes_per_row, encode
from localrag.store.vector_forms import FORMS, stored_form
from localrag.store.vector_matrix import build
from localrag.store.vector_search import VectorSearch
from localrag.store.vectors import (
    MAX_K,
    create_vectors,
    delete_vectors,
    insert_vectors,
    search_vectors,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from localrag.config import VectorForm
    from localrag.inference.protocols import FloatArray
    from localrag.records import Candidate

DIMENSIONS = 96
ROWS = 3_000


def clustered(seed: int, rows: int) -> FloatArray:
    """Return unit vectors around 20 centres, which are the same for every seed."""
    centres = np.random.default_rng(0).standard_normal((20, DIMENSIONS))
    random = np.random.default_rng(seed)
    vectors = centres[random.integers(20, size=rows)] + 0.7 * random.standard_normal(
        (rows, DIMENSIONS)
    )
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), np.float32)


def nearly_equal(seed: int, rows: int) -> FloatArray:
    """Return unit vectors of which many are one, or differ from it in the last bits."""
    random = np.random.default_rng(seed)
    vectors = np.tile(clustered(seed, 10), (rows // 10 + 1, 1))[:rows].astype(np.float64)
    vectors += random.choice([0, 1e-7, 1e-6, 1e-4], (rows, 1)) * random.standard_normal(
        vectors.shape
    )
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), np.float32)


def put(database: Database, first: int, vectors: FloatArray, form: VectorForm = "float32") -> None:
    with database.atomic() as connection:
        create_vectors(connection, vectors.shape[1], form)
        insert_vectors(connection, range(first, first + len(vectors)), vectors)


def opened(path: Path, vectors: FloatArray, form: VectorForm = "float32") -> Database:
    database = Database(path / "base.db")
    put(database, 1, vectors, form)
    return database


def warm(database: Database, **limits: int) -> VectorSearch:
    """Return a search whose matrix is there."""
    search = VectorSearch(database, **{"matrix_from": 1, "memory_bytes": 10**9} | limits)
    vector = clustered(9, 1)[0]
    for _ in range(2):
        search.search(database.connection, vector, 5)
    search.wait()
    return search


def allow(ids: list[int]) -> Allowed:
    return Allowed(1, len(ids), json.dumps(sorted(ids)))


def by_matrix(
    search: VectorSearch, vector: FloatArray, k: int, allowed: Allowed | None = None
) -> tuple[Candidate, ...]:
    """Return what is found by the matrix; fails if vec0 was asked."""
    found = search.search(search.database.connection, vector, k, allowed)
    assert found.plan.startswith("matrix"), found.plan
    return found.candidates


def same_as_vec0(
    search: VectorSearch, vector: FloatArray, k: int, allowed: Allowed | None = None
) -> None:
    """Check ids, order and scores against every allowed row, compared by vec0's arithmetic."""
    connection = search.database.connection
    form, _ = stored_form(connection)
    rows: list[tuple[float, int]] = [
        (float(str(distance)), int(str(id_)))
        for distance, id_ in connection.execute(
            f"SELECT vec_distance_cosine(embedding, {form.constructor}(?)), chunk_id "  # noqa: S608
            "FROM chunk_vectors",
            (form.pack(vector).tobytes(),),
        )
    ]
    ids = None if allowed is None else set(json.loads(allowed.ids))
    brute = sorted(row for row in rows if ids is None or row[1] in ids)[:k]
    found = search.search(connection, vector, k, allowed).candidates
    assert [(one.score, one.chunk_id) for one in found] == [
        (1 - distance, id_) for distance, id_ in brute
    ]
    assert [one.rank for one in found] == list(range(1, len(brute) + 1))


@pytest.fixture(
    scope="module",
    params=[(make, form) for make in ("clustered", "nearly equal") for form in FORMS],
    ids=str,
)
def search(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[VectorSearch]:
    name, form = request.param
    make = clustered if name == "clustered" else nearly_equal
    database = opened(tmp_path_factory.mktemp("vectors"), make(1, ROWS), form)
    found = warm(database)
    yield found
    found.close()
    database.close()


@pytest.mark.parametrize("bits", [False, True])
@pytest.mark.parametrize("share", [0.001, 0.01, 0.5, 1.0, None])
@settings(max_examples=12)
@given(seed=st.integers(0, 10_000), k=st.sampled_from([1, 10, 50]))
def test_equal_to_brute_force_at_every_share(
    search: VectorSearch, share: float | None, seed: int, k: int, *, bits: bool
) -> None:
    random = np.random.default_rng(seed)
    wanted = None
    if share is not None:
        ids = random.choice(ROWS, max(1, round(ROWS * share)), replace=False) + 1
        wanted = allow(ids.tolist())
    vector = clustered(seed, 1)[0]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(vector_matrix, "BITS_PIECE", 1_000)  # several threads
        patch.setattr(vector_matrix, "BYTES_PIECE", 1_000)
        # By bits it is a matter of luck, which these sizes and distances leave nothing to.
        patch.setattr(vector_matrix, "BITS_FROM", 1_000 if bits else 10**9)
        same_as_vec0(search, vector, k, wanted)


def test_bits_leave_most_rows_out_and_find_the_nearest(
    search: VectorSearch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vector_matrix, "BITS_FROM", 1)
    vector = clustered(1, 1)[0]
    found = search.search(search.database.connection, vector, 5)
    assert found.plan.endswith("chosen by bits")
    assert found.candidates == search_vectors(search.database.connection, vector, 5)


def test_of_equals_the_lower_ids_are_kept_by_either_plan(tmp_path: Path) -> None:
    database = opened(tmp_path, np.tile(clustered(1, 1), (500, 1)))
    search = warm(database)
    vector = clustered(2, 1)[0]
    direct = search_vectors(database.connection, vector, 5)
    assert [one.chunk_id for one in direct] == [1, 2, 3, 4, 5]
    assert by_matrix(search, vector, 5) == direct
    wanted = allow([7, 300, 400])
    assert [one.chunk_id for one in by_matrix(search, vector, 2, wanted)] == [7, 300]
    assert [one.chunk_id for one in search_vectors(database.connection, vector, 2, wanted)] == [
        7,
        300,
    ]
    search.close()
    database.close()


def test_error_bounds_hold() -> None:
    vectors = clustered(3, 400)
    query = clustered(4, 1)[0]
    centre = vectors.mean(axis=0)
    codes = encode(vectors, centre)
    estimate = codes.levels.astype(np.float64) @ query * codes.scale + centre @ query
    off = np.abs(estimate - vectors.astype(np.float64) @ query)
    assert np.all(off <= codes.error)
    assert off.max() > 0
    assert codes.error.max() < 0.01
    assert codes.bytes == 400 * bytes_per_row(DIMENSIONS)


def test_a_row_at_the_centre_is_coded_without_a_division_by_zero() -> None:
    vector = np.eye(1, DIMENSIONS, dtype=np.float32)
    codes = encode(vector, vector[0])
    assert codes.scale == 1
    assert not codes.levels.any()
    assert np.isfinite(codes.error).all()


def test_plans(tmp_path: Path) -> None:
    database = opened(tmp_path, clustered(1, 200))
    connection, vector = database.connection, clustered(2, 1)[0]
    small = VectorSearch(database, matrix_from=201, memory_bytes=10**9)
    assert small.search(connection, vector, 3).plan == "vec0, 200 vectors"
    assert small.bytes_needed(connection) == 0
    needed = 200 * bytes_per_row(DIMENSIONS)
    large = VectorSearch(database, matrix_from=1, memory_bytes=needed - 1)
    assert "vector_memory_bytes" in large.search(connection, vector, 3).plan
    assert large.bytes_needed(connection) == 0
    search = VectorSearch(database, matrix_from=200, memory_bytes=needed)
    assert search.bytes_needed(connection) == needed
    assert search.search(connection, vector, 3).plan == "vec0: no matrix yet"
    search.wait()
    assert search.bytes == 0  # a command that asks once makes none
    search.search(connection, vector, 3)
    search.wait()
    assert search.bytes >= needed
    plan = search.search(connection, vector, 3).plan
    assert plan.startswith("matrix, ")
    assert plan.endswith(" of 200 vectors read, exact")
    search.close()
    assert search.bytes == 0
    database.close()


def test_more_than_vec0_allows(tmp_path: Path) -> None:
    database = opened(tmp_path, clustered(1, MAX_K + 100))
    vector = clustered(2, 1)[0]
    direct = search_vectors(database.connection, vector, MAX_K + 50)
    assert len(direct) == MAX_K + 50
    assert [one.score for one in direct] == sorted((one.score for one in direct), reverse=True)
    search = warm(database)
    assert by_matrix(search, vector, MAX_K + 200)[: MAX_K + 50] == direct
    few = allow([5, 7])
    assert {one.chunk_id for one in search_vectors(database.connection, vector, 5_000, few)} == {
        5,
        7,
    }
    search.close()
    database.close()


def test_one_row_and_none(tmp_path: Path) -> None:
    database = Database(tmp_path / "base.db")
    search = VectorSearch(database, matrix_from=1, memory_bytes=10**9)
    assert read_stamp(database.connection).rows == 0
    put(database, 1, clustered(1, 1))
    search = warm(database)
    assert [one.chunk_id for one in by_matrix(search, clustered(2, 1)[0], 5)] == [1]
    assert by_matrix(search, clustered(2, 1)[0], 5, allow([])) == ()
    assert by_matrix(search, clustered(2, 1)[0], 5, allow([9])) == ()
    with database.atomic() as connection:
        delete_vectors(connection, [1])
    assert search.search(database.connection, clustered(2, 1)[0], 5).candidates == ()
    search.close()
    database.close()


def test_writes_of_this_and_of_other_connections_are_seen_at_once(tmp_path: Path) -> None:
    database = opened(tmp_path, clustered(1, 2_000))
    other = Database(tmp_path / "base.db")
    search = warm(database)
    vector = clustered(2, 1)[0]
    for round_ in range(4):
        writer = (database, other)[round_ % 2]
        first = 3_000 * (round_ + 1)
        put(writer, first, clustered(50 + round_, 700))
        same_as_vec0(search, vector, 30)
        with writer.atomic() as connection:
            best = [one.chunk_id for one in search_vectors(connection, vector, 20)]
            delete_vectors(connection, best)
        assert not set(best) & {one.chunk_id for one in by_matrix(search, vector, 30)}
        same_as_vec0(search, vector, 30)
        same_as_vec0(search, vector, 30, allow([*range(1, 100), *range(first, first + 300)]))
    search.close()
    other.close()
    database.close()


def test_many_changes_make_it_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vector_search, "PATCHED", 100)
    database = opened(tmp_path, clustered(1, 500))
    search = warm(database)
    put(database, 1_000, clustered(2, 300))
    vector = clustered(3, 1)[0]
    found = search.search(database.connection, vector, 20)
    assert found.plan == "vec0: no matrix yet"
    assert found.candidates == search_vectors(database.connection, vector, 20)
    search.wait()
    assert by_matrix(search, vector, 20) == found.candidates
    search.close()
    database.close()


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("dimensions", [DIMENSIONS, 64])
def test_exchanged_vectors(tmp_path: Path, dimensions: int, form: VectorForm) -> None:
    database = opened(tmp_path, clustered(1, 500), "int8")
    search = warm(database)
    other = clustered(7, 500)[:, :dimensions]
    other = np.asarray(other / np.linalg.norm(other, axis=1, keepdims=True), np.float32)
    with database.atomic() as connection:
        connection.execute("DROP TABLE chunk_vectors")
        create_vectors(connection, dimensions, form)
        insert_vectors(connection, range(1, 501), other)
    same_as_vec0(search, other[3], 10)
    search.wait()
    assert by_matrix(search, other[3], 1)[0].chunk_id == 4
    same_as_vec0(search, other[3], 10)
    with database.atomic() as connection:
        delete_vectors(connection, range(1, 50))
        rebuild_vectors(connection)
    same_as_vec0(search, other[100], 10)
    search.wait()
    assert by_matrix(search, other[100], 1)[0].chunk_id == 101
    search.close()
    database.close()


def test_an_older_snapshot_does_not_see_newer_rows(tmp_path: Path) -> None:
    database = opened(tmp_path, clustered(1, 300))
    other = Database(tmp_path / "base.db")
    search = warm(database)
    vector = clustered(2, 1)[0]
    old = other.connection
    with old:
        before = search_vectors(old, vector, 5)
        put(database, 1_000, np.tile(vector, (3, 1)))
        assert by_matrix(search, vector, 3)[0].chunk_id == 1_000
        found = search.search(old, vector, 5)
        assert found.plan == "vec0: no matrix yet"
        assert found.candidates == before
    assert by_matrix(search, vector, 3)[0].chunk_id == 1_000  # and the matrix stayed as it was
    search.close()
    other.close()
    database.close()


def test_readers_on_many_threads_while_one_writes(tmp_path: Path) -> None:
    database = opened(tmp_path, clustered(1, 1_500))
    search = warm(database)
    wrong: list[int] = []

    def read(seed: int) -> None:
        for step in range(15):
            vector = clustered(100 * seed + step, 1)[0]
            connection = database.connection
            with connection:
                found = search.search(connection, vector, 10).candidates
                if found != search_vectors(connection, vector, 10):
                    wrong.append(step)

    threads = [threading.Thread(target=read, args=(seed,)) for seed in range(3)]
    for thread in threads:
        thread.start()
    for step in range(10):
        put(database, 5_000 + 50 * step, clustered(step, 50))
    for thread in threads:
        thread.join()
    assert wrong == []
    search.close()
    database.close()


def test_tables_that_are_not_known_are_left_to_vec0(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = opened(tmp_path, clustered(1, 300))
    connection, vector = database.connection, clustered(2, 1)[0]
    monkeypatch.setattr(vector_matrix, "agrees", lambda *_: False)
    search = warm(database)
    assert search.search(connection, vector, 3).plan == "vec0: no matrix yet"
    builder = search._builder  # it must not be tried at every search
    search.search(connection, vector, 3)
    assert search._builder is builder
    search.close()
    monkeypatch.undo()
    connection.execute("UPDATE chunk_vectors_chunks SET rowids = x'00'")
    assert read_layout(connection) is None
    connection.execute("UPDATE chunk_vectors_chunks SET size = 7")
    assert build(connection, read_stamp(connection), lambda: False) is None
    connection.execute("DELETE FROM chunk_vectors_chunks")
    assert read_layout(connection) is None
    database.close()


def test_blocks_that_disagree_with_the_public_table_are_not_believed(tmp_path: Path) -> None:
    database = opened(tmp_path, clustered(1, 300))
    connection = database.connection
    stamp = read_stamp(connection)
    assert build(connection, stamp, lambda: False) is not None
    assert build(connection, stamp, lambda: True) is None
    connection.execute("UPDATE chunk_vectors_rowids SET chunk_offset = 1 WHERE rowid = 151")
    assert build(connection, stamp, lambda: False) is None
    connection.execute("DELETE FROM chunk_vectors_rowids WHERE rowid = 9")
    assert build(connection, read_stamp(connection), lambda: False) is None
    database.close()


def test_a_file_that_cannot_be_read_is_left_to_vec0(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> apsw.Connection:
        raise apsw.CantOpenError("gone")

    monkeypatch.setattr(vector_search, "connect", fail)
    database = opened(tmp_path, clustered(1, 50))
    search = warm(database)
    assert search.search(database.connection, clustered(2, 1)[0], 3).plan == "vec0: no matrix yet"
    search.close()
    database.close()


def test_codes_can_be_overwritten_row_by_row() -> None:
    vectors = clustered(1, 6)
    centre = np.zeros(DIMENSIONS, np.float32)
    codes = Codes.empty(6, DIMENSIONS)
    codes.put(np.array([4, 2]), encode(vectors[:2], centre))
    assert np.array_equal(codes.levels[4], encode(vectors, centre).levels[0])
    assert not codes.levels[0].any()
    assert np.array_equal(codes.planes[:, 2], encode(vectors, centre).planes[:, 1])
