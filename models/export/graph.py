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
        "MatMulIntegerToFloat",
        "MatMulNBits",
        "MultiHeadAttention",
    }
)
"""Operators of the domain com.microsoft, of which ONNX Runtime has CPU kernels since 1.22."""
OPSET, CONTRIBUTED_OPSET, FORMAT = 21, 1, 10
SAFE_LIMIT = 63
"""Largest integer weight with which CPUs without VNNI cannot overflow.

They add two products of a byte and a weight in 16 bits: 2 x 255 x 63 = 32,130 fits, 2 x 255 x 127
does not, and is cut off without notice.
"""
RESTS = 254
"""Steps of what is rounded off in one step of the bytes: from half a step below to half above."""
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
    fine_values: bool = False
    """Whether what is rounded off before the product that makes the values of attention is
    multiplied as well (see `_fine_product`)."""
    nodes: list[onnx.NodeProto] = field(default_factory=list)
    tensors: list[onnx.TensorProto] = field(default_factory=list)
    tables: dict[str, onnx.TensorProto] = field(default_factory=dict)
    """Tensors that go to the file of the word embeddings."""
    quantised: set[str] = field(default_factory=set)
    """Arrays of which there are integer rows already: three products read the same ones."""

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
        hidden = _layer(graph, layer, (hidden, hidden), mask, output)
    return graph.model(hidden, ["batch", "tokens", graph.shape.hidden])


def add_cross_encoder(graph: Graph) -> onnx.ModelProto:
    """Return the model with the output `logits`, shape (batch,).

    The head reads the first token only, so the last layer asks for that token alone.
    """
    hidden = _embeddings(graph)
    mask = graph.add("Cast", ["attention_mask"], "mask", to=TensorProto.INT32)
    last = graph.shape.layers - 1
    for layer in range(last):
        hidden = _layer(graph, layer, (hidden, hidden), mask, f"l{layer}.out")
    first = _first_token(graph, hidden)
    first = _layer(graph, last, (first, hidden), mask, f"l{last}.out")
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
    """Gather rows of the 4-bit table and multiply each block of a row by its scale.

    A byte holds two numbers, which are looked up: GatherBlockQuantized is the same in one operator
    and takes three times as long (docs/decisions.md, 57). The first is in the low half, stored as a
    signed number: (nibble - 8) is nibble ^ 8 with its sign.
    """
    packed = pack_nibbles(graph.words.nibbles ^ 8)
    graph.tables["word_blocks"] = onnx.numpy_helper.from_array(packed, "word_blocks")
    scales = graph.words.scales
    graph.tables["word_scales"] = onnx.numpy_helper.from_array(scales, "word_scales")
    signed = ((np.arange(16) ^ 8) - 8).astype(np.float32)
    pairs = np.stack([np.tile(signed, 16), np.repeat(signed, 16)], axis=1)
    graph.constant("byte_pairs", pairs)
    graph.constant("blocks_shape", np.array([0, 0, -1, BLOCK], np.int64))
    graph.constant("row_shape", np.array([0, 0, -1], np.int64))
    graph.constant("minus_one", np.array([-1], np.int64))
    rows = graph.add("Gather", ["word_blocks", "input_ids"], "word_bytes", axis=0)
    rows = graph.add("Cast", [rows], "word_indices", to=TensorProto.INT32)
    rows = graph.add("Gather", ["byte_pairs", rows], "word_pairs", axis=0)
    rows = graph.add("Reshape", [rows, "blocks_shape"], "word_steps")
    steps = graph.add("Gather", ["word_scales", "input_ids"], "word_step_sizes", axis=0)
    steps = graph.add("Unsqueeze", [steps, "minus_one"], "word_step_columns")
    rows = graph.add("Mul", [rows, steps], "word_parts")
    return graph.add("Reshape", [rows, "row_shape"], "words")


def _layer(graph: Graph, layer: int, tokens: tuple[str, str], mask: str, output: str) -> str:
    """Add a layer in which the first of `tokens` attend to the second."""
    name = f"l{layer}"
    asking, hidden = tokens
    attended = _attention(graph, name, asking, hidden, mask)
    product, bias = _linear(graph, f"{name}.ao", attended)
    middle = _skip_norm(graph, f"{name}.aln", (product, asking, bias), f"{name}.middle")
    product, bias = _linear(graph, f"{name}.fi", middle)
    active = _gelu(graph, product, bias, f"{name}.active")
    product, bias = _linear(graph, f"{name}.fo", active)
    return _skip_norm(graph, f"{name}.oln", (product, middle, bias), output)


def _attention(graph: Graph, name: str, asking: str, hidden: str, mask: str) -> str:
    sources = {"q": asking, "k": hidden, "v": hidden}
    parts = [_linear(graph, f"{name}.{part}", source) for part, source in sources.items()]
    biases = [bias for _, bias in parts if bias]
    joined = graph.add("Concat", biases, f"{name}.qkv.b", axis=0) if biases else ""
    inputs = [*(product for product, _ in parts), joined, mask]
    return graph.add("MultiHeadAttention", inputs, f"{name}.attended", num_heads=graph.shape.heads)


def _linear(graph: Graph, name: str, source: str) -> tuple[str, str]:
    """Add a matrix product; return its name, and the bias if the next operator is to add it."""
    if graph.precision == "fp32":
        matrix = graph.constant(f"{name}.w", graph.weights[f"{name}.w"].T)
        product = graph.add("MatMul", [source, matrix], f"{name}.product")
        return product, graph.vector(f"{name}.b")
    if graph.precision in {"int8 rows", "int7 rows"}:
        return _row_linear(graph, name, source), graph.vector(f"{name}.b")
    if graph.precision == "int8 batch":
        return _batch_linear(graph, name, source), ""
    return _block_linear(graph, name, source), ""


def _row_linear(graph: Graph, name: str, source: str) -> str:
    """Multiply 8-bit integers, each row of `source` scaled by its own largest magnitude.

    A token's result then depends on that token alone. One scale for the whole batch, as
    DynamicQuantizeMatMul has it, makes a text's vector depend on the texts it is batched with, and
    lets one outlier cost all other tokens their precision.
    """
    rows, largest = _quantised_rows(graph, source)
    limit = SAFE_LIMIT if graph.precision == "int7 rows" else 127
    values, scales = int8_columns(graph.weights[f"{name}.w"], limit)
    weights = [graph.constant(f"{name}.w", values), graph.constant(f"{name}.s", scales)]
    inputs = [rows, weights[0], "row_step", weights[1], "row_middle"]
    product = graph.add("MatMulIntegerToFloat", inputs, f"{name}.relative")
    if graph.fine_values and name.endswith(".v"):
        product = _fine_product(graph, name, source, product)
    return graph.add("Mul", [product, largest], f"{name}.product")


def _fine_product(graph: Graph, name: str, source: str, product: str) -> str:
    """Add to a product of bytes that of what was rounded off, as bytes of a smaller step.

    Float arithmetic differs between processors in the last digits, so that some numbers are rounded
    to different sides, and most of what becomes of that in a text's vector comes by way of the
    values of attention: a twelfth of the products (docs/decisions.md, 61).
    """
    if all(one.name != "rest_step" for one in graph.tensors):
        graph.constant("rest_step", np.array(1 / RESTS, np.float32))
        graph.constant("rest_row_step", np.array(1 / 127 / RESTS, np.float32))
    kept = [f"{source}.bytes", f"{source}.steps", f"{source}.middles"]
    kept = graph.add("DequantizeLinear", kept, f"{source}.kept", axis=0)
    rest = graph.add("Sub", [f"{source}.table", kept], f"{source}.rest")
    steps = graph.add("Mul", [f"{source}.steps", "rest_step"], f"{source}.rest_steps")
    inputs = [rest, steps, f"{source}.middles"]
    rest = graph.add("QuantizeLinear", inputs, f"{source}.rest_bytes", axis=0)
    rows = graph.add("Reshape", [rest, f"{source}.shape"], f"{source}.rest_rows")
    inputs = [rows, f"{name}.w", "rest_row_step", f"{name}.s", "row_middle"]
    rest = graph.add("MatMulIntegerToFloat", inputs, f"{name}.rest")
    return graph.add("Add", [product, rest], f"{name}.whole")


def _quantised_rows(graph: Graph, source: str) -> tuple[str, str]:
    """Return `source` divided by each row's largest magnitude, as bytes, and those magnitudes.

    The least and the largest number of a row are found faster than all magnitudes are written.
    """
    names = f"{source}.rows", f"{source}.largest"
    if source in graph.quantised:
        return names
    if not graph.quantised:
        graph.constant("last_axis", np.array([-1], np.int64))
        graph.constant("row_step", np.array(1 / 127, np.float32))
        graph.constant("row_middle", np.array(128, np.uint8))
        graph.constant("all_rows", np.array([-1], np.int64))
    graph.quantised.add(source)
    low = graph.add("ReduceMin", [source, "last_axis"], f"{source}.low", keepdims=1)
    high = graph.add("ReduceMax", [source, "last_axis"], f"{source}.high", keepdims=1)
    low = graph.add("Neg", [low], f"{source}.below")
    graph.add("Max", [low, high], names[1])
    # One scale for each row of a table: the operator takes them as a vector.
    step = graph.add("Mul", [names[1], "row_step"], f"{source}.step")
    steps = graph.add("Reshape", [step, "all_rows"], f"{source}.steps")
    rows = graph.add("Shape", [steps], f"{source}.count")
    middles = graph.add("Expand", ["row_middle", rows], f"{source}.middles")
    shape = graph.add("Shape", [source], f"{source}.shape")
    width = graph.add("Shape", [source], f"{source}.width", start=-1)
    table = graph.add("Concat", ["all_rows", width], f"{source}.table_shape", axis=0)
    table = graph.add("Reshape", [source, table], f"{source}.table")
    table = graph.add("QuantizeLinear", [table, steps, middles], f"{source}.bytes", axis=0)
    graph.add("Reshape", [table, shape], names[0])
    return names


def _batch_linear(graph: Graph, name: str, source: str) -> str:
    values, scales = int8_columns(graph.weights[f"{name}.w"], 127)
    weights = [graph.constant(f"{name}.w", values), graph.constant(f"{name}.s", scales)]
    inputs = [source, *weights, "", graph.vector(f"{name}.b")]
    return graph.add("DynamicQuantizeMatMul", inputs, f"{name}.product")


def _block_linear(graph: Graph, name: str, source: str) -> str:
    weights = graph.weights[f"{name}.w"]
    bits = 4 if graph.precision == "4-bit blocks" else 8
    blocks = blocks_of(weights, bits)
    stored = [
        graph.constant(f"{name}.w", blocks.packed),
        graph.constant(f"{name}.s", blocks.scales),
    ]
    inputs = [source, *stored, "", "", graph.vector(f"{name}.b")]
    sizes = {"N": weights.shape[0], "K": weights.shape[1], "bits": bits, "block_size": BLOCK}
    return graph.add(
        "MatMulNBits", inputs, f"{name}.product", accuracy_level=INT8_ACTIVATIONS, **sizes
    )


def _gelu(graph: Graph, source: str, bias: str, name: str) -> str:
    if bias:
        return graph.add("BiasGelu", [source, bias], name)
    return graph.add("Gelu", [source], name)


def _skip_norm(graph: Graph, norm: str, terms: tuple[str, str, str], name: str) -> str:
    """Add the sum of product, skip connection and bias (where there is one), and its layer norm.

    SkipLayerNormalization is the same in one operator and takes five times as long
    (docs/decisions.md, 57).
    """
    product, skip, bias = terms
    total = graph.add("Add", [product, skip], f"{name}.sum")
    if bias:
        total = graph.add("Add", [total, bias], f"{name}.biased")
    inputs = [total, graph.vector(f"{norm}.w"), graph.vector(f"{norm}.b")]
    return graph.add("LayerNormalization", inputs, name, epsilon=graph.shape.epsilon)


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
