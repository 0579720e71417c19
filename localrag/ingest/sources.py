"""What a run covers: the folders it walks, and which documents are not its to remove."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from localrag.errors import LocalragError
from localrag.ingest.discover import Root, path_of, uri_of
from localrag.ingest.patterns import Wanted
from localrag.store.documents import SourceRow

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

__all__ = ["Scope", "below", "named", "remembered", "roots_of", "scope_of"]


@dataclass(frozen=True, slots=True)
class Scope:
    """What one run looks at."""

    roots: tuple[Root, ...]
    """What was asked for, then what was indexed before below it, each with its own patterns."""
    uris: frozenset[str]
    """The names of the roots."""
    missing: tuple[str, ...]
    """What was asked for and is not there: its documents stay until they are removed by name."""
    gone: frozenset[str]
    """What was indexed before below a folder that is there, and is not there any more."""
    others: frozenset[str]
    """Sources that are not walked: a file that exists below one of them may belong to it."""

    def covers(self, uri: str) -> bool:
        """Whether a document whose file was not found is this run's to remove."""
        if not below(uri, self.uris) and not below(uri, self.gone):
            return False
        return not (below(uri, self.others) and os.path.lexists(path_of(uri)))


def scope_of(asked: Sequence[Root], stored: Sequence[SourceRow], max_bytes: int) -> Scope:
    """Return what a run over `asked` looks at, in a file that was made from `stored`.

    A source below another is walked with it, in its own way: what was asked for by name stays,
    also where the folder around it would leave it out.
    """
    present = [root for root in asked if os.path.lexists(root.path)]
    top = frozenset(root.uri for root in present)
    names = frozenset(root.uri for root in asked)
    nested = [row for row in stored if row.path not in names and below(row.path, top)]
    inside = [root for root in roots_of(nested, max_bytes) if os.path.lexists(root.path)]
    uris = top | {root.uri for root in inside}
    lost = names.union(row.path for row in nested) - uris
    return Scope(
        roots=(*present, *inside),
        uris=uris,
        missing=tuple(sorted(uri for uri in lost if not below(uri, top))),
        gone=frozenset(uri for uri in lost if below(uri, top)),
        others=frozenset(row.path for row in stored if row.path not in uris),
    )


def named(
    paths: Iterable[str | os.PathLike[str]],
    *,
    include: Iterable[str],
    exclude: Iterable[str],
    max_bytes: int | None,
) -> list[SourceRow]:
    """Return the sources that the user names, all to be indexed in one way.

    Raises:
        LocalragError: a path does not exist.
        SettingsError: a pattern is none.
    """
    uris = []
    for path in paths:
        if not os.path.lexists(path):
            raise LocalragError(f"{path} does not exist. Check the path and run it again.")
        uris.append(uri_of(Path(path)))
    wanted = Wanted(tuple(include), tuple(exclude))
    wanted.check()
    return [SourceRow(uri, wanted.include, wanted.exclude, max_bytes) for uri in uris]


def roots_of(rows: Iterable[SourceRow], max_bytes: int) -> list[Root]:
    """Return how sources are walked; `max_bytes` for those that have no limit of their own."""
    return [
        Root(path_of(row.path), row.max_bytes or max_bytes, Wanted(row.include, row.exclude))
        for row in rows
    ]


def remembered(stored: Sequence[SourceRow], names: Sequence[str]) -> list[SourceRow]:
    """Return the sources at or below `names`; all where no name is given.

    Raises:
        LocalragError: a name is no source and has none below it, or there is no source at all.
    """
    if not stored:
        raise LocalragError("Nothing was indexed from a folder yet: localrag index FOLDER")
    for name in names:
        if not any(below(row.path, [name]) for row in stored):
            known = ", ".join(row.path for row in stored)
            raise LocalragError(
                f"{name} was not indexed. Index it (localrag index {name}), or name one of: {known}"
            )
    return [row for row in stored if not names or below(row.path, names)]


def below(uri: str, roots: Collection[str]) -> bool:
    """Whether a document is one of `roots` or lies below one of them; many roots in a set."""
    if uri in roots:
        return True
    end = uri.rfind(os.sep)
    while end >= 0:
        if uri[:end] in roots or uri[: end + 1] in roots:  # the second: the root of a disk
            return True
        end = uri.rfind(os.sep, 0, end)
    return False
