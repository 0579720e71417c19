"""Brings the encoder's weights of both models under the names of the 4-bit file."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from safetensors.numpy import load_file

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from models.export.source import Shape, Source

__all__ = ["bi_encoder_weights", "cross_encoder_weights"]

LAYER_NAMES = {
    "attention.self.query": "q",
    "attention.self.key": "k",
    "attention.self.value": "v",
    "attention.output.dense": "ao",
    "attention.output.LayerNorm": "aln",
    "intermediate.dense": "fi",
    "output.dense": "fo",
    "output.LayerNorm": "oln",
}
"""Names of Hugging Face's BertModel, and those of the 4-bit file."""


def bi_encoder_weights(
    source: Source, checkpoint: Path | None
) -> tuple[Shape, dict[str, NDArray[np.float32]]]:
    """Return sizes and weights of all layers: the source's, but those that `checkpoint` holds."""
    matrices = {
        name: matrix.dequantise() for name, matrix in source.matrices.items() if name != "emb.word"
    }
    trained = {} if checkpoint is None else _read(checkpoint)
    return source.shape, {**source.vectors, **matrices, **trained}


def cross_encoder_weights(
    source: Source, checkpoint: Path
) -> tuple[Shape, dict[str, NDArray[np.float32]]]:
    """Return sizes and weights of a trained checkpoint; its embeddings are the source's."""
    renamed = _read(checkpoint)
    layers = 1 + max(int(name[1:].split(".")[0]) for name in renamed if name.startswith("l"))
    embeddings = {name: values for name, values in source.vectors.items() if name.startswith("emb")}
    return replace(source.shape, layers=layers), {**embeddings, **renamed}


def _read(checkpoint: Path) -> dict[str, NDArray[np.float32]]:
    tensors = load_file(checkpoint)
    return {_short_name(name): values.astype(np.float32) for name, values in tensors.items()}


def _short_name(name: str) -> str:
    """Return `l3.q.w` for `encoder.layer.3.attention.self.query.weight`."""
    stem, _, kind = name.rpartition(".")
    kind = {"weight": "w", "bias": "b"}[kind]
    if not stem.startswith("encoder.layer."):
        return f"{stem}.{kind}"
    number, _, rest = stem.removeprefix("encoder.layer.").partition(".")
    return f"l{number}.{LAYER_NAMES[rest]}.{kind}"
