"""Makes what comes from outside into typed values, or says in words what is wrong with it.

Model cards, settings and the answers of servers. What a field may hold stands in its annotation,
once; msgspec checks it. A search imports this module, which is why it is not pydantic that does: to
import that and to build its classes took a search 100 ms, and this takes 10.
"""

from __future__ import annotations

import re
from typing import Any, Final, Literal, TypeVar, get_args, get_origin, get_type_hints

from msgspec import DecodeError, Struct, ValidationError, convert, json
from msgspec.inspect import is_struct_type

__all__ = ["Frozen", "InvalidValueError", "checked", "checked_json", "choices"]

Checked = TypeVar("Checked")

MESSAGE: Final = re.compile(r"(?P<problem>.*?)(?: - at `\$\.?(?P<place>[^`]*)`)?", re.DOTALL)
UNKNOWN: Final = re.compile(r"Object contains unknown field `(.*)`", re.DOTALL)
MISSING: Final = re.compile(r"Object missing required field `(.*)`", re.DOTALL)


class Frozen(Struct, frozen=True, forbid_unknown_fields=True):
    """Base of everything that is read from a file of facts: nothing in it may be unknown.

    Classes repeat ``frozen`` and ``kw_only``, for type checkers and since the latter is not
    inherited. Only `checked` and `checked_json` check types and limits; calling the class does not.
    """


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
        value: a number, a text, a list, a mapping.
        kind: a class of fields, or any annotation.
        strict: whether a number that is written as a text is refused.

    Raises:
        InvalidValueError: it is none; the first thing that is wrong.
    """
    try:
        return convert(value, kind, strict=strict)
    except ValidationError as error:
        raise _explained(error, kind) from None  # its own text might show a password


def checked_json(data: bytes, kind: type[Checked]) -> Checked:
    """Return the JSON `data` as a `kind`.

    Raises:
        InvalidValueError: it is none, or no JSON; the first thing that is wrong.
    """
    try:
        return json.decode(data, type=kind)
    except ValidationError as error:
        raise _explained(error, kind) from None
    except (DecodeError, UnicodeDecodeError) as error:
        raise InvalidValueError("", str(error)) from None


def choices(annotation: Any) -> tuple[object, ...]:  # noqa: ANN401 - annotations have no type
    """Return what a field may be by its annotation, where that is one of a few; else nothing."""
    if get_origin(annotation) is Literal:
        return get_args(annotation)
    return tuple(value for part in get_args(annotation) for value in choices(part))


def _explained(error: ValidationError, kind: type) -> InvalidValueError:
    found = MESSAGE.fullmatch(str(error))
    problem, place = (found["problem"], found["place"] or "") if found else (str(error), "")
    field = re.sub(r"\[(.*?)\]", r".\1", place).strip(".")
    if unknown := UNKNOWN.fullmatch(problem):
        return InvalidValueError(_below(field, unknown[1]), "there is no such field")
    if missing := MISSING.fullmatch(problem):
        return InvalidValueError(_below(field, missing[1]), "is missing", missing=True)
    if problem.startswith("Invalid enum value"):
        # `kind` need not be a class: an annotation such as tuple[X, ...] has no fields.
        fields = get_type_hints(kind) if is_struct_type(kind) else {}
        allowed = ", ".join(map(str, choices(fields.get(field, kind))))
        problem += f": use one of {allowed}" if allowed else ""
    return InvalidValueError(field, problem)


def _below(field: str, name: str) -> str:
    return f"{field}.{name}" if field else name
