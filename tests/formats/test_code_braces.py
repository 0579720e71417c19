"""Where bodies end by their braces."""

from __future__ import annotations

import pytest

from localrag.formats.code_braces import braces_of


@pytest.mark.parametrize(
    ("source", "end"),
    [
        ("void f() {\n}\nx", 2),
        ("void f()\n{\n  if (a) {\n  }\n}\n", 5),
        ("void f({a, b}) {\n  g({\n  });\n}\n", 4),
        ("void f() { g(); }\n{\n}\n", 1),
        ("f() {\n  \"}\" + '}' + `}`\n  // }\n  /* }\n */\n}\n", 6),
        ("fn f<'a>(x: &'a str) {\n  '\\''\n}\n", 3),
        ("void f();\nvoid g() {\n}\n", None),
        ("}\n{\n}\n", None),
        ("void f() {\n", None),
        ("void f()", None),
        ("", None),
    ],
)
def test_a_body_ends_at_its_brace(source: str, end: int | None) -> None:
    assert braces_of(source.split("\n")).body_end(0) == end


def test_a_body_is_looked_for_from_its_line_on() -> None:
    braces = braces_of(["a {", "}", "b {", "  {}", "}", ""])
    assert [braces.body_end(row) for row in range(5)] == [2, None, 5, 4, None]
