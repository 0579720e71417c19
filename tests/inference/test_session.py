from __future__ import annotations

import os
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from tiny_models import make_family

from localrag.errors import ModelError
from localrag.inference import session as module
from localrag.inference.session import Session, usable_cores

IDS = np.array([[1, 2, 3]], np.int64)


@pytest.fixture
def family(tmp_path: Path) -> Path:
    return make_family(tmp_path)


class FakeRuntime:
    """Stands in for the onnxruntime module."""

    def __init__(self, inputs: tuple[str, ...] = ("input_ids", "attention_mask")) -> None:
        self.inputs = inputs
        self.built: list[Any] = []
        self.telemetry = True
        self.error: Exception | None = None
        self.fed: dict[str, Any] = {}

    GraphOptimizationLevel = SimpleNamespace(ORT_DISABLE_ALL="none")

    def disable_telemetry_events(self) -> None:
        self.telemetry = False

    def SessionOptions(self) -> SimpleNamespace:  # noqa: N802 - the library's name
        return SimpleNamespace()

    def InferenceSession(self, path: str, options: Any, providers: list[str]) -> Any:  # noqa: N802
        self.built.append((path, options, providers))
        return self

    def get_inputs(self) -> list[SimpleNamespace]:
        return [SimpleNamespace(name=name) for name in self.inputs]

    def run(self, _outputs: None, feed: dict[str, Any]) -> list[Any]:
        if self.error:
            raise self.error
        self.fed = feed
        return [feed["input_ids"].astype(np.float32)]


@pytest.fixture
def runtime(monkeypatch: pytest.MonkeyPatch) -> FakeRuntime:
    fake = FakeRuntime()
    monkeypatch.setitem(sys.modules, "onnxruntime", fake)
    return fake


def test_built_once_without_telemetry_on_the_cpu(runtime: FakeRuntime) -> None:
    session = Session(Path("model.onnx"), threads=3)
    assert runtime.built == []
    session.run(IDS, IDS)
    session.load()
    ((path, options, providers),) = runtime.built
    assert (path, options.intra_op_num_threads) == ("model.onnx", 1)
    assert session.threads == 3
    assert providers == ["CPUExecutionProvider"]
    assert runtime.telemetry is False


def test_only_a_fused_graph_is_left_as_it_is(runtime: FakeRuntime) -> None:
    for fused in (False, True):
        Session(Path("model.onnx"), fused=fused).load()
    before, after = (vars(options) for _, options, _ in runtime.built)
    assert "graph_optimization_level" not in before
    assert after["graph_optimization_level"] == "none"


def test_closing_loads_again(runtime: FakeRuntime) -> None:
    session = Session(Path("model.onnx"))
    session.load()
    session.close()
    session.load()
    assert len(runtime.built) == 2


def test_only_what_the_model_asks_for_is_fed(runtime: FakeRuntime) -> None:
    Session(Path("m")).run(IDS, IDS)
    assert set(runtime.fed) == {"input_ids", "attention_mask"}
    runtime.inputs = ("input_ids", "attention_mask", "token_type_ids")
    Session(Path("m")).run(IDS, IDS)
    assert not runtime.fed["token_type_ids"].any()


def test_a_failing_run_is_a_model_error(runtime: FakeRuntime) -> None:
    runtime.error = RuntimeError("bad shape")
    with pytest.raises(ModelError, match="bad shape"):
        Session(Path("m")).run(IDS, IDS)


def test_a_file_that_is_no_model(family: Path) -> None:
    with pytest.raises(ModelError, match="cannot load the model"):
        Session(family / "model.onnx").load()


def test_siblings_count_as_one_core(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for processor in range(4):
        folder = tmp_path / f"cpu{processor}" / "topology"
        folder.mkdir(parents=True)
        (folder / "thread_siblings_list").write_text(f"{processor % 2},{processor % 2 + 2}\n")
    monkeypatch.setattr(module, "TOPOLOGY", tmp_path)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1, 2, 3}, raising=False)
    assert usable_cores() == 2
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 2}, raising=False)
    assert usable_cores() == 1


def test_without_topology_every_processor_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "TOPOLOGY", tmp_path)
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: 3)
    assert usable_cores() == 3
