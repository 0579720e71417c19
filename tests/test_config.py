from __future__ import annotations

import pytest

from localrag.config import Settings, make_settings
from localrag.errors import SettingsError


def test_settings_that_are_not_named_keep_their_defaults() -> None:
    assert make_settings(rrf_k=7) == Settings(rrf_k=7)
    assert make_settings() == Settings()


@pytest.mark.parametrize(
    ("values", "problem"),
    [
        ({"chunk_tokens": 1}, "chunk_tokens: "),
        ({"colour": "blue"}, "colour: "),
        ({"min_relevance": 1.5, "rrf_k": 0}, "rrf_k: .*min_relevance: "),
        ({"chunk_tokens": 64, "overlap_tokens": 33}, "at most half of chunk_tokens"),
    ],
)
def test_impossible_settings_are_named_with_where_to_look(
    values: dict[str, object], problem: str
) -> None:
    with pytest.raises(SettingsError, match=problem + r".*See docs/settings\.md"):
        make_settings(**values)


def test_settings_cannot_be_changed_afterwards() -> None:
    with pytest.raises(ValueError, match="frozen"):
        make_settings().rrf_k = 1
