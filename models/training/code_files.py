"""Source files of the Python standard library (PSF-2.0), with what can be asked about them.

What a docstring or a comment says is asked only where it was taken out, as it would else be its own
answer. Half of the files are put into another language's dress (see `code_dress`), since what is
indexed is seldom Python alone.
"""

from __future__ import annotations

import ast
import re
import sysconfig
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Definition", "Detail", "SourceFile", "read_source", "source_paths", "without_lines"]

SKIPPED_FOLDERS = {
    "test",
    "tests",
    "idle_test",
    "site-packages",
    "lib2to3",
    "encodings",
    "__pycache__",
}
FEWEST_WORDS, MOST_WORDS = 4, 25
"""Words of a docstring's first sentence, an error's message or a comment that are asked about."""
NO_COMMENT = re.compile(r"(?i)(xxx|todo|fixme|bug|note|hack|type:|pragma|noqa|see )")
"""How notes of programmers to each other and to tools begin, which say nothing about a step."""

Callable = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class Definition:
    """A function or a class."""

    kind: str
    """``function``, ``method`` or ``class``."""
    name: str
    owner: str
    """The class of a method; empty for others."""
    first: int
    last: int
    """Lines, from 1, both inclusive; the first is that of ``def`` or ``class``."""
    sentence: str
    """First sentence of the docstring; empty where there is none that can be asked."""
    parents: tuple[str, ...] = ()
    """The classes from which a class inherits."""
    returns: int = 0
    """The line of the last value that it returns, or 0."""

    @property
    def qualified(self) -> str:
        """Return the name with that of the class of a method."""
        return f"{self.owner}.{self.name}" if self.owner else self.name


@dataclass(frozen=True, slots=True)
class Detail:
    """Something that one line says."""

    kind: str
    """``error``, ``default``, ``constant``, or ``step`` for what a comment in a function says."""
    line: int
    facts: dict[str, str]


@dataclass(frozen=True, slots=True)
class SourceFile:
    """One file and what is in it."""

    path: str
    """From the root of the library, such as ``email/utils.py``."""
    lines: tuple[str, ...]
    definitions: tuple[Definition, ...]
    details: tuple[Detail, ...]
    docstrings: tuple[tuple[int, int], ...]
    """First and last line of each; those that are a whole body are left out."""
    comments: tuple[tuple[int, int], ...]
    """First and last line of those that are asked about as a step."""
    summary: str
    """First sentence of the file's own docstring, or empty."""


def source_paths() -> list[tuple[Path, str]]:
    """Return the files of the library, each with its path from the library's root."""
    root = Path(sysconfig.get_path("stdlib"))
    found = [(path, path.relative_to(root)) for path in sorted(root.rglob("*.py"))]
    return [(path, name.as_posix()) for path, name in found if not SKIPPED_FOLDERS & {*name.parts}]


def read_source(path: Path, name: str) -> SourceFile | None:
    """Return what is in a file; None where it is not plain Python."""
    try:
        text = path.read_text(encoding="utf-8")
        tree = ast.parse(text)
    except (UnicodeDecodeError, SyntaxError, ValueError):
        return None
    lines = text.splitlines()
    definitions, details, docstrings, comments = [], [], list(_docstring(tree)), []
    for node, owner in _walk(tree, ""):
        docstrings += _docstring(node)
        definitions.append(_definition(node, owner))
        if not isinstance(node, ast.ClassDef):
            qualified = definitions[-1].qualified
            details += _details(node, qualified)
            for span, step in _steps(node, qualified, lines):
                comments.append(span)
                details.append(step)
    details += _constants(tree)
    return SourceFile(
        name,
        tuple(lines),
        tuple(definitions),
        tuple(details),
        tuple(docstrings),
        tuple(comments),
        _sentence(ast.get_docstring(tree)),
    )


def without_lines(
    lines: tuple[str, ...], spans: tuple[tuple[int, int], ...]
) -> tuple[list[str], list[int]]:
    """Return the lines outside `spans`, and for each line that was there its new number."""
    gone = {line for first, last in spans for line in range(first, last + 1)}
    kept: list[str] = []
    numbers = [0]
    for number, line in enumerate(lines, start=1):
        if number not in gone:
            kept.append(line)
        numbers.append(len(kept))
    return kept, numbers


def _walk(tree: ast.AST, owner: str) -> Iterator[tuple[Callable | ast.ClassDef, str]]:
    for child in ast.iter_child_nodes(tree):
        if isinstance(child, ast.ClassDef):
            yield child, ""
            yield from _walk(child, child.name)
        elif isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            yield child, owner


def _definition(node: Callable | ast.ClassDef, owner: str) -> Definition:
    kind = "class" if isinstance(node, ast.ClassDef) else "method" if owner else "function"
    bases = node.bases if isinstance(node, ast.ClassDef) else []
    parents = tuple(ast.unparse(base) for base in bases)
    last = node.end_lineno or node.lineno
    sentence = _sentence(ast.get_docstring(node))
    returns = 0 if isinstance(node, ast.ClassDef) else _last_return(node)
    return Definition(kind, node.name, owner, node.lineno, last, sentence, parents, returns)


def _last_return(node: Callable) -> int:
    """Return the line of the last value that a function returns, or 0."""
    returned = [
        inner.lineno
        for inner in ast.walk(node)
        if isinstance(inner, ast.Return) and inner.value is not None
    ]
    return max(returned, default=0)


def _docstring(node: ast.Module | Callable | ast.ClassDef) -> Iterator[tuple[int, int]]:
    if ast.get_docstring(node) and len(node.body) > 1:
        yield node.body[0].lineno, node.body[0].end_lineno or node.body[0].lineno


def _sentence(docstring: str | None) -> str:
    if not docstring:
        return ""
    sentence = " ".join(docstring.split("\n\n")[0].split()).split(". ")[0].rstrip(".")
    fits = FEWEST_WORDS <= len(sentence.split()) <= MOST_WORDS and sentence[0].isalpha()
    return sentence if fits else ""


def _details(node: Callable, name: str) -> Iterator[Detail]:
    for inner in ast.walk(node):
        if isinstance(inner, ast.Raise) and isinstance(inner.exc, ast.Call):
            message = next((one.value for one in inner.exc.args if _is_message(one)), "")
            facts = {"error": ast.unparse(inner.exc.func), "name": name, "message": message}
            yield Detail("error", inner.lineno, facts)
    arguments = [*node.args.posonlyargs, *node.args.args]
    with_defaults = arguments[len(arguments) - len(node.args.defaults) :]
    for argument, default in zip(with_defaults, node.args.defaults, strict=True):
        if isinstance(default, ast.Constant) and default.value not in {None, ""}:
            yield Detail("default", node.lineno, {"parameter": argument.arg, "name": name})


def _steps(node: Callable, name: str, lines: list[str]) -> Iterator[tuple[tuple[int, int], Detail]]:
    """Yield the comments on lines of their own, each with the line of code that it is about."""
    inside = [line.strip() for line in lines[node.lineno : node.end_lineno]]
    start = node.lineno + 1
    first = 0
    while first < len(inside):
        after = first
        while after < len(inside) and inside[after].startswith("#"):
            after += 1
        said = " ".join(line.lstrip("#").strip() for line in inside[first:after])
        sentence = "" if NO_COMMENT.match(said) else _sentence(said)
        if sentence and after < len(inside) and inside[after]:
            yield (
                (start + first, start + after - 1),
                Detail("step", start + after, {"name": name, "sentence": sentence}),
            )
        first = max(after, first + 1)


def _is_message(node: ast.expr) -> bool:
    return (
        isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and FEWEST_WORDS <= len(node.value.split()) <= MOST_WORDS
    )


def _constants(tree: ast.Module) -> Iterator[Detail]:
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            name = node.targets[0].id
            if name.isupper() and len(name) > 3:  # noqa: PLR2004 - a name that says something
                yield Detail("constant", node.lineno, {"name": name})
