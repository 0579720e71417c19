"""Which chunks say the same: keys to find them by, and the groups they were put in."""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from localrag.records import Allowed

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import apsw

__all__ = [
    "Grouping",
    "Member",
    "group_members",
    "groups_of",
    "has_groups",
    "insert_keys",
    "join_group",
    "newest_same_hash",
    "newest_with_keys",
    "without_groups",
]

Grouping = Literal["copy_group", "version_group"]
"""Copies say the same; versions may differ in a figure or a name."""

MOST_FOUND: Final = 8
"""Chunks looked at per key, the newest: all of a text that stands everywhere are one group."""


def insert_keys(connection: apsw.Connection, keys: Mapping[int, Iterable[int]]) -> None:
    """Keep the keys of each chunk."""
    connection.executemany(
        "INSERT OR IGNORE INTO chunk_keys(key, chunk_id) VALUES(?, ?)",
        [(key, chunk_id) for chunk_id, own in keys.items() for key in own],
    )


def newest_with_keys(connection: apsw.Connection, keys: Iterable[int]) -> list[int]:
    """Return the newest chunks that share a key, in the order of the keys."""
    found: dict[int, None] = {}
    for key in keys:
        rows = connection.execute(
            "SELECT chunk_id FROM chunk_keys WHERE key = ? ORDER BY chunk_id DESC LIMIT ?",
            (key, MOST_FOUND),
        )
        found |= {int(chunk_id): None for (chunk_id,) in rows}
    return list(found)


def newest_same_hash(connection: apsw.Connection, chunk_id: int) -> int | None:
    """Return an older chunk with the same context and text, or None."""
    found = connection.execute(
        "SELECT id FROM chunks WHERE id < ?1 AND content_hash = "
        "(SELECT content_hash FROM chunks WHERE id = ?1) ORDER BY id DESC LIMIT 1",
        (chunk_id,),
    ).get
    return None if found is None else int(found)


def join_group(connection: apsw.Connection, chunk_id: int, other_id: int, *, is_copy: bool) -> None:
    """Put a chunk into the groups of another, which becomes the first of them if it has none."""
    row = connection.execute(
        "SELECT copy_group, version_group FROM chunk_copies WHERE chunk_id = ?", (other_id,)
    ).fetchone()
    copy_group, version_group = row or (None, other_id)
    if is_copy and copy_group is None:
        copy_group = other_id
    connection.executemany(
        "INSERT INTO chunk_copies(chunk_id, copy_group, version_group) VALUES(?, ?, ?) "
        "ON CONFLICT(chunk_id) DO UPDATE SET copy_group = excluded.copy_group",
        [
            (other_id, copy_group, version_group),
            (chunk_id, copy_group if is_copy else None, version_group),
        ],
    )


def has_groups(connection: apsw.Connection, grouping: Grouping) -> bool:
    """Tell whether any chunk has a copy, or a version."""
    sql = f"SELECT EXISTS(SELECT 1 FROM chunk_copies WHERE {grouping} IS NOT NULL)"  # noqa: S608 - a literal
    return bool(connection.execute(sql).get)


def groups_of(
    connection: apsw.Connection, ids: Iterable[int], grouping: Grouping
) -> dict[int, int]:
    """Return the group of each of these chunks that has one."""
    rows = connection.execute(
        f"SELECT chunk_id, {grouping} FROM chunk_copies "  # noqa: S608 - a literal
        f"WHERE chunk_id IN (SELECT value FROM json_each(?)) AND {grouping} IS NOT NULL",
        (json.dumps(list(ids)),),
    )
    return {int(chunk_id): int(group) for chunk_id, group in rows}


@dataclass(frozen=True, slots=True)
class Member:
    """One place of a text: as much of its chunk as is needed to choose one."""

    chunk_id: int
    context: str


def group_members(
    connection: apsw.Connection, groups: Iterable[int], grouping: Grouping, allowed: Allowed | None
) -> dict[int, list[Member]]:
    """Return the allowed members of each group, those of the newest document first."""
    within = "" if allowed is None else "AND c.id IN (SELECT value FROM json_each(:ids)) "
    rows = connection.execute(
        f"SELECT g.{grouping}, c.id, c.context FROM chunk_copies AS g "  # noqa: S608 - literals
        "JOIN chunks AS c ON c.id = g.chunk_id JOIN documents AS d ON d.id = c.document_id "
        f"WHERE g.{grouping} IN (SELECT value FROM json_each(:groups)) {within}"
        "ORDER BY d.modified_at DESC, d.id DESC, c.ordinal",
        {"groups": json.dumps(list(groups)), "ids": allowed.ids if allowed else None},
    )
    members: defaultdict[int, list[Member]] = defaultdict(list)
    for group, chunk_id, context in rows:
        members[int(group)].append(Member(int(chunk_id), str(context)))
    return members


def without_groups(
    connection: apsw.Connection,
    allowed: Allowed | None,
    groups: Iterable[int],
    grouping: Grouping,
) -> Allowed:
    """Return what is allowed without the members of these groups."""
    chunks = "SELECT value AS id FROM json_each(:ids)" if allowed else "SELECT id FROM chunks"
    count, ids = connection.execute(
        f"SELECT count(*), json_group_array(id) FROM ({chunks}) WHERE id NOT IN "  # noqa: S608 - literals
        f"(SELECT chunk_id FROM chunk_copies WHERE {grouping} IN "
        "(SELECT value FROM json_each(:groups)))",
        {"ids": allowed.ids if allowed else None, "groups": json.dumps(list(groups))},
    ).get
    return Allowed(allowed.documents if allowed else 0, int(count), str(ids))
