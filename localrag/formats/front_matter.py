"""The YAML in front of a Markdown file becomes JSON-compatible metadata."""

from __future__ import annotations

import datetime as dt
import math
from typing import TYPE_CHECKING

import yaml

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["read_front_matter"]

_MOST_VALUES = 10_000


def read_front_matter(source: str) -> dict[str, object] | None:
    """Return the properties in `source`; None where it is no front matter but a text between rules.

    Raises:
        ValueError: the YAML is invalid, or expands without bound.
    """
    try:
        value = yaml.safe_load(source)
        if value is None:
            return {}
        budget = iter(range(_MOST_VALUES))
        return _properties(value, budget) if isinstance(value, dict) else None
    except (yaml.YAMLError, RecursionError, OverflowError) as error:
        raise ValueError(str(error)) from error


def _properties(value: dict[object, object], budget: Iterator[int]) -> dict[str, object]:
    return {str(key): _json_compatible(item, budget) for key, item in value.items()}


def _json_compatible(value: object, budget: Iterator[int]) -> object:
    # An alias may repeat a list that repeats a list: ten lines stand for a billion values.
    if next(budget, None) is None:
        raise ValueError(f"more than {_MOST_VALUES} values")
    match value:
        case dict():
            return _properties(value, budget)
        case list() | tuple() | set():
            return [_json_compatible(item, budget) for item in value]
        case dt.date() | dt.datetime():
            return value.isoformat()
        case float() if not math.isfinite(value):
            return str(value)
        case str() | bool() | int() | float() | None:
            return value
        case _:
            return str(value)
