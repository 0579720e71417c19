from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from localrag.inference.batching import Batch, pad, plan_batches

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
