"""Definitions in source code by its lines, where there is no parser.

Keywords and the form of a line say what is defined; the braces of its body, or else how far it is
indented, say where it ends.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from localrag.formats.code_braces import BRACED, braces_of
from localrag.formats.code_definitions import Definition, with_comments

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["definitions_by_lines"]

_KEYWORD: Final = re.compile(
    r"""^(?P<indent>\s*)
      (?:(?:export|default|public|private|protected|internal|open|final|sealed|abstract|static|async
        |override|virtual|partial|data|inline|unsafe|extern(?:\ "C")?|const|pub(?:\([^)]*\))?|local
        |declare|suspend|readonly|mutating|case|companion|annotation|typedef|template<[^>]*>)\s+){0,6}
      (?P<keyword>class|struct|interface|enum|trait|impl|protocol|extension|record|union|object
        |namespace|module|mod|package(?=\s+\w+\s*\{)|def|defp|defmodule|fn|func|fun|function\*?|sub
        |macro_rules!|message|service|contract|library|type(?=\s+\w+\s+(?:struct|interface)))
      (?:\s+|(?=<))(?:<[^>]*>\s*)?(?:\(\w*\s*\*?(?P<receiver>\w+)[^)]*\)\s*)?
      (?P<name>[\w$~][\w$.:~!?]*(?:<[^>{]*>)?(?:\s+for\s+[\w$.:<>]+)?)""",
    re.VERBOSE,
)
_SIGNATURE: Final = re.compile(
    r"""^(?P<indent>\s*)(?:[\w$<>\[\],.?&*:@]++\s++){0,8}?[*&]*(?P<name>[\w$~]+(?:::[\w~]+)*)\s*
      \((?!\*)[^;{}=]*(?:\)[^;{}=()]*\{?|,)?\s*$""",
    re.VERBOSE,
)
_ARROW: Final = re.compile(
    r"^(?P<indent>\s*)(?:export\s+)?(?:const|let|var)\s+(?P<name>[\w$]+)[^=]*=\s*"
    r"(?:async\s*)?(?:function\b|\([^;]*\)\s*(?::[^=]+)?=>|[\w$]+\s*=>)"
)
_CREATE: Final = re.compile(
    r"^(?P<indent>\s*)create\s+(?:or\s+replace\s+)?(?:temp(?:orary)?\s+|unique\s+|virtual\s+)*"
    r"(?:table|view|function|procedure|trigger|index|type)\s+(?:if\s+not\s+exists\s+)?"
    r"(?P<name>[\w.\"`\[\]]+)",
    re.IGNORECASE,
)
_SECTION: Final = re.compile(r"^(?P<indent>)\[+(?P<name>[^\[\]]+)\]+\s*(?:[#;].*)?$")
_TARGET: Final = re.compile(r"^(?P<indent>)(?P<name>[\w./%-]+)\s*:(?![=:])")
_SHELL: Final = re.compile(r"^(?P<indent>\s*)(?:function\s+)?(?P<name>[\w:-]+)\s*\(\)\s*\{?\s*$")
_R: Final = re.compile(r"^(?P<indent>\s*)(?P<name>[\w.]+)\s*(?:<-|=)\s*function\s*\(")
_BLOCK: Final = re.compile(r'^(?P<indent>)(?P<name>\w+(?:\s+"[^"]*")+)\s*\{')
_HUNK: Final = re.compile(r"^(?P<indent>)(?:diff --git a/\S+ b/|\+\+\+ (?:b/)?)(?P<name>\S+)")

_NO_NAMES_WORDS: Final = """
    if else for foreach while switch catch return throw new delete sizeof typeof await yield do
    try case with using lock when until unless elif not and or in is assert super this
    constructor_call defined print require import from select match
"""
_NO_NAMES: Final = frozenset(_NO_NAMES_WORDS.split())
_PATTERNS: Final = {
    "sql": (_CREATE,),
    "toml": (_SECTION,),
    "ini": (_SECTION,),
    "make": (_TARGET,),
    "bash": (_SHELL,),
    "r": (_R,),
    "hcl": (_BLOCK,),
    "diff": (_HUNK,),
    "css": (),
    "dockerfile": (),
}
_SIGNED_WORDS: Final = """
    c cpp java csharp javascript typescript tsx objc dart php groovy vue svelte solidity
"""
_SIGNED: Final = frozenset(_SIGNED_WORDS.split())
_LONGEST_LINE = 400
_BLANK = -1

_CLOSES: Final = re.compile(r"\s*(?:[})\]]|end\b|fi\b|done\b|esac\b)")
_OPENS: Final = re.compile(r"[:{]\s*$")
_CONTINUES: Final = re.compile(r"\s*[})\]{]|\s*(?:end|fi|done|esac)\b|#|//|\*|/\*")


def definitions_by_lines(lines: Sequence[str], language: str) -> list[Definition]:
    """Return what looks like a definition, each up to where its body ends."""
    patterns = _PATTERNS.get(language)
    if patterns is None:
        patterns = (_KEYWORD, _ARROW, *([_SIGNATURE] if language in _SIGNED else []))
    found = list(_found(lines, patterns))
    indents = [_indent(line) for line in lines]
    braces = braces_of(lines) if language in BRACED else None
    sections = patterns and patterns[0] in (_SECTION, _TARGET, _HUNK)
    definitions = []
    for position, (row, name) in enumerate(found):
        following = found[position + 1][0] if position + 1 < len(found) else len(lines)
        body_end = braces.body_end(row) if braces else None
        end = following if sections else body_end or _end(lines, indents, row)
        definitions.append(Definition(with_comments(lines, row), max(end, row + 1), name))
    return sorted(definitions)


def _found(lines: Sequence[str], patterns: Sequence[re.Pattern[str]]) -> Iterator[tuple[int, str]]:
    for row, line in enumerate(lines):
        if len(line) > _LONGEST_LINE or not line.strip():
            continue
        for pattern in patterns:
            match = pattern.match(line)
            if match and _is_name(match["name"], match, lines, row):
                yield row, _shown(match)
                break


def _shown(match: re.Match[str]) -> str:
    name = match["name"].strip().rstrip(":")
    if match.re is _CREATE:
        name = name.strip('"`[]')
    receiver = match.groupdict().get("receiver")
    return f"{receiver}.{name}" if receiver else name


def _is_name(name: str, match: re.Match[str], lines: Sequence[str], row: int) -> bool:
    if match.re is not _SIGNATURE:
        return True
    words = re.findall(r"[\w$]+", match[0])
    if name in _NO_NAMES or (words and words[0] in _NO_NAMES):
        return False
    if match[0].rstrip().endswith("{"):
        return len(words) > 1 or bool(match["indent"])
    # `int main(` with its brace further down, but not a call of a function.
    head = next((line for line in lines[row + 1 : row + 12] if re.search(r"[;{}]", line)), "")
    opens = "{" in head and ";" not in head.partition("{")[0]
    if match["indent"]:
        below = head.strip() == "{" or head.lstrip().startswith("throws ")
        return opens and (head.lstrip().startswith(")") or (below and len(words) > 1))
    return opens and len(words) > 1 and words[0] != name


def _end(lines: Sequence[str], indents: Sequence[int], row: int) -> int:
    """Return one past the last line that is indented more, and the brackets that close it."""
    indent = indents[row]
    end = row + 1
    for number in range(row + 1, len(lines)):
        if indents[number] > indent:
            end = number + 1
            continue
        line = lines[number]
        if indents[number] == _BLANK:
            continue
        if indents[number] < indent or not _CONTINUES.match(line):
            break
        if _CLOSES.match(line) and not _OPENS.search(line):
            return number + 1
        end = number + 1
    return end


def _indent(line: str) -> int:
    """Return the columns before the text of a line."""
    line = line.expandtabs(4)
    text = line.lstrip()
    return len(line) - len(text) if text else _BLANK
