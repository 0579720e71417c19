import json

import pytest

from localrag.formats.front_matter import read_front_matter


@pytest.mark.parametrize(
    ("source", "properties"),
    [
        ("", {}),
        ("# only a comment", {}),
        ("title: 設計メモ\ntags: [draft, 1]", {"title": "設計メモ", "tags": ["draft", 1]}),
        ("date: 2024-05-01", {"date": "2024-05-01"}),
        ("at: 2024-05-01T10:00:00Z", {"at": "2024-05-01T10:00:00+00:00"}),
        ("x: .nan\ny: 1.5\nz: null\nb: true", {"x": "nan", "y": 1.5, "z": None, "b": True}),
        ("1: {2: three}", {"1": {"2": "three"}}),
        ("s: !!set {a}", {"s": ["a"]}),
        ("b: !!binary aGk=", {"b": "b'hi'"}),
        ("just a sentence", None),
        ("- a\n- list", None),
    ],
)
def test_properties(source: str, properties: dict[str, object] | None) -> None:
    found = read_front_matter(source)
    assert found == properties
    json.dumps(found, allow_nan=False)


BILLION = "a: &a [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{chr(letter + 1)}: &{chr(letter + 1)} [{', '.join([f'*{chr(letter)}'] * 10)}]\n"
    for letter in range(ord("a"), ord("i"))
)


@pytest.mark.parametrize(
    "source",
    [
        "a: [",
        "a: b: c",
        "d: 2024-13-45",
        "x: !!python/object:os.system {}",
        BILLION,
        "a: &a [*a]",
        "[" * 5_000,
        "\x01",
    ],
)
def test_invalid(source: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        read_front_matter(source)
