"""The one loop that runs every stage and writes down what it let through."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from localrag.records import SearchState, StageRecord, Trace

if TYPE_CHECKING:
    from collections.abc import Sequence

    from localrag.records import Stage

__all__ = ["run_stages"]


def run_stages(stages: Sequence[Stage], query: str) -> tuple[SearchState, Trace]:
    """Run `stages` in order on `query`; return the last state and the trace of all of them."""
    created_at = datetime.now(UTC).isoformat(timespec="seconds")
    state = SearchState(query=query, queries=(query,))
    records = []
    for stage in stages:
        state, record = run_stage(stage, state)
        records.append(record)
    return state, Trace(id=None, query=query, created_at=created_at, stages=tuple(records))


def run_stage(stage: Stage, state: SearchState) -> tuple[SearchState, StageRecord]:
    """Run one stage; return its state and its record: name, time, survivors, remark."""
    started = time.perf_counter()
    state = stage(state)
    milliseconds = (time.perf_counter() - started) * 1000
    return state, StageRecord(stage.name, milliseconds, state.survivors, state.note)
