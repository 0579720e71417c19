"""What the oldest interpreters of a supported version get wrong."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

POSSESSIVE_GROUP = re.compile(r"(?<!\\)\)(?:[*+?]|\{[\d,]+\})\+(?![^\"']*\])")
"""A group that is repeated possessively. Before 3.11.5 Python goes on at the wrong place after one
that fails halfway (CPython issue 106052): on Debian 12 most words were cut wrongly."""


def test_the_pattern_tells_groups_from_single_characters() -> None:
    assert POSSESSIVE_GROUP.search(r'"(?:[^"]|\\.)*+"')
    assert POSSESSIVE_GROUP.search(r"(?:ab){2,3}+")
    assert not POSSESSIVE_GROUP.search(r'"[^"]*+(?:\\.)*"')
    assert not POSSESSIVE_GROUP.search(r"\)*+x")


def test_no_group_is_repeated_possessively(root: Path) -> None:
    found = [
        f"{path.relative_to(root)}:{number}"
        for path in sorted((root / "localrag").rglob("*.py"))
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        if POSSESSIVE_GROUP.search(line)
    ]
    assert found == []
