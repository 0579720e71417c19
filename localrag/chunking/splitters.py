"""Which way of splitting has which name. A new splitter is one line in `_SPLITTERS`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from localrag.chunking import structural
from localrag.errors import SettingsError

if TYPE_CHECKING:
    from localrag.inference.protocols import TokenCounter
    from localrag.records import Chunk, Document, Section

__all__ = ["STRATEGIES", "Splitter", "splitter"]


class Splitter(Protocol):
    """Turns a document into its heading tree and its chunks."""

    def __call__(
        self,
        document: Document,
        counter: TokenCounter,
        *,
        chunk_tokens: int = 300,
        overlap_tokens: int = 50,
    ) -> tuple[tuple[Section, ...], tuple[Chunk, ...]]:
        """Return sections and chunks; the same document always gives the same ones."""
        ...


_SPLITTERS: dict[str, Splitter] = {
    "structural": structural.split,
}

STRATEGIES = tuple(_SPLITTERS)
"""Names of the splitters, the default first."""


def splitter(strategy: str) -> Splitter:
    """Return the splitter of that name.

    Raises:
        SettingsError: there is none.
    """
    if strategy not in _SPLITTERS:
        known = ", ".join(STRATEGIES)
        raise SettingsError(f"no chunking strategy {strategy!r}; choose one of: {known}")
    return _SPLITTERS[strategy]
