"""The glossary in the user's hands: see it, add to it, take out of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from localrag.errors import SettingsError
from localrag.store.glossary import add_entry, list_entries, switch_off
from localrag.text.arguments import legal_text
from localrag.text.folding import fold
from localrag.text.phrases import short_key

if TYPE_CHECKING:
    from localrag.records import GlossaryEntry
    from localrag.store.database import Database

__all__ = ["Glossary"]


class Glossary:
    """The abbreviations of one knowledge base: found in its documents, or added by the user."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def entries(self, term: str | None = None, *, all_: bool = False) -> list[GlossaryEntry]:
        """Return the entries in the order of their short forms.

        Args:
            term: only those whose short or long form contains it, whatever its case.
            all_: those that were switched off as well.
        """
        with self._database.reading() as connection:
            found = list_entries(connection)
        wanted = fold(legal_text(term or ""))
        return [
            entry
            for entry in found
            if (all_ or entry.active)
            and (wanted in fold(entry.short) or wanted in fold(entry.long))
        ]

    def add(self, short: str, long: str) -> None:
        """Add an abbreviation, or switch on again one that was removed. It stays until `remove`.

        Raises:
            SettingsError: one of the two has no word, or both are the same.
            ReadOnlyError: the file is open read-only.
        """
        short, long = (" ".join(legal_text(text).split()) for text in (short, long))
        if not short_key(short) or not short_key(long) or short_key(short) == short_key(long):
            raise SettingsError(
                f"{short!r} and {long!r} are no abbreviation and what it stands for. Give both: "
                'localrag glossary add CRF "conditional random field"'
            )
        with self._database.atomic() as connection:
            add_entry(connection, short, long)

    def remove(self, short: str, long: str | None = None) -> bool:
        """Take an abbreviation out of use for good, or only one of its long forms.

        Found entries stay switched off when their documents are indexed again. Without `long` that
        holds for long forms which are found later, too. `add` switches one on again.

        Returns:
            Whether there was such an entry.

        Raises:
            ReadOnlyError: the file is open read-only.
        """
        with self._database.atomic() as connection:
            return switch_off(
                connection, legal_text(short), None if long is None else legal_text(long)
            )
