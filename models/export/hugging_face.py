"""Writes both models as Hugging Face's transformers reads them, in float32.

Other libraries then run the very weights that localrag ships: see benchmarks/peers.py.
"""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING

import numpy as np
from safetensors.numpy import save_file

from models.export.names import TOKENIZER
from models.export.weights import LAYER_NAMES, bi_encoder_weights, cross_encoder_weights

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from models.export.source import Shape, Source

__all__ = ["write_bi_encoder", "write_cross_encoder"]

LONG_NAMES = {short: name for name, short in LAYER_NAMES.items()}
KINDS = {"w": "weight", "b": "bias"}
EMBEDDINGS = {
    "emb.word": "embeddings.word_embeddings.weight",
    "emb.pos": "embeddings.position_embeddings.weight",
    "emb.type": "embeddings.token_type_embeddings.weight",
    "emb.ln.w": "embeddings.LayerNorm.weight",
    "emb.ln.b": "embeddings.LayerNorm.bias",
}
HEAD = {"head.0": "bert.pooler.dense", "head.2": "classifier"}
"""Dense and tanh over the first token, then one number: BERT's own way to classify."""


def write_bi_encoder(
    source: Source, checkpoint: Path | None, tokenizer: Path, folder: Path
) -> None:
    """Write a `BertModel` with the `tokenizer.json` at `tokenizer` into `folder`."""
    shape, weights = bi_encoder_weights(source, checkpoint)
    tensors = {_long_name(name): values for name, values in weights.items()}
    _write(source, shape, tensors, "", folder)
    _finish(shape, tokenizer, folder, {"architectures": ["BertModel"]})


def write_cross_encoder(source: Source, checkpoint: Path, tokenizer: Path, folder: Path) -> None:
    """Write a `BertForSequenceClassification` of one score, likewise."""
    shape, weights = cross_encoder_weights(source, checkpoint)
    tensors = {}
    for name, values in weights.items():
        stem, _, kind = name.rpartition(".")
        own = f"{HEAD[stem]}.{KINDS[kind]}" if stem in HEAD else f"bert.{_long_name(name)}"
        tensors[own] = values
    _write(source, shape, tensors, "bert.", folder)
    facts = {
        "architectures": ["BertForSequenceClassification"],
        "id2label": {"0": "relevance"},
        "label2id": {"relevance": 0},
    }
    _finish(shape, tokenizer, folder, facts)


def _long_name(name: str) -> str:
    """Return `encoder.layer.3.attention.self.query.weight` for `l3.q.w`."""
    if name in EMBEDDINGS:
        return EMBEDDINGS[name]
    layer, part, kind = name.split(".")
    return f"encoder.layer.{layer[1:]}.{LONG_NAMES[part]}.{KINDS[kind]}"


def _write(
    source: Source,
    shape: Shape,
    tensors: dict[str, NDArray[np.float32]],
    prefix: str,
    folder: Path,
) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    tensors[prefix + EMBEDDINGS["emb.word"]] = source.matrices["emb.word"].dequantise()
    for name in ("emb.pos", "emb.type"):  # the 4-bit file holds them as one row
        own = prefix + EMBEDDINGS[name]
        tensors[own] = tensors[own].reshape(-1, shape.hidden)
    ready = {name: np.ascontiguousarray(values, np.float32) for name, values in tensors.items()}
    save_file(ready, folder / "model.safetensors", metadata={"format": "pt"})


def _finish(shape: Shape, tokenizer: Path, folder: Path, facts: dict[str, object]) -> None:
    config = {
        "model_type": "bert",
        "hidden_act": "gelu",
        "hidden_size": shape.hidden,
        "intermediate_size": shape.feed_forward,
        "layer_norm_eps": shape.epsilon,
        "max_position_embeddings": shape.positions,
        "num_attention_heads": shape.heads,
        "num_hidden_layers": shape.layers,
        "pad_token_id": 1,
        "type_vocab_size": shape.token_types,
        "vocab_size": shape.vocabulary,
        **facts,
    }
    how_to_read = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "model_max_length": shape.positions,
        "model_input_names": ["input_ids", "attention_mask"],
        "bos_token": "<s>",
        "cls_token": "<s>",
        "eos_token": "</s>",
        "sep_token": "</s>",
        "pad_token": "<pad>",
        "unk_token": "<unk>",
    }
    special = {name: text for name, text in how_to_read.items() if name.endswith("_token")}
    _save(folder / "config.json", config)
    _save(folder / "tokenizer_config.json", how_to_read)
    _save(folder / "special_tokens_map.json", special)  # fastembed asks for it
    shutil.copy(tokenizer, folder / TOKENIZER)


def _save(path: Path, value: dict[str, object]) -> None:
    path.write_text(json.dumps(value, indent=2) + "\n", encoding="utf-8")
