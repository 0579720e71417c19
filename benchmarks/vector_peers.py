"""The vector searches of other programs, given the same vectors; which are missing is said.

Each makes its index of vectors, shape (rows, dimensions), in a folder of its own, and returns a
function from a query to the ids of the nearest, best first; ids count from 1.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from localrag.store.database import Database
from localrag.store.vectors import create_vectors, insert_vectors, search_vectors

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from localrag.config import VectorForm

__all__ = ["PEERS", "Find", "fill", "start"]

Find = Callable[["NDArray[np.float32]"], Sequence[int]]
BATCH = 5_000


def start(name: str, vectors: NDArray[np.float32], k: int, folder: Path) -> Find | str:
    """Return the search of a peer, or why there is none."""
    try:
        return PEERS[name](vectors, k, folder)
    except ImportError:
        return "not installed"


def fill(path: Path, vectors: NDArray[np.float32], form: VectorForm) -> None:
    """Write the vectors into a new file; ids count from 1."""
    database = Database(path)
    for first in range(0, len(vectors), BATCH):
        part = vectors[first : first + BATCH]
        with database.atomic() as connection:
            create_vectors(connection, vectors.shape[1], form)
            insert_vectors(connection, range(first + 1, first + 1 + len(part)), part)
    database.close()


def numpy_product(vectors: NDArray[np.float32], k: int, folder: Path) -> Find:  # noqa: ARG001 - it is in memory
    """Return one product of all vectors and the query, in float32."""

    def find(query: NDArray[np.float32]) -> list[int]:
        cosines = vectors @ query
        best = np.argpartition(-cosines, k)[:k]
        return [int(row) + 1 for row in best[np.argsort(-cosines[best])]]

    return find


def vec0(vectors: NDArray[np.float32], k: int, folder: Path) -> Find:
    """Return sqlite-vec's own scan of float32 vectors."""
    fill(folder / "vec0.db", vectors, "float32")
    connection = Database(folder / "vec0.db").connection
    return lambda query: [one.chunk_id for one in search_vectors(connection, query, k)]


def usearch(vectors: NDArray[np.float32], k: int, folder: Path) -> Find:  # noqa: ARG001 - it is in memory
    """Return usearch's exact search."""
    index: Any = import_module("usearch.index")
    return lambda query: [
        int(key) + 1 for key in index.search(vectors, query, k, "cos", exact=True).keys
    ]


def faiss(vectors: NDArray[np.float32], k: int, folder: Path) -> Find:  # noqa: ARG001 - it is in memory
    """Return faiss's flat index, which is exact."""
    index: Any = import_module("faiss").IndexFlatIP(vectors.shape[1])
    index.add(vectors)
    return lambda query: [int(row) + 1 for row in index.search(query[None], k)[1][0]]


def hnswlib(vectors: NDArray[np.float32], k: int, folder: Path) -> Find:  # noqa: ARG001 - it is in memory
    """Return hnswlib's graph, which is not exact, with common parameters."""
    index: Any = import_module("hnswlib").Index("ip", vectors.shape[1])
    index.init_index(len(vectors), ef_construction=100, M=16)
    index.add_items(vectors)
    index.set_ef(200)
    return lambda query: [int(row) + 1 for row in index.knn_query(query, k)[0][0]]


def chromadb(vectors: NDArray[np.float32], k: int, folder: Path) -> Find:
    """Return a chromadb collection on the disk, as it is by default but for the cosine."""
    module: Any = import_module("chromadb")
    settings = module.config.Settings(anonymized_telemetry=False)
    client = module.PersistentClient(str(folder / "chromadb"), settings=settings)
    made = client.create_collection("vectors", metadata={"hnsw:space": "cosine"})
    for first in range(0, len(vectors), BATCH):
        part = vectors[first : first + BATCH]
        ids = [str(first + 1 + row) for row in range(len(part))]
        made.add(ids=ids, embeddings=part)
    return lambda query: [
        int(id_) for id_ in made.query(query_embeddings=[query], n_results=k, include=[])["ids"][0]
    ]


def lancedb(vectors: NDArray[np.float32], k: int, folder: Path) -> Find:
    """Return a lancedb table without an index, which is exact."""
    module: Any = import_module("lancedb")
    arrow: Any = import_module("pyarrow")
    flat = arrow.FixedSizeListArray.from_arrays(arrow.array(vectors.ravel()), vectors.shape[1])
    ids = arrow.array(np.arange(1, len(vectors) + 1))
    table = module.connect(str(folder / "lancedb")).create_table(
        "vectors", arrow.table({"id": ids, "vector": flat})
    )

    def find(query: NDArray[np.float32]) -> list[int]:
        wanted = table.search(query).distance_type("cosine").select(["id", "_distance"])
        return [int(id_) for id_ in wanted.limit(k).to_arrow()["id"].to_pylist()]

    return find


PEERS: dict[str, Callable[[NDArray[np.float32], int, Path], Find]] = {
    "NumPy product, float32": numpy_product,
    "vec0, float32": vec0,
    "usearch, exact": usearch,
    "faiss, flat": faiss,
    "hnswlib (M 16, ef 200), approximate": hnswlib,
    "lancedb, no index": lancedb,
    "chromadb, approximate": chromadb,
}
