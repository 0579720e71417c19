"""Compares exported models with values computed elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import onnxruntime

from models.export.family import write_family
from models.export.names import BI_ENCODER, CROSS_ENCODER
from models.export.source import default_path, read_source

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from models.export.checkpoints import Checkpoints

__all__ = ["export_similarity", "rank_correlation", "run_logits", "run_vectors"]


def rank_correlation(left: NDArray[np.float32], right: NDArray[np.float32]) -> float:
    """Return Spearman's rank correlation of two series, shape (n,) each."""
    ranks = [values.argsort().argsort() for values in (left, right)]
    return float(np.corrcoef(*ranks)[0, 1])


def run_vectors(path: Path, inputs: Sequence[Sequence[int]]) -> NDArray[np.float32]:
    """Return unit vectors of a bi-encoder, one input at a time, shape (inputs, dimensions)."""
    session = onnxruntime.InferenceSession(str(path))
    means = [_run(session, ids)[0].mean(axis=0) for ids in inputs]
    return np.stack([mean / np.linalg.norm(mean) for mean in means])


def run_logits(path: Path, inputs: Sequence[Sequence[int]]) -> NDArray[np.float32]:
    """Return the scores of a cross-encoder, one input at a time, shape (inputs,)."""
    session = onnxruntime.InferenceSession(str(path))
    return np.array([_run(session, ids)[0] for ids in inputs], np.float32)


def _run(session: onnxruntime.InferenceSession, ids: Sequence[int]) -> Any:  # noqa: ANN401
    array = np.array([ids], np.int64)
    return session.run(None, {"input_ids": array, "attention_mask": np.ones_like(array)})[0]


def export_similarity(
    directory: Path, checkpoints: Checkpoints, golden: dict[str, Any]
) -> tuple[float, float]:
    """Export both models in float32 to `directory` and compare them with golden values.

    Returns the lowest cosine of the vectors and the largest difference of the logits.
    """
    write_family(read_source(default_path()), checkpoints, directory, "fp32", "fp32")
    vectors = run_vectors(directory / BI_ENCODER, golden["ids"])
    cosines = (vectors * np.array(golden["vectors"])).sum(axis=1)
    pairs = [ids for group in golden["pair_ids"] for ids in group]
    logits = run_logits(directory / CROSS_ENCODER, pairs)
    errors = np.abs(logits - np.array(golden["logits"]).ravel())
    return float(cosines.min()), float(errors.max())
