"""The names of a family's files."""

from __future__ import annotations

__all__ = ["BI_ENCODER", "COMPILED_TOKENIZER", "CROSS_ENCODER", "TABLE", "TOKENIZER"]

TOKENIZER, COMPILED_TOKENIZER = "tokenizer.json", "tokenizer.bin"
TABLE = "word-embeddings.bin"
BI_ENCODER, CROSS_ENCODER = "bi-encoder.onnx", "cross-encoder.onnx"
