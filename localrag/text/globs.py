"""Patterns of paths: ``notes/**``, ``*.md``, and ``clients/{client}/{year}/**`` which names parts.

=========  ======================================================================
``*``      any characters of one name, never a slash
``**``     any number of folders; at the end, everything below
``?``      one character of a name
``[abc]``  one of these characters; ``[!abc]`` one that is none of these
``{name}`` one or more characters of a name, kept under this name (`named_parts`)
=========  ======================================================================
"""

from __future__ import annotations

import re
from functools import lru_cache

from localrag.errors import SettingsError

__all__ = ["glob_regex", "named_parts"]

_PIECE = re.compile(
    r"(?P<folders>(?:^|(?<=/))\*\*/)"
    r"|(?P<rest>(?:^|/)\*\*$)"
    r"|(?P<star>\*+)"
    r"|(?P<one>\?)"
    r"|(?P<set>\[[!^]?\]?[^\]/]*\])"
    r"|(?P<name>\{[^{}/]*\})"
    r"|(?P<slash>/)"
)
_SEPARATOR = r"[/\\]"
_WITHIN = r"[^/\\]"


def glob_regex(pattern: str, *, named: bool = False) -> str:
    """Return the regular expression of a pattern, to be matched against a whole path.

    A pattern that matches a folder matches everything below it.

    Args:
        pattern: as above.
        named: whether ``{name}`` is a part to be kept; otherwise braces are braces.

    Raises:
        SettingsError: a name is no name, or stands twice.
    """
    pieces: list[str] = []
    end = 0
    names: set[str] = set()
    for match in _PIECE.finditer(pattern := pattern.rstrip("/") or pattern):
        pieces.append(re.escape(pattern[end : match.start()]))
        end = match.end()
        if match.lastgroup == "name" and named:
            pieces.append(_named(match[0][1:-1], names, pattern))
        else:
            pieces.append(_translated(match))
    pieces.append(re.escape(pattern[end:]))
    return f"{''.join(pieces)}(?:{_SEPARATOR}.*)?"


_SIGNS = {
    "folders": rf"(?:{_WITHIN}+{_SEPARATOR})*",
    "star": rf"{_WITHIN}*",
    "one": _WITHIN,
    "slash": _SEPARATOR,
}


def _translated(match: re.Match[str]) -> str:
    text = match[0]
    match match.lastgroup:
        case "rest":
            return rf"{_SEPARATOR}.+" if text.startswith("/") else ".+"
        case "set":
            return _character_set(text)
        case kind:
            return _SIGNS.get(kind or "") or re.escape(text)


def _character_set(text: str) -> str:
    negated = text[1] in "!^"
    inside = text[2 if negated else 1 : -1].replace("\\", r"\\").replace("[", r"\[")
    inside = inside.replace("]", r"\]").replace("&&", r"\&\&").replace("~~", r"\~\~")
    inside = inside.replace("||", r"\|\|")
    expression = rf"(?![/\\])[{'^' if negated else ''}{inside}]"
    try:
        re.compile(expression)
    except re.error:  # [z-a]: no range, so the characters as they stand
        return re.escape(text)
    return expression


def _named(name: str, names: set[str], pattern: str) -> str:
    if not name.isidentifier() or name in names:
        problem = "stands twice" if name in names else "is no name"
        raise SettingsError(
            f"{{{name}}} in the path pattern {pattern!r} {problem}. Write each part once, as "
            "letters, digits and underscores: clients/{client}/{year}/**"
        )
    names.add(name)
    return f"(?P<{name}>{_WITHIN}+)"


@lru_cache(maxsize=256)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(glob_regex(pattern, named=True), re.DOTALL)


def named_parts(pattern: str, path: str) -> dict[str, str]:
    """Return the parts of `path` that the pattern names; empty where it does not match.

    Raises:
        SettingsError: the pattern is wrong.
    """
    found = _compiled(pattern).fullmatch(path)
    return found.groupdict() if found else {}
