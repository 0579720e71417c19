"""Writes the encoder as an ONNX graph of operators that ONNX Runtime need not fuse any more.

Inputs of every graph: `input_ids` and `attention_mask`, int64, shape (batch, tokens). Architecture:
BERT with the layer norm after each sum (Devlin et al., NAACL 2019), GELU by the error function.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import onnx
from onnx import TensorProto, helper

from models.export.matrices import blocks_of, int8_columns, pack_nibbles
from models.export.source import BLOCK

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from models.export.matrices import Precision
    from models.export.source import QuantisedMatrix, Shape

__all__ = ["Graph", "add_bi_encoder", "add_cross_encoder"]

FUSED = frozenset(
    {
        "BiasGelu",
        "DynamicQuantizeMatMul",
        "GatherBlockQuantized",
        "MatMulNBits",
        "MultiHeadAttention",
        "SkipLayerNormalization",
    }
)
"""Operators of the domain com.microsoft, of which ONNX Runtime has CPU kernels since 1.22."""
OPSET, CONTRIBUTED_OPSET, FORMAT = 21, 1, 10
INT8_ACTIVATIONS = 4
"""Accuracy level at which MatMulNBits quantises activations, per row and block of 32."""


@dataclass(slots=True)
class Graph:
    """Nodes and tensors of one model while it is written."""

    shape: Shape
    weights: dict[str, NDArray[np.float32]]
    """Tensors under the names of the source file; matrices have the shape (outputs, inputs)."""
    words: QuantisedMatrix
    precision: Precision
    nodes: list[onnx.NodeProto] = field(default_factory=list)
    tensors: list[onnx.TensorProto] = field(default_factory=list)
    tables: dict[str, onnx.TensorProto] = field(default_factory=dict)
    """Tensors that go to the file of the word embeddings."""

    def add(self, operator: str, inputs: list[str], name: str, **attributes: object) -> str:
        """Append a node whose only output is `name`, and return `name`."""
        domain = "com.microsoft" if operator in FUSED else ""
        self.nodes.append(helper.make_node(operator, inputs, [name], domain=domain, **attributes))
        return name

    def constant(self, name: str, values: NDArray[np.generic]) -> str:
        """Store `values` in the model, and return `name`."""
        self.tensors.append(onnx.numpy_helper.from_array(np.ascontiguousarray(values), name))
        return name

    def vector(self, name: str) -> str:
        """Store the weights called `name`, and return the name."""
        return self.constant(name, self.weights[name])

    def model(self, output: str, dimensions: list[str | int]) -> onnx.ModelProto:
        """Return the finished model, whose one output is `output`."""
        ids = [
            helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "tokens"])
            for name in ("input_ids", "attention_mask")
        ]
        result = helper.make_tensor_value_info(output, TensorProto.FLOAT, dimensions)
        graph = helper.make_graph(
            self.nodes, "encoder", ids, [result], [*self.tensors, *self.tables.values()]
        )
        opsets = [
            helper.make_opsetid("", OPSET),
            helper.make_opsetid("com.microsoft", CONTRIBUTED_OPSET),
        ]
        return helper.make_model(
            graph, opset_imports=opsets, ir_version=FORMAT, producer_name="localrag"
        )


def add_bi_encoder(graph: Graph) -> onnx.ModelProto:
    """Return the model with the output `last_hidden_state`, shape (batch, tokens, hidden)."""
    hidden = _embeddings(graph)
    mask = graph.add("Cast", ["attention_mask"], "mask", to=TensorProto.INT32)
    for layer in range(graph.shape.layers):
        output = "last_hidden_state" if layer == graph.shape.layers - 1 else f"l{layer}.out"
        hidden = _layer(graph, layer, hidden, hidden, mask, output)
    return graph.model(hidden, ["batch", "tokens", graph.shape.hidden])


def add_cross_encoder(graph: Graph) -> onnx.ModelProto:
    """Return the model with the output `logits`, shape (batch,).

    The head reads the first token only, so the last layer asks for that token alone.
    """
    hidden = _embeddings(graph)
    mask = graph.add("Cast", ["attention_mask"], "mask", to=TensorProto.INT32)
    last = graph.shape.layers - 1
    for layer in range(last):
        hidden = _layer(graph, layer, hidden, hidden, mask, f"l{layer}.out")
    first = _first_token(graph, hidden)
    first = _layer(graph, last, first, hidden, mask, f"l{last}.out")
    return graph.model(_head(graph, first), ["batch"])


def _embeddings(graph: Graph) -> str:
    """Add word, position and type embeddings with their layer norm; all tokens are of type 0."""
    shape = graph.shape
    words = _word_embeddings(graph)
    positions = graph.weights["emb.pos"].reshape(shape.positions, shape.hidden)
    graph.constant("positions", positions + graph.weights["emb.type"][: shape.hidden])
    graph.constant("zero", np.array([0], np.int64))
    graph.add("Shape", ["input_ids"], "length", start=1, end=2)
    graph.add("Slice", ["positions", "zero", "length", "zero"], "positions_used")
    graph.add("Add", [words, "positions_used"], "embedded")
    inputs = ["embedded", graph.vector("emb.ln.w"), graph.vector("emb.ln.b")]
    return graph.add("LayerNormalization", inputs, "embeddings", epsilon=shape.epsilon)


def _word_embeddings(graph: Graph) -> str:
    """Gather rows of the 4-bit table: (nibble - 8) is stored as a signed number, zero point 0."""
    signed = graph.words.nibbles ^ 8
    packed = pack_nibbles(signed).tobytes()
    scales = graph.words.scales
    graph.tables["word_blocks"] = helper.make_tensor(
        "word_blocks", TensorProto.INT4, signed.shape, packed, raw=True
    )
    graph.tables["word_scales"] = onnx.numpy_helper.from_array(scales, "word_scales")
    inputs = ["word_blocks", "input_ids", "word_scales"]
    return graph.add(
        "GatherBlockQuantized", inputs, "words", gather_axis=0, quantize_axis=1, block_size=BLOCK
    )


def _layer(  # noqa: PLR0913 - one layer is a function of its two inputs and its name
    graph: Graph, layer: int, asking: str, hidden: str, mask: str, output: str
) -> str:
    """Add a layer in which the tokens `asking` attend to the tokens `hidden`."""
    name = f"l{layer}"
    attended = _attention(graph, name, asking, hidden, mask)
    projected, bias = _linear(graph, f"{name}.ao", attended)
    middle = _skip_norm(graph, f"{name}.aln", projected, asking, bias, f"{name}.attention")
    wide, bias = _linear(graph, f"{name}.fi", middle)
    active = _gelu(graph, wide, bias, f"{name}.active")
    narrow, bias = _linear(graph, f"{name}.fo", active)
    return _skip_norm(graph, f"{name}.oln", narrow, middle, bias, output)


def _attention(graph: Graph, name: str, asking: str, hidden: str, mask: str) -> str:
    parts = [
        _linear(graph, f"{name}.{part}", asking if part == "q" else hidden, keep_bias=True)[0]
        for part in "qkv"
    ]
    inputs = [*parts, "", mask]
    return graph.add(
        "MultiHeadAttention", inputs, f"{name}.attended", num_heads=graph.shape.heads
    )


def _linear(graph: Graph, name: str, source: str, *, keep_bias: bool = False) -> tuple[str, str]:
    """Add a matrix product; return its name, and the bias where the next operator is to add it."""
    weights = graph.weights[f"{name}.w"]
    bias = graph.vector(f"{name}.b")
    output = f"{name}.product"
    if graph.precision == "fp32":
        matrix = graph.constant(f"{name}.w", weights.T)
        graph.add("MatMul", [source, matrix], output)
        return (graph.add("Add", [output, bias], f"{name}.sum"), "") if keep_bias else (output, bias)
    if graph.precision in {"int8", "int7"}:
        return _int8_linear(graph, name, source), ""
    return _block_linear(graph, name, source), ""


def _int8_linear(graph: Graph, name: str, source: str) -> str:
    limit = 127 if graph.precision == "int8" else 63
    values, scales = int8_columns(graph.weights[f"{name}.w"], limit)
    inputs = [
        source,
        graph.constant(f"{name}.w", values),
        graph.constant(f"{name}.s", scales),
        "",
        f"{name}.b",
    ]
    return graph.add("DynamicQuantizeMatMul", inputs, f"{name}.product")


def _block_linear(graph: Graph, name: str, source: str) -> str:
    weights = graph.weights[f"{name}.w"]
    bits = 4 if graph.precision == "4-bit" else 8
    blocks = blocks_of(weights, bits)
    inputs = [
        source,
        graph.constant(f"{name}.w", blocks.packed),
        graph.constant(f"{name}.s", blocks.scales),
        "",
        "",
        f"{name}.b",
    ]
    sizes = {"N": weights.shape[0], "K": weights.shape[1], "bits": bits, "block_size": BLOCK}
    return graph.add(
        "MatMulNBits", inputs, f"{name}.product", accuracy_level=INT8_ACTIVATIONS, **sizes
    )


def _gelu(graph: Graph, source: str, bias: str, name: str) -> str:
    if bias:
        return graph.add("BiasGelu", [source, bias], name)
    return graph.add("Gelu", [source], name)


def _skip_norm(  # noqa: PLR0913 - the operator has as many inputs
    graph: Graph, norm: str, source: str, skip: str, bias: str, name: str
) -> str:
    inputs = [source, skip, graph.vector(f"{norm}.w"), graph.vector(f"{norm}.b"), bias]
    return graph.add(
        "SkipLayerNormalization",
        inputs if bias else inputs[:-1],
        name,
        epsilon=graph.shape.epsilon,
    )


def _first_token(graph: Graph, hidden: str) -> str:
    graph.constant("one", np.array([1], np.int64))
    return graph.add("Slice", [hidden, "zero", "one", "one"], "first_token")


def _head(graph: Graph, first: str) -> str:
    """Add dense, tanh, dense to one number; in float32, it is small and decides."""
    graph.add("Squeeze", [first, "one"], "pooled")
    dense = [graph.constant("head.dense", graph.weights["head.0.w"]), graph.vector("head.0.b")]
    graph.add("Gemm", ["pooled", *dense], "dense", transB=1)
    graph.add("Tanh", ["dense"], "activated")
    score = [graph.constant("head.score", graph.weights["head.2.w"]), graph.vector("head.2.b")]
    graph.add("Gemm", ["activated", *score], "score", transB=1)
    return graph.add("Squeeze", ["score", "one"], "logits")
