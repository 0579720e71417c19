"""A cross-encoder that reads no pair twice, not even in another run.

Reading is nearly all the time of a benchmark with reranking. What was read is kept by the hash of
the weights: other thresholds, more candidates or an interrupted run cost nothing, and new weights
are read anew. Logits are kept, so that another calibration of the same weights applies at once.
"""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

import numpy as np
from set_index import digest

from localrag.inference.cross_encoder import calibrate

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from localrag.inference.cross_encoder import CrossEncoder
    from localrag.inference.protocols import FloatArray

__all__ = ["CachedReranker"]

SECONDS_TO_WAIT = 60
"""For another benchmark that writes to the same file."""


class CachedReranker:
    """Takes the place of `reranker`; its readings lie in `cache`."""

    def __init__(self, reranker: CrossEncoder, cache: Path) -> None:
        self.reranker = reranker
        self.card = reranker.card
        self.calibrated = reranker.calibrated
        self.window_tokens = reranker.window_tokens
        self.fingerprint = reranker.fingerprint
        cache.mkdir(parents=True, exist_ok=True)
        path = cache / f"readings-{digest(reranker.fingerprint)}.db"
        self.file = sqlite3.connect(path, timeout=SECONDS_TO_WAIT)
        self.file.execute("CREATE TABLE IF NOT EXISTS readings(pair TEXT PRIMARY KEY, logit REAL)")

    def relevance(self, query: str, passages: Sequence[str]) -> FloatArray:
        """Return the probability that each passage answers the query, shape (passages,)."""
        return calibrate(self.logits(query, passages), self.reranker.calibration)

    def logits(self, query: str, passages: Sequence[str]) -> FloatArray:
        """Return the cross-encoder's own scores, shape (passages,)."""
        pairs = [digest(f"{query}\0{passage}") for passage in passages]
        known = {pair: logit for pair in pairs if (logit := self.kept(pair)) is not None}
        missing = {
            pair: passage
            for pair, passage in zip(pairs, passages, strict=True)
            if pair not in known
        }
        if missing:
            read = self.reranker.logits(query, list(missing.values()))
            known.update(zip(missing, map(float, read), strict=True))
            rows = [(pair, known[pair]) for pair in missing]
            self.file.executemany("INSERT OR IGNORE INTO readings VALUES(?, ?)", rows)
            self.file.commit()
        return np.array([known[pair] for pair in pairs], np.float32)

    def kept(self, pair: str) -> float | None:
        """Return the logit of an earlier run, or None."""
        sql = "SELECT logit FROM readings WHERE pair = ?"
        row = self.file.execute(sql, (pair,)).fetchone()
        return None if row is None else float(row[0])

    def close(self) -> None:
        """Release the session's memory and the file."""
        self.file.close()
        self.reranker.close()
