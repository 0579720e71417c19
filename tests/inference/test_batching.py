from __future__ import annotations

import threading
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from localrag.inference.batching import BATCH_TOKENS, Batch, pad, plan_batches, run_batches

LENGTHS = st.lists(st.integers(min_value=0, max_value=600), max_size=80)


@given(LENGTHS, st.integers(min_value=1, max_value=5_000))
def test_every_input_once_within_the_budget(lengths: list[int], budget: int) -> None:
    batches = plan_batches(lengths, budget)
    members = [member for batch in batches for member in batch.members]
    assert sorted(members) == list(range(len(lengths)))
    for batch in batches:
        assert batch.length == max(lengths[member] for member in batch.members)
        assert len(batch.members) == 1 or len(batch.members) * batch.length <= budget


@given(LENGTHS)
def test_sorted_so_that_padding_is_small(lengths: list[int]) -> None:
    order = [member for batch in plan_batches(lengths, 512) for member in batch.members]
    ordered = [lengths[member] for member in order]
    assert ordered == sorted(lengths, reverse=True)


def test_equal_lengths_keep_the_callers_order() -> None:
    assert plan_batches([5, 5, 7], 14) == (Batch((2, 0), 7), Batch((1,), 5))


def test_pad_marks_what_is_real() -> None:
    ids, mask = pad([[7, 8, 9], [5]])
    np.testing.assert_array_equal(ids, [[7, 8, 9], [5, 0, 0]])
    np.testing.assert_array_equal(mask, [[1, 1, 1], [1, 0, 0]])
    assert ids.dtype == mask.dtype == np.int64


@pytest.mark.parametrize("budget", [1, 100])
def test_no_inputs_no_batches(budget: int) -> None:
    assert plan_batches([], budget) == ()


@pytest.mark.parametrize("threads", [1, 3])
def test_every_batch_runs_once(threads: int) -> None:
    lengths = [BATCH_TOKENS // 2] * 7
    ran: list[Batch] = []
    run_batches(ran.append, lengths, threads)
    assert sorted(ran, key=lambda batch: batch.members) == list(plan_batches(lengths, BATCH_TOKENS))


def test_batches_run_side_by_side() -> None:
    both_began = threading.Barrier(2, timeout=10)

    def wait_for_the_other(_: Batch) -> None:
        both_began.wait()

    run_batches(wait_for_the_other, [BATCH_TOKENS] * 2, 2)


def test_one_thread_is_the_callers() -> None:
    names: list[str] = []
    run_batches(lambda _: names.append(threading.current_thread().name), [BATCH_TOKENS] * 2, 1)
    run_batches(lambda _: names.append(threading.current_thread().name), [1, 2], 4)
    assert set(names) == {threading.current_thread().name}


@pytest.mark.parametrize("threads", [1, 2])
def test_an_error_keeps_other_batches_from_beginning(threads: int) -> None:
    began: list[Batch] = []

    def fail_at_first(batch: Batch) -> None:
        began.append(batch)
        if batch.members == (0,):
            raise ValueError("cannot be read")
        time.sleep(0.02)

    with pytest.raises(ValueError, match="cannot be read"):
        run_batches(fail_at_first, [BATCH_TOKENS] * 200, threads)
    assert len(began) < 200
