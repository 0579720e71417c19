"""What is wrong with a value from outside is said by the name of its field."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import pytest
from msgspec import Meta

from localrag.checked import Frozen, InvalidValueError, checked, checked_json, choices


class Wheel(Frozen, frozen=True, kw_only=True):
    inches: Annotated[int, Meta(ge=1)]
    colour: Literal["red", "blue"] | None = None


class Cart(Frozen, frozen=True, kw_only=True):
    name: Annotated[str, Meta(pattern=r"^[a-z]+\Z")]
    kind: Literal["hand", "ox"] = "hand"
    wheels: Annotated[tuple[Wheel, ...], Meta(max_length=4)] = ()
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
        ({"name": "A"}, "name", "Expected `str` matching regex"),
        ({"name": "a\n"}, "name", "Expected `str` matching regex"),
        ({"name": 3}, "name", "Expected `str`, got `int`"),
        ({"name": "a", "kind": "dog"}, "kind", "Invalid enum value 'dog': use one of hand, ox"),
        ({"name": "a", "weight": "3"}, "weight", "Expected `float`, got `str`"),
        ({"name": "a", "wheels": [{"inches": 0}]}, "wheels.0.inches", "Expected `int` >= 1"),
        ({"name": "a", "wheels": [{"inches": 1}, {}]}, "wheels.1.inches", "is missing"),
        ({"name": "a", "wheels": [{"size": 1}]}, "wheels.0.size", "there is no such field"),
        ({"name": "a", "wheels": [{"inches": 1}] * 5}, "wheels", "Expected `array` of length <= 4"),
        ({"name": "a", "a ` - at `$.b`": 1}, "a ` - at `$.b`", "there is no such field"),
        ({}, "name", "is missing"),
        ({"name": "a", "kind": "ox"}, "", "an ox needs wheels"),
        ([], "", "Expected `object`, got `array`"),
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


def test_a_choice_deep_inside_is_named_without_the_allowed_ones() -> None:
    with pytest.raises(InvalidValueError, match=r"^0\.colour: Invalid enum value 'green'$"):
        checked([{"inches": 1, "colour": "green"}], tuple[Wheel, ...])


@pytest.mark.parametrize("data", [b"", b"{", b"nothing", b'{"name": "\xff"}'])
def test_what_is_no_json_is_wrong_as_a_whole(data: bytes) -> None:
    with pytest.raises(InvalidValueError) as caught:
        checked_json(data, Cart)
    assert caught.value.field == ""


def test_a_number_may_be_written_as_a_text_where_that_is_allowed() -> None:
    assert checked({"inches": "3"}, Wheel, strict=False) == Wheel(inches=3)


def test_the_choices_of_an_annotation() -> None:
    assert choices(Literal["a", "b"]) == ("a", "b")
    assert choices(Literal["a"] | None) == ("a",)
    assert choices(Annotated[int, Meta(ge=1)]) == ()


def test_what_was_checked_cannot_be_changed() -> None:
    with pytest.raises(AttributeError, match="immutable"):
        Wheel(inches=1).inches = 2  # type: ignore[misc]
