"""Small named values kept in the file: the fingerprint, the chunk sizes, the models' names."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import apsw

__all__ = ["all_settings", "delete_setting", "get_setting", "set_setting"]


def get_setting(connection: apsw.Connection, key: str) -> str | None:
    """Return the value of `key`, or None."""
    row = connection.execute("SELECT value FROM settings WHERE key = ?", (key,)).fetchone()
    return None if row is None else str(row[0])


def set_setting(connection: apsw.Connection, key: str, value: str) -> None:
    """Keep `value` under `key`."""
    connection.execute(
        "INSERT INTO settings(key, value) VALUES(?, ?) "
        "ON CONFLICT(key) DO UPDATE SET value = excluded.value",
        (key, value),
    )


def delete_setting(connection: apsw.Connection, key: str) -> None:
    """Forget `key`."""
    connection.execute("DELETE FROM settings WHERE key = ?", (key,))


def all_settings(connection: apsw.Connection) -> dict[str, str]:
    """Return every setting."""
    rows = connection.execute("SELECT key, value FROM settings ORDER BY key")
    return {str(key): str(value) for key, value in rows}
