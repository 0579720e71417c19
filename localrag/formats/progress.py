"""Lets a reader say that it gets on, so that its time counts anew.

A page that is read from its picture takes seconds and a scanned book has hundreds of them: a limit
on the whole file could not tell it from a file that hangs.
"""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["goes_on", "hearing"]

_HEARD: ContextVar[Callable[[], None] | None] = ContextVar("heard", default=None)


def goes_on() -> None:
    """Tell whoever waits for the reader, if anybody does, that a costly part of it is done."""
    if heard := _HEARD.get():
        heard()


@contextmanager
def hearing(heard: Callable[[], None]) -> Iterator[None]:
    """Have `heard` called whenever a reader goes on within the block."""
    token = _HEARD.set(heard)
    try:
        yield
    finally:
        _HEARD.reset(token)
