"""Makes what comes from outside into typed values, or says in words what is wrong with it.

Model cards, settings and the answers of servers. What a field may hold stands in its annotation,
once; pydantic checks it. A search of a base with the models that ship has nothing to check, so that
pydantic is imported where there is: it takes such a search 90 ms (docs/decisions.md). Therefore the
classes are those of the standard library, and their limits are `Limits`.
"""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated, Any, Final, TypeVar

if TYPE_CHECKING:
    from pydantic import GetCoreSchemaHandler, TypeAdapter, ValidationError
    from pydantic_core import CoreSchema

__all__ = ["Facts", "InvalidValueError", "Limits", "checked", "checked_json"]

Checked = TypeVar("Checked")

UNKNOWN: Final = "unexpected_keyword_argument"
"""pydantic's name for a field that a class does not have."""
SUBJECT: Final = re.compile(r"^\w+ should\b")
"""How pydantic begins: "Input should be", "String should have"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What a value must keep to, as metadata of an annotation: ``Annotated[int, Limits(ge=1)]``.

    pydantic's own, and those of annotated-types, take 10 ms and more to import.
    """

    ge: float | None = None
    gt: float | None = None
    le: float | None = None
    min_length: int | None = None
    pattern: str | None = None
    """A regular expression of Rust, where ``$`` is the end, never a line break before it."""

    def __get_pydantic_core_schema__(self, kind: type, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Return the check of a `kind` within these limits."""
        from pydantic import Field  # noqa: PLC0415 - only where something is checked

        return handler.generate_schema(Annotated[kind, Field(**asdict(self))])


class Facts:
    """Base of the dataclasses that are read from files of facts.

    Nothing in them may be unknown, and every number is one. Only `checked` and `checked_json` look
    at types and limits; calling the class does not.
    """

    __pydantic_config__ = {"extra": "forbid", "allow_inf_nan": False}  # noqa: RUF012 - pydantic's


class InvalidValueError(ValueError):
    """A value that is not what it must be.

    Attributes:
        field: the names and positions on the way to what is wrong, joined by points; empty for the
            whole.
        problem: what is wrong with it.
        missing: whether it is not there at all.
    """

    def __init__(self, field: str, problem: str, *, missing: bool = False) -> None:
        super().__init__(f"{field}: {problem}" if field else problem)
        self.field = field
        self.problem = problem
        self.missing = missing


def checked(value: object, kind: type[Checked], *, strict: bool = True) -> Checked:
    """Return `value`, made of what JSON knows, as a `kind`.

    Args:
        value: a number, a text, a list, a mapping; a dataclass stands for the mapping of its
            fields.
        kind: a dataclass, or any annotation.
        strict: whether a number that is written as a text is refused.

    Raises:
        InvalidValueError: it is none; the first thing that is wrong.
    """
    if strict:
        # As JSON: of Python's own values a strict check would want tuples and ready objects.
        try:
            data = json.dumps(value, default=asdict).encode()
        except TypeError:
            raise InvalidValueError("", "give a text, a number, true or false, or null") from None
        return checked_json(data, kind)
    from pydantic import ValidationError  # noqa: PLC0415 - only where something is checked

    try:
        return _adapter(kind).validate_python(value)
    except ValidationError as error:
        raise _explained(error) from None


def checked_json(data: bytes, kind: type[Checked]) -> Checked:
    """Return the JSON `data` as a `kind`.

    Raises:
        InvalidValueError: it is none, or no JSON; the first thing that is wrong.
    """
    from pydantic import ValidationError  # noqa: PLC0415 - only where something is checked

    try:
        return _adapter(kind).validate_json(data, strict=True)
    except ValidationError as error:
        raise _explained(error) from None  # its own text might show a password


_adapters: Final[dict[object, Any]] = {}


def _adapter(kind: type[Checked]) -> TypeAdapter[Checked]:
    """Return what checks for a `kind`; it is made once, as that takes a millisecond and more."""
    from pydantic import TypeAdapter  # noqa: PLC0415 - only where something is checked

    if kind not in _adapters:
        _adapters[kind] = TypeAdapter(kind)
    adapter: TypeAdapter[Checked] = _adapters[kind]
    return adapter


def _explained(error: ValidationError) -> InvalidValueError:
    """Return the first of what is wrong; before it an unknown field, which is often misspelt."""
    found = min(error.errors(include_url=False), key=lambda one: one["type"] != UNKNOWN)
    field = ".".join(map(str, found["loc"]))
    if found["type"] == UNKNOWN:
        return InvalidValueError(field, "there is no such field")
    match found["type"]:
        case "missing":
            return InvalidValueError(field, "is missing", missing=True)
        case "literal_error":
            problem = f"there is no {found['input']!r}: use {found['ctx']['expected']}"
        case "dataclass_type":
            problem = "must be an object"
        case "value_error":
            problem = str(found["ctx"]["error"])
        case _:
            problem = SUBJECT.sub("must", found["msg"])
    return InvalidValueError(field, problem)
