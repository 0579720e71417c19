"""Both models under the names of Hugging Face's transformers, from a source of one layer."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

if TYPE_CHECKING:
    from numpy.typing import NDArray

safetensors = pytest.importorskip("safetensors.numpy", reason="safetensors is not installed")

sys.path.append(str(Path(__file__).parents[2]))

from models.export.hugging_face import write_bi_encoder, write_cross_encoder  # noqa: E402
from models.export.source import QuantisedMatrix, Shape, Source  # noqa: E402
from models.export.weights import LAYER_NAMES  # noqa: E402

SHAPE = Shape(
    hidden=32,
    layers=1,
    heads=2,
    feed_forward=64,
    vocabulary=5,
    positions=3,
    token_types=1,
    epsilon=1e-12,
)
SIZES = dict.fromkeys(["q", "k", "v", "ao"], (32, 32)) | {"fi": (64, 32), "fo": (32, 64)}


def matrix(rows: int, columns: int, seed: int) -> QuantisedMatrix:
    generator = np.random.default_rng(seed)
    nibbles = generator.integers(0, 16, (rows, columns)).astype(np.uint8)
    scales = generator.random((rows, columns // 32)).astype(np.float16).astype(np.float32)
    return QuantisedMatrix(nibbles, scales)


def numbers(length: int, seed: int) -> NDArray[np.float32]:
    return np.random.default_rng(seed).random(length).astype(np.float32)


@pytest.fixture
def source() -> Source:
    vectors = {
        "emb.pos": numbers(3 * 32, 1),
        "emb.type": numbers(32, 2),
        "emb.ln.w": numbers(32, 3),
        "emb.ln.b": numbers(32, 4),
    }
    for place, part in enumerate(LAYER_NAMES.values()):
        rows = SIZES.get(part, (32, 0))[0]
        vectors[f"l0.{part}.b"] = numbers(rows, 10 + place)
        if part.endswith("ln"):
            vectors[f"l0.{part}.w"] = numbers(rows, 30 + place)
    matrices = {
        f"l0.{part}.w": matrix(*size, 50 + place)
        for place, (part, size) in enumerate(SIZES.items())
    } | {"emb.word": matrix(5, 32, 70)}
    return Source(SHAPE, (), np.zeros(0, np.float32), {}, vectors, matrices)


@pytest.fixture
def tokenizer(tmp_path: Path) -> Path:
    path = tmp_path / "tokenizer.json"
    path.write_text('{"version": "1.0"}', encoding="utf-8")
    return path


def read(folder: Path) -> tuple[dict[str, Any], dict[str, NDArray[np.float32]]]:
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    return config, safetensors.load_file(folder / "model.safetensors")


def test_a_bi_encoder_has_the_names_and_forms_of_a_bert_model(
    source: Source, tokenizer: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "bi" / "encoder"
    write_bi_encoder(source, None, tokenizer, folder)
    config, tensors = read(folder)
    layer = {
        f"encoder.layer.0.{long}.{kind}" for long in LAYER_NAMES for kind in ("weight", "bias")
    }
    assert set(tensors) == layer | {
        "embeddings.word_embeddings.weight",
        "embeddings.position_embeddings.weight",
        "embeddings.token_type_embeddings.weight",
        "embeddings.LayerNorm.weight",
        "embeddings.LayerNorm.bias",
    }
    assert tensors["embeddings.position_embeddings.weight"].shape == (3, 32)
    assert tensors["embeddings.token_type_embeddings.weight"].shape == (1, 32)
    assert tensors["encoder.layer.0.intermediate.dense.weight"].shape == (64, 32)
    for name, expected in (
        ("embeddings.word_embeddings.weight", source.matrices["emb.word"].dequantise()),
        ("encoder.layer.0.output.dense.weight", source.matrices["l0.fo.w"].dequantise()),
        ("encoder.layer.0.attention.self.key.bias", source.vectors["l0.k.b"]),
        ("encoder.layer.0.output.LayerNorm.weight", source.vectors["l0.oln.w"]),
    ):
        np.testing.assert_array_equal(tensors[name], expected)
    assert config["architectures"] == ["BertModel"]
    assert {config[name] for name in ("hidden_size", "vocab_size")} == {32, 5}
    assert (config["num_hidden_layers"], config["max_position_embeddings"]) == (1, 3)


def test_the_tokenizer_goes_along_with_its_special_tokens(
    source: Source, tokenizer: Path, tmp_path: Path
) -> None:
    write_bi_encoder(source, None, tokenizer, tmp_path / "bi")
    assert (tmp_path / "bi" / "tokenizer.json").read_bytes() == tokenizer.read_bytes()
    special = json.loads((tmp_path / "bi" / "special_tokens_map.json").read_text(encoding="utf-8"))
    told = json.loads((tmp_path / "bi" / "tokenizer_config.json").read_text(encoding="utf-8"))
    assert ("pad_token", "<pad>") in special.items()
    assert special.items() <= told.items()
    assert told["model_max_length"] == 3


def test_a_cross_encoder_has_its_own_layers_and_the_embeddings_of_the_source(
    source: Source, tokenizer: Path, tmp_path: Path
) -> None:
    own = {
        f"encoder.layer.{number}.{long}.{kind}": np.full(
            (SIZES.get(short, (32, 0)) if kind == "weight" and short in SIZES else (32,)),
            number + 1,
            np.float16,
        )
        for number in range(2)
        for long, short in LAYER_NAMES.items()
        for kind in ("weight", "bias")
    }
    head = {
        "head.0.weight": np.full((32, 32), 7, np.float16),
        "head.0.bias": np.full(32, 8, np.float16),
        "head.2.weight": np.full((1, 32), 9, np.float16),
        "head.2.bias": np.full(1, 10, np.float16),
    }
    safetensors.save_file(own | head, tmp_path / "trained.safetensors")
    write_cross_encoder(source, tmp_path / "trained.safetensors", tokenizer, tmp_path / "cross")
    config, tensors = read(tmp_path / "cross")
    assert config["architectures"] == ["BertForSequenceClassification"]
    assert config["num_hidden_layers"] == 2  # of the checkpoint, not of the source
    assert config["id2label"] == {"0": "relevance"}
    assert {name.partition(".")[0] for name in tensors} == {"bert", "classifier"}
    assert {str(values.dtype) for values in tensors.values()} == {"float32"}
    assert tensors["bert.encoder.layer.1.attention.self.query.weight"].max() == 2
    assert tensors["bert.pooler.dense.weight"].shape == (32, 32)
    assert tensors["bert.pooler.dense.bias"].max() == 8
    assert tensors["classifier.weight"].tolist() == [[9.0] * 32]
    assert tensors["classifier.bias"].tolist() == [10.0]
    np.testing.assert_array_equal(
        tensors["bert.embeddings.word_embeddings.weight"], source.matrices["emb.word"].dequantise()
    )
    assert tensors["bert.embeddings.position_embeddings.weight"].shape == (3, 32)
