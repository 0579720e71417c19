from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from localrag.cli.output import plain, shorten, shown_path

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("text", "width", "expected"),
    [
        ("short", 10, "short"),
        ("exactly ten", 11, "exactly ten"),
        ("one too many", 11, "one too ma…"),
        ("two\n  lines\there", 20, "two lines here"),
        ("", 5, ""),
        ("鍵は毎月", 8, "鍵は毎月"),
        ("鍵は毎月", 7, "鍵は毎…"),
        ("abc", 0, "…"),
    ],
)
def test_a_line_is_shortened_to_its_columns(text: str, width: int, expected: str) -> None:
    assert shorten(text, width) == expected


def test_a_path_below_here_is_shown_relative(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert shown_path(str(tmp_path / "docs" / "a.md")) == "docs/a.md"
    assert shown_path(str(tmp_path) + "-other/a.md") == str(tmp_path) + "-other/a.md"
    assert shown_path(str(tmp_path)) == str(tmp_path)
    assert shown_path("docs/a.md") == "docs/a.md"
    assert shown_path("https://example.org/a") == "https://example.org/a"


def test_a_document_cannot_steer_the_terminal(tmp_path: Path) -> None:
    hostile = "\x1b[2J\x9b31mred\x07\x7f\r"
    assert plain(f"tab\t line\n{hostile}") == "tab\t line\n\ufffd[2J\ufffd31mred\ufffd\ufffd\ufffd"
    assert "\x1b" not in shorten(hostile, 80)
    assert "\x1b" not in shown_path(f"{tmp_path}/{hostile}")
    assert plain("鍵🔑é") == "鍵🔑é"
