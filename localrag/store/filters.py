"""A filter becomes the documents that a search may look at."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import TYPE_CHECKING

from localrag.store.documents import find_document, list_sources
from localrag.store.where_sql import BUILT_IN_FIELDS, compile_where
from localrag.text.globs import glob_regex

if TYPE_CHECKING:
    from collections.abc import Iterable

    import apsw

    from localrag.records import Filter
    from localrag.store.where_sql import SqlValue

__all__ = ["allowed_documents", "why_nothing"]

_DOCUMENTS = (
    "FROM (SELECT *, json_patch(metadata, assigned) AS properties FROM documents) AS d WHERE "
)


def allowed_documents(connection: apsw.Connection, wanted: Filter) -> tuple[int, str]:
    """Return how many documents pass a filter, and their ids as a JSON list.

    Raises:
        FilterError: the expression cannot be understood.
    """
    condition = _condition(connection, wanted)
    count, ids = connection.execute(
        f"SELECT count(*), json_group_array(d.id) {_DOCUMENTS} {condition.sql}",
        condition.values,
    ).get
    return int(count), str(ids)


def why_nothing(connection: apsw.Connection, wanted: Filter) -> str:
    """Return a hint for a filter that lets nothing through: a field or path that does not exist."""
    hints = []
    if wanted.where:
        asked = compile_where(wanted.where).metadata_fields
        known = _known_fields(connection)
        unknown = [name for name in dict.fromkeys(asked) if name not in known]
        if unknown:
            names = ", ".join(sorted({*known, *BUILT_IN_FIELDS}))
            hints.append(f"no document has {', '.join(unknown)}; fields: {names}")
    if wanted.paths and not _count(connection, _paths(connection, wanted.paths)):
        roots = ", ".join([source.path for source in list_sources(connection)]) or "nothing yet"
        hints.append(f"no path matches {', '.join(wanted.paths)}; indexed: {roots}")
    return "; ".join(hints)


@dataclass(slots=True)
class _Condition:
    sql: str
    values: dict[str, SqlValue] = field(default_factory=dict)


def _condition(connection: apsw.Connection, wanted: Filter) -> _Condition:
    parts = []
    if wanted.where:
        where = compile_where(wanted.where)
        parts.append(_Condition(where.sql, where.values))
    if wanted.paths:
        parts.append(_paths(connection, wanted.paths))
    if wanted.labels is not None:
        parts.append(_labels(wanted.labels))
    sql = " AND ".join(part.sql for part in parts) or "1"
    return _Condition(sql, {name: value for part in parts for name, value in part.values.items()})


def _labels(labels: Iterable[str]) -> _Condition:
    names = {f"label_{index}": label for index, label in enumerate(labels)}
    listed = ", ".join(f":{name}" for name in names)
    return _Condition(
        "(json_array_length(d.labels) = 0 OR EXISTS(SELECT 1 FROM json_each(d.labels) AS own "  # noqa: S608 - values are bound
        f"WHERE own.value IN ({listed})))",
        dict(names),
    )


def _paths(connection: apsw.Connection, patterns: Iterable[str]) -> _Condition:
    roots = [PurePath(path) for path in [source.path for source in list_sources(connection)]]
    # Of a file that was indexed by its name, the folder is where a relative pattern begins.
    roots = [root.parent if find_document(connection, str(root)) else root for root in roots]
    choices = [choice for pattern in patterns for choice in _choices(pattern, roots)]
    return _Condition("d.uri REGEXP :path", {"path": "|".join(dict.fromkeys(choices))})


def _choices(pattern: str, roots: Iterable[PurePath]) -> Iterable[str]:
    """Yield regular expressions of the whole paths that one pattern means.

    A relative pattern begins in an indexed folder, or names that folder, or some of its parents as
    well: ``notes/**``, ``docs/notes/**`` and ``work/docs/notes/**`` are the same below
    ``/home/me/work/docs``.
    """
    pattern = pattern.removeprefix("./")
    yield glob_regex(pattern)
    if os.path.isabs(pattern):  # noqa: PTH117 - a pattern is no path
        return
    for root in roots:
        folder = re.escape(str(root).rstrip("/\\")) + r"[/\\]"
        yield folder + glob_regex(pattern)
        names = root.parts[1:] if root.anchor else root.parts
        for count in range(1, len(names) + 1):
            leading = "/".join(names[-count:])
            if pattern.rstrip("/") == leading:
                yield folder + ".*"
            elif pattern.startswith(leading + "/"):
                yield folder + glob_regex(pattern[len(leading) + 1 :])


def _count(connection: apsw.Connection, condition: _Condition) -> int:
    sql = f"SELECT count(*) {_DOCUMENTS} {condition.sql}"
    return int(connection.execute(sql, condition.values).get)


def _known_fields(connection: apsw.Connection) -> set[str]:
    rows = connection.execute(
        "SELECT DISTINCT own.key FROM documents AS d, "
        "json_each(json_patch(d.metadata, d.assigned)) AS own"
    )
    return {str(key) for (key,) in rows}
