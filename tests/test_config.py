from __future__ import annotations

import pytest

from localrag.checked import checked
from localrag.config import Settings, make_settings, setting_kinds
from localrag.errors import SettingsError


def test_settings_that_are_not_named_keep_their_defaults() -> None:
    assert make_settings(rrf_k=7) == Settings(rrf_k=7)
    assert make_settings() == Settings()


@pytest.mark.parametrize("name", setting_kinds())
def test_the_defaults_which_are_used_unchecked_are_allowed(name: str) -> None:
    value = getattr(Settings(), name)
    assert checked(value, setting_kinds()[name]) == value


@pytest.mark.parametrize(
    ("values", "problem"),
    [
        ({"chunk_tokens": 1}, "chunk_tokens: "),
        ({"colour": "blue"}, "colour: "),
        ({"chunking": ["fixed"]}, "chunking: "),
        ({"glossary": 1}, "glossary: "),
        ({"rrf_k": 60.0}, "rrf_k: "),
        ({"chunk_tokens": "300"}, "chunk_tokens: "),
        ({"min_relevance": 1.5, "rrf_k": 0}, "rrf_k: .*min_relevance: "),
        ({"chunk_tokens": 64, "overlap_tokens": 33}, "at most half of chunk_tokens"),
        (
            {"chunking": "semantic"},
            "chunking: there is no 'semantic': use 'structural', 'fixed'",
        ),
        ({"chunking": "record", "overlap_tokens": 5}, "record chunks do not overlap"),
        (
            {"context_line": "long"},
            "context_line: there is no 'long': use 'full', 'words'",
        ),
    ],
)
def test_impossible_settings_are_named_with_where_to_look(
    values: dict[str, object], problem: str
) -> None:
    with pytest.raises(SettingsError, match=problem + r".*See docs/settings\.md"):
        make_settings(**values)


def test_settings_cannot_be_changed_afterwards() -> None:
    with pytest.raises(AttributeError, match="cannot assign"):
        make_settings().rrf_k = 1  # type: ignore[misc]


@pytest.mark.parametrize(
    ("values", "sizes"),
    [
        ({}, (300, 50)),
        ({"chunk_tokens": 60}, (60, 30)),
        ({"chunking": "fixed"}, (300, 50)),
        ({"chunking": "sentence-window"}, (100, 0)),
        ({"chunking": "parent-child", "chunk_tokens": 150}, (150, 0)),
        ({"chunking": "record"}, (100, 0)),
    ],
)
def test_the_way_of_cutting_decides_the_sizes(
    values: dict[str, object], sizes: tuple[int, int]
) -> None:
    settings = make_settings(**values)
    assert (settings.chunk_tokens, settings.overlap_tokens) == sizes
