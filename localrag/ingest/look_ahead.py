"""Work done ahead of the one who needs it: files are read while others are embedded."""

from __future__ import annotations

from collections import deque
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import TYPE_CHECKING, Final, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator

__all__ = ["look_ahead"]

Item = TypeVar("Item")
Result = TypeVar("Result")

MOST_ITEMS: Final = 32
MOST_WEIGHT: Final = 8_000_000
"""Of all items that are ahead, but one is always let through; for files: bytes. A parsed document
takes several times its file in memory."""
PATIENCE: Final = 0.25
"""Seconds until an item that is not ready lets those behind it pass."""


def look_ahead(
    work: Callable[[Item], Result],
    items: Iterable[Item],
    *,
    weight: Callable[[Item], int],
    threads: int,
) -> Generator[tuple[Item, Result]]:
    """Yield each item with ``work(item)``, which `threads` threads do ahead, within bounds.

    Items come in their order, except that a slow one holds nobody up. What `work` raises is raised
    here. Closing the generator waits for the work that has begun.
    """
    pool = ThreadPoolExecutor(threads, thread_name_prefix="localrag-reader")
    try:
        yield from _results(pool, work, iter(items), weight)
    finally:
        pool.shutdown(cancel_futures=True)


def _results(
    pool: ThreadPoolExecutor,
    work: Callable[[Item], Result],
    items: Iterator[Item],
    weight: Callable[[Item], int],
) -> Iterator[tuple[Item, Result]]:
    waiting: deque[tuple[Item, Future[Result]]] = deque()
    slow: list[tuple[Item, Future[Result]]] = []
    ahead = 0
    following = next(items, None)
    while waiting or slow or following is not None:
        while following is not None:
            size = weight(following)
            if not _has_room(len(waiting) + len(slow), ahead + size):
                break
            waiting.append((following, pool.submit(work, following)))
            ahead += size
            following = next(items, None)
        item, future = _next(waiting, slow)
        ahead -= weight(item)
        yield item, future.result()


def _has_room(count: int, weight: int) -> bool:
    return not count or (count < MOST_ITEMS and weight <= MOST_WEIGHT)


def _next(
    waiting: deque[tuple[Item, Future[Result]]], slow: list[tuple[Item, Future[Result]]]
) -> tuple[Item, Future[Result]]:
    """Take out the first item that is ready; wait where none is."""
    while True:
        ready = next((one for one in slow if one[1].done()), None)
        if ready is not None:
            slow.remove(ready)
            return ready
        if not waiting:
            wait([future for _, future in slow], return_when=FIRST_COMPLETED)
            continue
        first = waiting.popleft()
        if wait([first[1]], timeout=PATIENCE).done:
            return first
        slow.append(first)
