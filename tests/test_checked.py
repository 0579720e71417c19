"""What is wrong with a value from outside is said by the name of its field."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest

from localrag.checked import Facts, InvalidValueError, Limits, checked, checked_json


@dataclass(frozen=True, kw_only=True)
class Wheel(Facts):
    inches: Annotated[int, Limits(ge=1)]
    colour: Literal["red", "blue"] | None = None


@dataclass(frozen=True, kw_only=True)
class Cart(Facts):
    name: Annotated[str, Limits(pattern=r"^[a-z]+$")]
    kind: Literal["hand", "ox"] = "hand"
    wheels: Annotated[tuple[Wheel, ...], Limits(min_length=1)] = ()
    weight: float = 0.0

    def __post_init__(self) -> None:
        if self.kind == "ox" and not self.wheels:
            raise ValueError("an ox needs wheels")


def test_what_fits_is_returned_with_its_types_and_defaults() -> None:
    made = checked({"name": "a", "wheels": [{"inches": 9}], "weight": 2}, Cart)
    assert made == Cart(name="a", kind="hand", wheels=(Wheel(inches=9),), weight=2.0)
    assert checked_json(b'{"name": "a", "wheels": [{"inches": 9}], "weight": 2}', Cart) == made


@pytest.mark.parametrize(
    ("facts", "field", "problem"),
    [
        ({"name": "A"}, "name", "must match pattern"),
        ({"name": "a\n"}, "name", "must match pattern"),
        ({"name": 3}, "name", "must be a valid string"),
        ({"name": "a", "kind": "dog"}, "kind", "there is no 'dog': use 'hand' or 'ox'"),
        ({"name": "a", "weight": "3"}, "weight", "must be a valid number"),
        (
            {"name": "a", "wheels": [{"inches": 0}]},
            "wheels.0.inches",
            "must be greater than",
        ),
        ({"name": "a", "wheels": [{"inches": 1}, {}]}, "wheels.1.inches", "is missing"),
        ({"name": "a", "wheels": [{"size": 1}]}, "wheels.0.size", "there is no such field"),
        ({"name": "a", "wheels": [{"size": 1}, 3]}, "wheels.0.size", "there is no such field"),
        ({"name": "a", "wheels": []}, "wheels", "must have at least 1 item"),
        ({"name": "a", "weight": float("nan")}, "weight", "must be a finite number"),
        ({"name": "a", "wheels": [3]}, "wheels.0", "must be an object"),
        ({"name": Path("a")}, "", "give a text, a number"),
        ({"nane": "a"}, "nane", "there is no such field"),
        ({}, "name", "is missing"),
        ({"name": "a", "kind": "ox"}, "", "an ox needs wheels"),
        ([], "", "must be an object"),
    ],
)
def test_what_is_wrong_is_named(facts: Any, field: str, problem: str) -> None:
    with pytest.raises(InvalidValueError) as caught:
        checked(facts, Cart)
    assert caught.value.field == field
    assert caught.value.problem.startswith(problem)
    assert str(caught.value) == (
        f"{field}: {caught.value.problem}" if field else caught.value.problem
    )
    assert caught.value.missing == (problem == "is missing")
    assert caught.value.__cause__ is None


def test_a_choice_deep_inside_is_named_with_the_allowed_ones() -> None:
    with pytest.raises(
        InvalidValueError, match=r"^0\.colour: there is no 'green': use 'red' or 'blue'$"
    ):
        checked([{"inches": 1, "colour": "green"}], tuple[Wheel, ...])


@pytest.mark.parametrize("data", [b"", b"{", b"nothing", b'{"name": "\xff"}'])
def test_what_is_no_json_is_wrong_as_a_whole(data: bytes) -> None:
    with pytest.raises(InvalidValueError) as caught:
        checked_json(data, Cart)
    assert caught.value.field == ""


def test_a_number_may_be_written_as_a_text_where_that_is_allowed() -> None:
    assert checked({"inches": "3"}, Wheel, strict=False) == Wheel(inches=3)


def test_what_was_checked_cannot_be_changed() -> None:
    with pytest.raises(FrozenInstanceError):
        Wheel(inches=1).inches = 2  # type: ignore[misc]
