"""Runs an ONNX model on the CPU.

The runtime is imported, and the model read, at first use: importing localrag stays cheap.
"""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from localrag.errors import ModelError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from localrag.inference.protocols import FloatArray

__all__ = ["Session", "usable_cores"]

TOPOLOGY = Path("/sys/devices/system/cpu")


class Session:
    """A model that takes token ids and their mask and returns one array.

    Args:
        path: the ONNX file; files it refers to lie beside it.
        threads: number of runs side by side, for `run_batches`; the usable physical cores when
            None.
        output: name of the output to return; the model's first when None.
        fused: whether the graph needs no optimising, which is a third of the time to load it.

    Threads can share a session: it is built once, and runs of it are independent. Each run stays on
    the thread that calls it.
    """

    def __init__(
        self,
        path: Path,
        *,
        threads: int | None = None,
        output: str | None = None,
        fused: bool = False,
    ) -> None:
        self._path = path
        self._fused = fused
        self._output = output
        self.threads = threads or usable_cores()
        self._lock = threading.Lock()
        self._session: Any = None

    def load(self) -> None:
        """Read the model now rather than at first use. ModelError: it cannot be read."""
        self._loaded()

    def close(self) -> None:
        """Release the memory; a later run loads the model again."""
        with self._lock:
            self._session = None

    def run(
        self,
        ids: NDArray[np.int64],
        mask: NDArray[np.int64],
        types: NDArray[np.int64] | None = None,
    ) -> FloatArray:
        """Return the model's output for arrays of shape (batch, tokens).

        Of the inputs that models of this kind have, it gets those it asks for.

        Args:
            ids: token ids.
            mask: 1 where there is a token.
            types: which text of a pair a token belongs to; all of the first when None.

        Raises:
            ModelError: the model cannot be loaded or fails.
        """
        session = self._loaded()
        feed = {
            "input_ids": ids,
            "attention_mask": mask,
            "token_type_ids": np.zeros_like(ids) if types is None else types,
            "position_ids": np.broadcast_to(np.arange(ids.shape[1], dtype=np.int64), ids.shape),
        }
        wanted = {item.name: feed[item.name] for item in session.get_inputs() if item.name in feed}
        names = None if self._output is None else [self._output]
        try:
            output: FloatArray = session.run(names, wanted)[0]
        except Exception as error:  # the runtime has no common base for its errors
            raise ModelError(
                f"the model {self._path.name} failed: {error}: check its card, or use another model"
            ) from error
        return output

    def _loaded(self) -> Any:  # noqa: ANN401 - the library has no type information
        with self._lock:
            if self._session is None:
                self._session = _build(self._path, fused=self._fused)
            return self._session


def _build(path: Path, *, fused: bool) -> Any:  # noqa: ANN401 - as above
    import onnxruntime  # noqa: PLC0415 - only where it is used

    onnxruntime.disable_telemetry_events()
    try:
        return onnxruntime.InferenceSession(
            str(path), _options(onnxruntime, fused=fused), providers=["CPUExecutionProvider"]
        )
    except Exception as error:  # as above
        raise ModelError(
            f"cannot load the model {path}: {error}: reinstall or download the model again"
        ) from error


def _options(onnxruntime: Any, *, fused: bool) -> Any:  # noqa: ANN401 - as above
    options = onnxruntime.SessionOptions()
    # Whole batches side by side need less processor time than the parts of one, and no waiting.
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = 3  # errors only: a library does not write to its host's terminal
    if fused:
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    return options


def usable_cores() -> int:
    """Return the number of physical cores this process may run on, at least 1.

    Two threads of one core share its arithmetic units: more threads than cores slow a model down.
    """
    affinity = getattr(os, "sched_getaffinity", None)
    processors = affinity(0) if affinity else set(range(os.cpu_count() or 1))
    return max(1, len({_core_of(processor) for processor in processors}))


def _core_of(processor: int) -> str:
    siblings = TOPOLOGY / f"cpu{processor}" / "topology" / "thread_siblings_list"
    try:
        return siblings.read_text(encoding="ascii").strip()
    except OSError:
        return str(processor)
