"""Which files of a folder are wanted: patterns in the syntax of .gitignore, as git reads them.

A pattern is tried on one entry at a time, from the top of the folder down, and a folder that is
ignored is not entered. So a file cannot be wanted again below an ignored folder, as in git.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pathspec import GitIgnoreSpec

from localrag.errors import SettingsError

if TYPE_CHECKING:
    import re
    from collections.abc import Iterable, Iterator

__all__ = ["IGNORE_FILES", "Ignored", "Patterns", "Wanted"]

IGNORE_FILES: Final = (".gitignore", ".localragignore")
"""Read in every folder; where both say something of an entry, the second decides."""

_DIRECTORY_MARK: Final = "ps_d"
"""pathspec's group for the slash after a matched folder."""


class Patterns:
    """The lines of one ignore file, or the patterns of one option.

    Args:
        lines: in the syntax of .gitignore.
        strict: whether a line that is no pattern is an error; git passes over such lines.

    Raises:
        SettingsError: a line is no pattern, and `strict`.
    """

    def __init__(self, lines: Iterable[str], *, strict: bool = False) -> None:
        self._patterns: list[tuple[re.Pattern[str], bool]] = []
        """Expressions as pathspec makes them, and whether each names or excepts."""
        for line in lines:
            try:
                compiled = GitIgnoreSpec.from_lines([line]).patterns
            except ValueError as error:
                if strict:
                    raise SettingsError(
                        f"{line!r} is no pattern ({error}). Patterns are written as in .gitignore, "
                        "such as '*.md', 'drafts/' or '!keep.md'."
                    ) from error
                continue
            self._patterns += [
                (one.regex, bool(one.include)) for one in compiled if one.regex is not None
            ]

    def verdict(self, path: str, *, folder: bool) -> bool | None:
        """Return whether the last pattern that matches names (True) or excepts (False) an entry.

        Args:
            path: relative to where the patterns apply, with ``/`` between folders.
            folder: whether the entry is a folder.
        """
        for pattern, names in reversed(self._patterns):
            if _matches(pattern, path, folder=folder):
                return names
        return None


def _matches(pattern: re.Pattern[str], path: str, *, folder: bool) -> bool:
    """Whether a pattern matches the entry itself; pathspec also matches what lies below a match."""
    text = f"{path}/" if folder else path
    found = pattern.search(text)
    if found is None:
        return False
    if found.groupdict().get(_DIRECTORY_MARK) is None:
        return pattern.search(path) is not None
    # The slash after the match must be the entry's own. Only "*/" is not anchored at the start: its
    # first slash may be another's.
    return text.endswith("/") and (
        found.end(_DIRECTORY_MARK) == len(text) or pattern.search(text, len(text) - 1) is not None
    )


@dataclass(frozen=True)
class Wanted:
    """What the user asked for by name: patterns that are relative to the source's folder."""

    include: tuple[str, ...] = ()
    """Where there are any, only files that they name are taken."""
    exclude: tuple[str, ...] = ()
    """What they name is left out, also where it is included."""

    @cached_property
    def _include(self) -> Patterns:
        return Patterns(self.include, strict=True)

    @cached_property
    def _exclude(self) -> Patterns:
        return Patterns(self.exclude, strict=True)

    def check(self) -> None:
        """Raise SettingsError where one of the patterns is none."""
        _ = (self._include, self._exclude)

    def takes(self, path: str, *, folder: bool) -> bool:
        """Whether to index a file, or to enter a folder."""
        if self.exclude and self._exclude.verdict(path, folder=folder):
            return False
        return folder or not self.include or bool(self._include.verdict(path, folder=False))


@dataclass(frozen=True, slots=True)
class Ignored:
    """The ignore files that apply in one folder, those of the folders above it first."""

    levels: tuple[tuple[str, Patterns], ...] = ()
    """(absolute path of a folder, what an ignore file in it says)."""

    def entering(self, folder: str) -> Ignored:
        """Return what applies inside `folder`, an absolute path."""
        own = [(folder, Patterns(lines)) for lines in _ignore_files(folder)]
        return Ignored((*self.levels, *own)) if own else self

    def hides(self, path: str, *, folder: bool) -> bool:
        """Whether an entry, given by its absolute path, is ignored: the deepest file decides."""
        for base, patterns in reversed(self.levels):
            verdict = patterns.verdict(relative(path, base), folder=folder)
            if verdict is not None:
                return verdict
        return False

    @classmethod
    def above(cls, path: str) -> Ignored:
        """Return what the ignore files above a given file or folder say, up to its repository.

        Nothing, where they ignore the path itself: it was asked for by name.
        """
        parents = [str(parent) for parent in Path(path).parents]
        repositories = [parent for parent in parents if os.path.lexists(f"{parent}/.git")]
        if not repositories:
            return cls()
        inside = parents[: parents.index(repositories[0]) + 1]
        found = cls()
        for parent, child in pairwise((*reversed(inside), path)):
            found = found.entering(parent)
            if found.hides(child, folder=True):
                return cls()
        return found


def relative(path: str, base: str) -> str:
    """Return a path below `base`, with ``/`` between folders; both are absolute."""
    return path[len(base.rstrip(os.sep)) + 1 :].replace(os.sep, "/")


def _ignore_files(folder: str) -> Iterator[list[str]]:
    for name in IGNORE_FILES:
        try:
            data = Path(folder, name).read_bytes()
        except OSError:  # there is none, or it cannot be read: then it says nothing
            continue
        yield data.decode("utf-8-sig", "replace").splitlines()
