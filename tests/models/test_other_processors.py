"""A text has nearly the same vector where float arithmetic differs in its last digits.

Other processors round sums to other sides, which no one machine can show. A model whose first layer
norm is changed by some millionths stands for one; `benchmarks/cpu_check.py` emulates a real one.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import onnx
import pytest

from localrag.inference.load import load_embedder

pytestmark = pytest.mark.models

FAMILY = Path(__file__).parents[2] / "models" / "multilingual-e5-small"
TEXTS = Path(__file__).parent / "golden" / "texts.json"
LAST_DIGITS = 1e-6


def test_the_last_digits_hardly_move_a_vector(tmp_path: Path) -> None:
    changed = shutil.copytree(FAMILY, tmp_path / "family")
    model = onnx.load(changed / "bi-encoder.onnx", load_external_data=False)
    [norm] = [one for one in model.graph.initializer if one.name == "emb.ln.w"]
    noise = np.random.default_rng(1).standard_normal(norm.dims[0]).astype(np.float32)
    norm.raw_data = (onnx.numpy_helper.to_array(norm) * (1 + LAST_DIGITS * noise)).tobytes()
    (changed / "bi-encoder.onnx").write_bytes(model.SerializeToString())
    texts = json.loads(TEXTS.read_text(encoding="utf-8"))["texts"]
    here = load_embedder(FAMILY).embed_passages(texts)
    elsewhere = load_embedder(changed).embed_passages(texts)
    cosines = (here * elsewhere).sum(axis=1)
    assert (here != elsewhere).any()
    assert cosines.min() >= 0.999
