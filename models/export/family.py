"""Writes a family's files: two models that share a tokenizer and a table of word embeddings."""

from __future__ import annotations

from typing import TYPE_CHECKING

import onnx

from models.export.graph import Graph, add_bi_encoder, add_cross_encoder
from models.export.names import BI_ENCODER, CROSS_ENCODER, TABLE, TOKENIZER
from models.export.tokenizer_file import write_tokenizer
from models.export.weights import bi_encoder_weights, cross_encoder_weights

if TYPE_CHECKING:
    from pathlib import Path

    from models.export.checkpoints import Checkpoints
    from models.export.matrices import Precision
    from models.export.source import Source

__all__ = ["write_family", "write_model"]

PAGE = 4096
"""Tensors start at a multiple of this, so that they can be mapped into memory."""


def write_family(
    source: Source,
    checkpoints: Checkpoints,
    directory: Path,
    bi_precision: Precision = "int7 rows",
    cross_precision: Precision = "int7 rows",
) -> None:
    """Write tokenizer, table and both models into `directory`."""
    directory.mkdir(parents=True, exist_ok=True)
    write_tokenizer(source, directory / TOKENIZER)
    words = source.matrices["emb.word"]
    shape, weights = bi_encoder_weights(source, checkpoints.bi_encoder)
    bi_encoder = Graph(shape, weights, words, bi_precision, fine_values=True)
    write_model(add_bi_encoder(bi_encoder), directory / BI_ENCODER)
    shape, weights = cross_encoder_weights(source, checkpoints.cross_encoder)
    cross_encoder = Graph(shape, weights, words, cross_precision)
    write_model(add_cross_encoder(cross_encoder), directory / CROSS_ENCODER)


def write_model(model: onnx.ModelProto, path: Path) -> None:
    """Write `model`, and the tensors of the word embeddings into the file beside it.

    Every model of a family writes the same bytes there.
    """
    table = bytearray()
    for tensor in model.graph.initializer:
        if tensor.name.startswith("word_"):
            _move(tensor, table)
    (path.parent / TABLE).write_bytes(table)
    path.write_bytes(model.SerializeToString(deterministic=True))


def _move(tensor: onnx.TensorProto, table: bytearray) -> None:
    table.extend(bytes(-len(table) % PAGE))
    place = {"location": TABLE, "offset": len(table), "length": len(tensor.raw_data)}
    table.extend(tensor.raw_data)
    tensor.ClearField("raw_data")
    tensor.data_location = onnx.TensorProto.EXTERNAL
    for key, value in place.items():
        tensor.external_data.add(key=key, value=str(value))
