from __future__ import annotations

import pytest

from localrag.text.values import typed_value


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2024", 2024),
        ("-3", -3),
        ("0", 0),
        ("3.50", 3.5),
        ("true", True),
        ("False", False),
        ("007", "007"),
        ("1e5", "1e5"),
        ("12345678901234567890", "12345678901234567890"),
        ("2024-01-31", "2024-01-31"),
        ("nan", "nan"),
        ("٣", "٣"),
        ("", ""),
        ("sales", "sales"),
    ],
)
def test_what_looks_like_a_number_is_one(text: str, expected: object) -> None:
    value = typed_value(text)
    assert value == expected
    assert type(value) is type(expected)
