"""A text has nearly the same vector where float arithmetic differs in its last digits.

Other processors round sums to other sides, which no one machine can show. A model whose first layer
norm is changed by some millionths stands for one; `benchmarks/cpu_check.py` emulates a real one.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
import onnxruntime
import pytest

if TYPE_CHECKING:
    from numpy.typing import NDArray

pytestmark = pytest.mark.models

MODEL = Path(__file__).parents[2] / "models" / "multilingual-e5-small" / "bi-encoder.onnx"
GOLDEN = Path(__file__).parent / "golden" / "golden.json"
LAST_DIGITS = 1e-6


def vectors(model: Path) -> NDArray[np.float32]:
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    means = []
    for ids in json.loads(GOLDEN.read_text(encoding="utf-8"))["ids"]:
        array = np.array([ids], np.int64)
        feed = {"input_ids": array, "attention_mask": np.ones_like(array)}
        hidden: Any = session.run(None, feed)[0]
        means.append(hidden[0].mean(axis=0))
    found: NDArray[np.float32] = np.stack(means)
    found /= np.linalg.norm(found, axis=1, keepdims=True)
    return found


def test_the_last_digits_hardly_move_a_vector(tmp_path: Path) -> None:
    model = onnx.load(MODEL, load_external_data=False)
    [norm] = [one for one in model.graph.initializer if one.name == "emb.ln.w"]
    noise = np.random.default_rng(1).standard_normal(norm.dims[0]).astype(np.float32)
    norm.raw_data = (onnx.numpy_helper.to_array(norm) * (1 + LAST_DIGITS * noise)).tobytes()
    shutil.copy(MODEL.with_name("word-embeddings.bin"), tmp_path)
    (tmp_path / "model.onnx").write_bytes(model.SerializeToString())
    here, elsewhere = vectors(MODEL), vectors(tmp_path / "model.onnx")
    cosines = (here * elsewhere).sum(axis=1)
    assert (here != elsewhere).any()
    assert cosines.min() >= 0.999
