"""What a line of context says of a text that lies in several sections."""

from __future__ import annotations

import pytest

from localrag.chunking.outline import Heading, Outline

SHOP = Outline(
    (
        Heading("", 0, None),
        Heading("Shop", 1, 0),
        Heading("open", 2, 1),
        Heading("close", 2, 1),
        Heading("", 2, 1),
        Heading("Till", 1, 0),
        Heading("count", 2, 5),
    ),
    (),
)


@pytest.mark.parametrize(
    ("sections", "expected"),
    [
        ([2], ("Shop", "open")),
        ([2, 2], ("Shop", "open")),
        ([2, 3], ("Shop", "open, close")),
        ([1, 2, 3], ("Shop", "open, close")),
        ([4, 1], ("Shop",)),
        ([3, 5, 6], ("Shop > close, Till > count",)),
        ([0], ()),
        ([0, 1], ("Shop",)),
        ([0, 1, 2], ("Shop > open",)),
    ],
)
def test_several_sections_share_a_path(sections: list[int], expected: tuple[str, ...]) -> None:
    assert SHOP.joint_path(sections) == expected
