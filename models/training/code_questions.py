"""Makes questions about code from the Python standard library (PSF-2.0) of the interpreter.

A function's docstring says what it does; without it, the source is a passage that answers. What is
asked is the docstring's first sentence, as it is, in the form of a question, or by the name.
"""

from __future__ import annotations

import ast
import random
import sysconfig
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from models.training.questions import Passage, TrainingQuestion, TrainingSet

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["read_code"]

SKIPPED_FOLDERS = {"test", "tests", "idle_test", "site-packages", "lib2to3", "__pycache__"}
SHORTEST, LONGEST = 6, 60
"""Lines of a function that is used."""
FEWEST_WORDS, MOST_WORDS = 5, 25
"""Words of a docstring's first sentence that is used."""
DOCSTRING_KEPT = 0.25
"""Share of the passages that keep their docstring, as they would in a real index."""

BY_MEANING = (
    "{sentence}",
    "{sentence}",
    "where is the code that does this: {sentence}",
    "How does the code {lower}?",
    "Which function can {lower}?",
    "which part of {module} does this: {lower}",
    "In {module}, {lower}",
)
BY_NAME = (
    "What does the `{name}` function do?",
    "What is the purpose of `{qualified}`?",
    "How is {name} implemented in {module}?",
    "{name} {module}",
    "parameters of `{qualified}`",
)


@dataclass(frozen=True, slots=True)
class Function:
    """A function with its place and what its docstring says."""

    module: str
    qualified: str
    source: str
    sentence: str

    @property
    def name(self) -> str:
        """Return the last part of its name."""
        return self.qualified.rpartition(".")[2]


def read_code(seed: int, most: int) -> TrainingSet:
    """Return at most `most` questions about functions of the standard library."""
    generator = random.Random(f"{seed} code")  # noqa: S311 - it samples, it hides nothing
    root = Path(sysconfig.get_path("stdlib"))
    functions = [one for path in _sources(root) for one in _functions(path, root)]
    functions.sort(key=lambda one: (one.module, one.qualified))
    generator.shuffle(functions)
    functions = functions[:most]
    passages: dict[str, Passage] = {}
    questions = []
    for number, function in enumerate(functions):
        title = f"{function.module.replace('.', '/')}.py"
        passages[str(number)] = Passage(str(number), title, function.source)
        template = generator.choice(BY_MEANING if generator.random() < 0.7 else BY_NAME)  # noqa: PLR2004 - a share
        sentence = function.sentence.rstrip(".")
        text = template.format(
            sentence=sentence,
            lower=sentence[0].lower() + sentence[1:],
            name=function.name,
            qualified=function.qualified,
            module=function.module,
        )
        questions.append(TrainingQuestion(f"code{number}", text, (str(number),)))
    return TrainingSet("code", passages, tuple(questions))


def _sources(root: Path) -> Iterator[Path]:
    for path in sorted(root.rglob("*.py")):
        if not SKIPPED_FOLDERS & set(path.relative_to(root).parts):
            yield path


def _functions(path: Path, root: Path) -> Iterator[Function]:
    module = ".".join(path.relative_to(root).with_suffix("").parts)
    try:
        text = path.read_text(encoding="utf-8")
        tree = ast.parse(text)
    except (UnicodeDecodeError, SyntaxError):
        return
    lines = text.splitlines()
    pending: list[tuple[ast.AST, str]] = [(tree, "")]
    while pending:
        node, prefix = pending.pop()
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.ClassDef):
                pending.append((child, f"{prefix}{child.name}."))
            elif isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
                found = _function(child, module, prefix, lines)
                if found is not None:
                    yield found


def _function(
    node: ast.FunctionDef | ast.AsyncFunctionDef, module: str, prefix: str, lines: list[str]
) -> Function | None:
    docstring = ast.get_docstring(node)
    if (
        node.name.startswith("__")
        or not docstring
        or node.end_lineno is None
        or not isinstance(node.body[0], ast.Expr)
    ):
        return None
    sentence = " ".join(docstring.split("\n\n")[0].split()).split(". ")[0]
    if not FEWEST_WORDS <= len(sentence.split()) <= MOST_WORDS or not sentence[0].isalpha():
        return None
    kept = random.Random(f"{module} {prefix}{node.name}").random() < DOCSTRING_KEPT  # noqa: S311 - as above
    first, last = node.body[0].lineno - 1, node.body[0].end_lineno or 0
    body = lines[last : node.end_lineno]
    head = lines[node.lineno - 1 : last if kept else first]
    source = "\n".join([*head, *body])
    if not SHORTEST <= source.count("\n") + 1 <= LONGEST:
        return None
    return Function(module, f"{prefix}{node.name}", source, sentence)
