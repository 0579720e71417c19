from __future__ import annotations

import threading
import time
from contextlib import closing

import pytest

from localrag.ingest import look_ahead as look_ahead_module
from localrag.ingest.look_ahead import MOST_ITEMS, MOST_WEIGHT, look_ahead


def light(_: int) -> int:
    return 1


def test_results_come_in_the_order_of_the_items() -> None:
    found = look_ahead(lambda item: item * 2, range(200), weight=light, threads=4)
    assert list(found) == [(item, item * 2) for item in range(200)]
    assert list(look_ahead(str, [], weight=light, threads=2)) == []


def test_work_goes_on_while_the_caller_is_busy() -> None:
    done: list[int] = []
    with closing(look_ahead(done.append, range(5), weight=light, threads=1)) as ahead:
        next(ahead)
        for _ in range(200):
            if len(done) == 5:
                break
            time.sleep(0.01)
        assert done == [0, 1, 2, 3, 4]


def test_a_slow_item_holds_nobody_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(look_ahead_module, "PATIENCE", 0.02)
    release = threading.Event()

    def work(item: int) -> int:
        if item == 0:
            assert release.wait(timeout=30)
        return item

    order = []
    for item, _ in look_ahead(work, range(6), weight=light, threads=2):
        order.append(item)
        if len(order) == 5:
            release.set()
    assert order == [1, 2, 3, 4, 5, 0]


def test_a_slow_item_comes_as_soon_as_it_is_ready(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(look_ahead_module, "PATIENCE", 0.02)
    both = [threading.Event(), threading.Event()]

    def work(item: int) -> int:
        if item < 2:
            assert both[item].wait(timeout=30)
        return item

    threading.Timer(0.2, both[1].set).start()
    threading.Timer(0.4, both[0].set).start()
    assert [item for item, _ in look_ahead(work, range(2), weight=light, threads=2)] == [1, 0]


@pytest.mark.parametrize(("weight", "most"), [(1, MOST_ITEMS), (MOST_WEIGHT // 4, 4)])
def test_what_is_ahead_is_bounded_in_number_and_in_weight(weight: int, most: int) -> None:
    begun: list[int] = []
    ahead = look_ahead(begun.append, range(100), weight=lambda _: weight, threads=8)
    with closing(ahead):
        for taken in range(1, 4):
            next(ahead)
            time.sleep(0.05)
            assert len(begun) <= most + taken


def test_one_item_is_let_through_whatever_its_weight() -> None:
    found = look_ahead(str, range(3), weight=lambda _: 10 * MOST_WEIGHT, threads=2)
    assert list(found) == [(0, "0"), (1, "1"), (2, "2")]


def test_an_error_is_raised_where_its_item_would_come() -> None:
    ahead = look_ahead(lambda item: 1 // (item - 2), range(5), weight=light, threads=1)
    assert next(ahead) == (0, -1)
    assert next(ahead) == (1, -1)
    with pytest.raises(ZeroDivisionError):
        next(ahead)


def test_closing_does_not_begin_what_is_waiting() -> None:
    begun: list[int] = []

    def work(item: int) -> None:
        begun.append(item)
        time.sleep(0.05)

    ahead = look_ahead(work, range(20), weight=light, threads=1)
    next(ahead)
    ahead.close()
    assert len(begun) < 10
    assert not [one for one in threading.enumerate() if one.name.startswith("localrag-reader")]
