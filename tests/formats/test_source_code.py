from __future__ import annotations

import builtins
from typing import TYPE_CHECKING, Any

import pytest
from reading import blocks, line_of, outline, read

from localrag.formats import source_code
from localrag.formats.code_languages import language_of

if TYPE_CHECKING:
    from collections.abc import Callable

PYTHON = '''\
"""What it does."""
import os

LIMIT = 1


# Above the class.
@decorated
class Shop(Base):
    """A shop."""

    size = 1

    async def open(
        self,
    ) -> None:
        def inner():
            pass

        inner()

    after = 2


if True:
    def guarded(): pass

print("end")
'''

GO = """\
package shop

// Open opens.
func (s *Shop) Open(day string) error {
\treturn nil
}

type Shop struct {
\tname string
}

const x = 1
"""

RUST = """\
impl Display for Shop {
    fn fmt(&self) -> Result {
        Ok(())
    }
}
"""

TYPESCRIPT = """\
export class Shop {
  /** Opens.
     and more */
  async open(
    day: string,
  ): Promise<void> {
    if (day) {
      go(day);
    }
  }
}

export const close = async (day: string) => {
  return day;
};
"""

C = """\
struct point {
    int x;
};

/* Adds. */
static int
unused;
int add(struct point *a,
        int b)
{
    return a->x + b;
}
#endif
"""


@pytest.fixture
def plain(monkeypatch: pytest.MonkeyPatch) -> None:
    """Read as where the extra is not installed."""
    monkeypatch.setattr(source_code, "definitions_by_tree_sitter", lambda *_: None)


def test_python_is_cut_at_its_definitions() -> None:
    document = read(PYTHON, "/home/ann/src/shop/main.py")
    assert document.title == "shop/main.py"
    assert document.metadata == {"programming_language": "python"}
    assert document.text == PYTHON
    assert outline(document) == [
        (1, "Shop", 7),
        (2, "open", 14),
        (2, "", 22),
        (1, "", 25),
        (1, "guarded", 26),
        (1, "", 28),
    ]
    assert [text for _, text in blocks(PYTHON, "a.py")[:3]] == [
        '"""What it does."""\nimport os',
        "LIMIT = 1",
        "# Above the class.",
    ]
    assert line_of(document, "after = 2") == 22


def test_python_that_does_not_parse_is_cut_by_its_lines() -> None:
    source = (
        "class A:\n    def f(self):\n        print 'old'\n\n"
        "    def g(\n        a,\n    ):\n        pass\nx = 1\n"
    )
    document = read(source, "a.py")
    assert outline(document) == [(1, "A", 1), (2, "f", 2), (2, "g", 5), (1, "", 9)]


def test_warnings_of_the_code_that_is_read_are_not_ours() -> None:
    assert read("def f():\n    return '\\d' is 1\n", "a.py").text.startswith("def f")


PARSED: list[tuple[str, str, list[tuple[int, str, int]]]] = [
    ("a.go", GO, [(1, "Shop.Open", 3), (1, "Shop", 8), (1, "", 12)]),
    ("a.rs", RUST, [(1, "Display for Shop", 1), (2, "fmt", 2)]),
    ("a.ts", TYPESCRIPT, [(1, "Shop", 1), (2, "open", 2), (1, "close", 13)]),
]


@pytest.mark.parametrize(("uri", "source", "expected"), PARSED)
def test_languages_with_a_grammar(
    uri: str, source: str, expected: list[tuple[int, str, int]]
) -> None:
    pytest.importorskip("tree_sitter_language_pack", reason="the extra `code` is not installed")
    assert outline(read(source, uri)) == expected


@pytest.mark.parametrize(("uri", "source", "expected"), PARSED)
@pytest.mark.usefixtures("plain")
def test_languages_without_a_grammar(
    uri: str, source: str, expected: list[tuple[int, str, int]]
) -> None:
    assert outline(read(source, uri)) == expected


def test_declarations_in_c() -> None:
    pytest.importorskip("tree_sitter_language_pack", reason="the extra `code` is not installed")
    assert outline(read(C, "a.c")) == [(1, "point", 1), (1, "", 5), (1, "add", 8)]


def test_names_in_cpp_say_whose_they_are() -> None:
    pytest.importorskip("tree_sitter_language_pack", reason="the extra `code` is not installed")
    source = """\
void Shop::open(const Day& day) {
}
const std::string &Shop<T>::name() const noexcept {
}
struct Till {
  Till &operator=(const Till &other) {}
  ~Till() {}
  operator bool() const { return 1; }
};
TEST(TillTest, IsEmpty) {
}
int MAIN(int a) {
}
"""
    assert [name for _, name, _ in outline(read(source, "a.cpp"))] == [
        "Shop::open",
        "Shop<T>::name",
        "Till",
        "operator=",
        "~Till",
        "operator bool",
        "TEST(TillTest, IsEmpty)",
        "MAIN",
    ]


@pytest.mark.parametrize(
    ("uri", "source", "expected"),
    [
        ("a.c", C, ["point", "", "add"]),
        ("a.sql", "CREATE TABLE IF NOT EXISTS t (\n  a int\n);\nselect 1;\n", ["t", ""]),
        ("a.toml", 'x = 1\n[tool.a]\nb = 1\n[[tool.c]]\nd = "[e]"\n', ["tool.a", "tool.c"]),
        ("Makefile", "all: a b\n\tcc x\nx := 1\nclean:\n\trm x\n", ["all", "clean"]),
        ("a.sh", "f() {\n  ls\n}\necho\n", ["f", ""]),
        ("a.r", "f <- function(x) {\n  x\n}\n", ["f"]),
        ("a.tf", 'resource "a" "b" {\n  x = 1\n}\n', ['resource "a" "b"']),
        ("a.diff", "diff --git a/x.py b/x.py\n+++ b/x.py\n+a\n", ["x.py", "x.py"]),
        ("a.css", "a {\n  b: c;\n}\n", []),
        ("a.rb", "class A\n  def f\n    1\n  end\nend\n", ["A", "f"]),
        ("a.js", "if (x) {\n  a(\n    b);\n}\nreturn f(\n", []),
        ("a.java", "class A {\n  int f(int a) {\n    g(a);\n  }\n\n  int y;\n}\n", ["A", "f", ""]),
        (
            "a.java",
            "class A\n{\n  @T\n  void f(int a)\n  {\n  }\n  void h()\n  throws E {\n  }\n  int y;}",
            ["A", "f", "h", ""],
        ),
        (
            "a.cpp",
            "namespace n {\nstruct A {\n  int f() {\n    '}'; // }\n  }\n};\n}\nint y;\n",
            ["n", "A", "f", ""],
        ),
        (
            "a.rs",
            "impl<T> A for B<T>\nwhere\n    T: C,\n{\n    fn f() {}\n}\nuse x;\n",
            ["A for B<T>", "f", ""],
        ),
        ("a.cpp", "int main(\n    int a)\n{\n}\nint x(\n    int a);\n", ["main", ""]),
    ],
)
@pytest.mark.usefixtures("plain")
def test_definitions_by_their_lines(uri: str, source: str, expected: list[str]) -> None:
    document = read(source, uri)
    assert [name for _, name, _ in outline(document)] == expected
    assert document.text == source


@pytest.mark.usefixtures("plain")
def test_comments_belong_to_what_follows() -> None:
    source = (
        "int x; /* no */\nint f() {\n}\n\n/*\n about g\n*/\nint g() {\n}\n\nopen */\nint h() {\n}\n"
    )
    assert [line for _, name, line in outline(read(source, "a.c")) if name] == [2, 5, 12]


def test_without_the_extra_the_lines_are_used(monkeypatch: pytest.MonkeyPatch) -> None:
    imported: Callable[..., Any] = builtins.__import__

    def absent(name: str, *rest: Any) -> Any:
        if name.startswith("tree_sitter"):
            raise ImportError(name)
        return imported(name, *rest)

    monkeypatch.setattr(builtins, "__import__", absent)
    monkeypatch.setattr("importlib.import_module", absent)
    assert outline(read(GO, "a.go"))[0] == (1, "Shop.Open", 3)


@pytest.mark.parametrize(
    ("uri", "source", "language"),
    [
        ("a.py", "", "python"),
        ("x/DOCKERFILE", "", "dockerfile"),
        ("run", "#!/usr/bin/env python3\n", "python"),
        ("run", "#!/bin/bash -e\n", "bash"),
        ("run", "#!/usr/bin/env -S node --x\n", "javascript"),
        ("run", "#!/opt/unknown\n", ""),
        ("run", "#!\n", ""),
        ("run", "text", ""),
    ],
)
def test_languages(uri: str, source: str, language: str) -> None:
    assert language_of(uri, source) == language


def test_a_script_needs_no_suffix() -> None:
    document = read("#!/usr/bin/env python3\ndef f():\n    pass\n", "bin/tool")
    assert document.title == "bin/tool"
    assert outline(document) == [(1, "f", 1)]
    assert read("#!/opt/unknown\nx\n", "tool").metadata == {}
