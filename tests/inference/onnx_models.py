"""Real ONNX models of a few hundred bytes, with a tokenizer of whole words and a card."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from tiny_models import WORDS, facts, listed, make_tokenizer

if TYPE_CHECKING:
    from pathlib import Path

IDS = ("input_ids", "attention_mask")
TYPED = (*IDS, "token_type_ids")


def encoder(*, inputs: tuple[str, ...] = IDS, dimensions: int = len(WORDS)) -> bytes:
    """Return a model whose first output is one row of a fixed table for each token.

    Its second, `sentence`, is the mean of the rows of all tokens, one vector for each text.
    """
    table = np.random.default_rng(0).normal(size=(len(WORDS), dimensions)).astype(np.float32)
    nodes = [
        helper.make_node("Gather", ["table", "input_ids"], ["tokens"]),
        *_used(inputs),
        helper.make_node("Add", ["tokens", "nothing"], ["hidden"]),
        helper.make_node("ReduceMean", ["hidden"], ["sentence"], axes=[1], keepdims=0),
    ]
    outputs = {"hidden": ["batch", "length", dimensions], "sentence": ["batch", dimensions]}
    return _model(nodes, {"table": table}, inputs, outputs)


def padded_encoder() -> bytes:
    """Return an encoder that reads its padding: every token gets the mean of the whole row."""
    nodes = [
        helper.make_node("Gather", ["table", "input_ids"], ["tokens"]),
        helper.make_node("ReduceMean", ["tokens"], ["mean"], axes=[1], keepdims=1),
        *_used(IDS),
        helper.make_node("Mul", ["tokens", "nothing"], ["zeros"]),
        helper.make_node("Add", ["zeros", "mean"], ["hidden"]),
    ]
    table = np.eye(len(WORDS), dtype=np.float32)
    table[0] /= 10  # unknown words and padding: little beside what a text really says
    return _model(nodes, {"table": table}, IDS, {"hidden": ["batch", "length", len(WORDS)]})


def positioned_encoder(positions: int) -> bytes:
    """Return an encoder that has learnt so many positions, and fails beyond them."""
    inputs = (*IDS, "position_ids")
    nodes = [
        helper.make_node("Gather", ["table", "input_ids"], ["tokens"]),
        helper.make_node("Gather", ["places", "position_ids"], ["placed"]),
        helper.make_node("Add", ["tokens", "placed"], ["sum"]),
        *_used(inputs),
        helper.make_node("Add", ["sum", "nothing"], ["hidden"]),
    ]
    constants = {
        "table": np.eye(len(WORDS), dtype=np.float32),
        "places": np.zeros((positions, len(WORDS)), np.float32),
    }
    return _model(nodes, constants, inputs, {"hidden": ["batch", "length", len(WORDS)]})


def scorer(*, inputs: tuple[str, ...] = IDS, scores: int = 1) -> bytes:
    """Return a model whose logits are the sums of the ids, and of the types where it reads them."""
    nodes = [
        helper.make_node("Cast", [inputs[-1]], ["seen"], to=TensorProto.FLOAT),
        *_used(inputs),
        helper.make_node("ReduceSum", ["seen", "axis"], ["sum"], keepdims=1),
        helper.make_node("Mul", ["sum", "ones"], ["summed"]),
        helper.make_node("Add", ["summed", "nothing"], ["logits"]),
    ]
    constants = {"axis": np.array([1]), "ones": np.ones((1, scores), np.float32)}
    return _model(nodes, constants, inputs, {"logits": ["batch", scores]})


def _used(inputs: tuple[str, ...]) -> list[onnx.NodeProto]:
    """Read every input, as exports do, without an effect on the output."""
    casts = [helper.make_node("Cast", [one], [f"f_{one}"], to=TensorProto.FLOAT) for one in inputs]
    total = helper.make_node("Sum", [f"f_{one}" for one in inputs], ["all"])
    return [
        *casts,
        total,
        helper.make_node("ReduceMax", ["all"], ["most"], keepdims=0),
        helper.make_node("Mul", ["most", "zero"], ["nothing"]),
    ]


def _model(
    nodes: list[onnx.NodeProto],
    constants: dict[str, Any],
    inputs: tuple[str, ...],
    outputs: dict[str, list[Any]],
) -> bytes:
    values = constants | {"zero": np.array(0, np.float32)}
    graph = helper.make_graph(
        nodes,
        "tiny",
        [helper.make_tensor_value_info(i, TensorProto.INT64, ["batch", "length"]) for i in inputs],
        [
            helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
            for name, shape in outputs.items()
        ],
        [numpy_helper.from_array(value, name) for name, value in values.items()],
    )
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    onnx.checker.check_model(made)
    return bytes(made.SerializeToString())


def make_model(folder: Path, kind: str = "bi-encoder", model: bytes = b"", **changes: Any) -> Path:
    """Fill `folder` with a model that runs and its card `model.json`; return the folder.

    A change to None takes that fact out of the card.
    """
    folder.mkdir(parents=True, exist_ok=True)
    make_tokenizer(folder)
    (folder / "model.onnx").write_bytes(model or (encoder() if kind == "bi-encoder" else scorer()))
    card = facts(kind) | {"name": folder.name, "files": listed(folder)} | changes
    kept = {name: value for name, value in card.items() if value is not None}
    (folder / "model.json").write_text(json.dumps(kept))
    return folder
