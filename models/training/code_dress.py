"""Puts Python source into the dress of other languages: names, keywords, braces and comments.

The result need not compile. It is what a reader of names and keywords has to get used to:
``getInfo`` for ``get_info``, ``fn`` and ``function`` for ``def``, ``this`` for ``self``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

__all__ = ["DRESSES", "Dress"]

_SNAKE = re.compile(r"(?<!\w)([a-z][a-z0-9]*)((?:_[a-z0-9]+)+)(?!\w)")
_DEFINITION = re.compile(r"^(\s*)(?:async )?def (.*):\s*$", re.MULTILINE)
_CLASS = re.compile(r"^(\s*)class (\w+)(?:\((.*)\))?:\s*$", re.MULTILINE)
_BLOCK = re.compile(r"^(\s*)(if|while|for|elif|with) (.*):\s*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Dress:
    """How one language looks."""

    suffix: str
    function: str
    """With ``{}`` for name and parameters."""
    klass: str
    """With ``{}`` for the name."""
    inherits: str
    own: str
    none: str
    error: str
    camel: bool

    def code(self, text: str) -> str:
        """Return source in this dress."""
        text = _DEFINITION.sub(lambda m: f"{m[1]}{self.function.format(m[2])} {{", text)
        text = _CLASS.sub(self._class, text)
        text = _BLOCK.sub(_block, text)
        text = re.sub(r"\bself\b", self.own, text)
        text = re.sub(r"\bNone\b", self.none, text)
        text = re.sub(r"\braise\b", self.error, text)
        text = re.sub(r"\b(True|False)\b", lambda m: m[0].lower(), text)
        text = re.sub(r"(?m)(^|\s)#", r"\1//", text)
        return self.names(text)

    def names(self, text: str) -> str:
        """Return a question or a line of context with the names as this language writes them."""
        if not self.camel:
            return text
        return _SNAKE.sub(_camel, text)

    def path(self, path: str) -> str:
        """Return the name of a file."""
        return path.removesuffix(".py") + self.suffix

    def _class(self, match: re.Match[str]) -> str:
        parent = f" {self.inherits} {match[3]}" if match[3] else ""
        return f"{match[1]}{self.klass.format(match[2])}{parent} {{"


def _camel(match: re.Match[str]) -> str:
    return match[1] + "".join(part.capitalize() for part in match[2].split("_"))


def _block(match: re.Match[str]) -> str:
    word = "else if" if match[2] == "elif" else match[2]
    return f"{match[1]}{word} ({match[3]}) {{"


DRESSES = (
    Dress(".rs", "pub fn {}", "pub struct {}", ":", "self", "None", "return Err", camel=False),
    Dress(".java", "public {}", "class {}", "extends", "this", "null", "throw new", camel=True),
    Dress(".cpp", "auto {}", "class {}", ": public", "this", "nullptr", "throw", camel=True),
    Dress(".ts", "function {}", "class {}", "extends", "this", "null", "throw new", camel=True),
    Dress(".go", "func {}", "type {} struct", "//", "s", "nil", "return", camel=True),
)
