from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from localrag.errors import SettingsError
from localrag.text.globs import glob_regex, named_parts


def matches(pattern: str, path: str) -> bool:
    return re.fullmatch(glob_regex(pattern), path, re.DOTALL) is not None


@pytest.mark.parametrize(
    ("pattern", "path", "expected"),
    [
        ("notes/**", "notes/a.md", True),
        ("notes/**", "notes/deep/er/a.md", True),
        ("notes/**", "notes", False),
        ("notes/**", "other/notes/a.md", False),
        ("notes", "notes/a.md", True),
        ("notes/", "notes/a.md", True),
        ("notes", "notes2/a.md", False),
        ("*.md", "a.md", True),
        ("*.md", "deep/a.md", False),
        ("*.md", "a.md/inside.txt", True),
        ("**/*.md", "a.md", True),
        ("**/*.md", "x/y/a.md", True),
        ("**", "x/y", True),
        ("a/**/b", "a/b", True),
        ("a/**/b", "a/x/y/b", True),
        ("a/**/b", "a/xb", False),
        ("a**b", "axxb", True),
        ("a**b", "ax/xb", False),
        ("?.md", "a.md", True),
        ("?.md", "ab.md", False),
        ("a?b", "a/b", False),
        ("[ab].md", "a.md", True),
        ("[!ab].md", "a.md", False),
        ("[!ab].md", "c.md", True),
        ("[^ab].md", "c.md", True),
        ("x[!a]y", "x/y", False),
        ("[a-c]1", "b1", True),
        ("[]x]1", "]1", True),
        ("[z-a]", "[z-a]", True),
        ("[a", "[a", True),
        ("a.md", "aXmd", False),
        ("{client}/a", "{client}/a", True),
        ("鍵/*", "鍵/交換.md", True),
        (r"C:/docs/*.md", r"C:\docs\a.md", True),
        ("line\nbreak", "line\nbreak", True),
    ],
)
def test_a_pattern_matches(pattern: str, path: str, expected: bool) -> None:
    assert matches(pattern, path) is expected


@given(st.text())
def test_any_text_is_a_pattern(pattern: str) -> None:
    re.compile(glob_regex(pattern))


@given(st.text(alphabet=st.characters(blacklist_characters="*?[/\\"), min_size=1))
def test_a_text_without_signs_matches_itself(text: str) -> None:
    assert matches(text, text)


@pytest.mark.parametrize(
    ("pattern", "path", "expected"),
    [
        (
            "clients/{client}/{year}/**",
            "clients/acme/2024/x/y.md",
            {"client": "acme", "year": "2024"},
        ),
        ("{year}-{month}-*.md", "2024-05-notes.md", {"year": "2024", "month": "05"}),
        ("clients/{client}/**", "other/acme/a.md", {}),
        ("{name}", "deep/file", {"name": "deep"}),
        ("**/{file}.md", "x/y/z.md", {"file": "z"}),
    ],
)
def test_named_parts_are_kept(pattern: str, path: str, expected: dict[str, str]) -> None:
    assert named_parts(pattern, path) == expected


@pytest.mark.parametrize("pattern", ["{a b}/x", "{}/x", "{1}/x", "{a}/{a}"])
def test_a_wrong_name_is_refused_with_the_way_out(pattern: str) -> None:
    with pytest.raises(SettingsError, match=r"Write each part once"):
        named_parts(pattern, "")
