"""Which way of cutting has which name.

A new one is one line in `STRATEGIES`, and its name and size in `localrag.config`.

structural
    Follows headings, paragraphs, lists, tables and code.
fixed
    Windows of equally many tokens, whatever the text; tables and code stay whole.
sentence-window
    Every sentence is found by itself, and returned with the sentences around it.
parent-child
    Small structural chunks are found, and their section is returned.
record
    Every block is a chunk; tables are cut into small groups of rows, each with the header.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol, cast

from localrag.errors import SettingsError

if TYPE_CHECKING:
    from localrag.config import ContextLine
    from localrag.inference.protocols import TokenCounter
    from localrag.records import Chunk, Document, Section

__all__ = ["CHUNKER_VERSION", "STRATEGIES", "Splitter", "Strategy", "strategy"]

CHUNKER_VERSION = "3"
"""Changes whenever the same document would give other chunks."""


class Splitter(Protocol):
    """Turns a document into its heading tree and its chunks."""

    def __call__(
        self,
        document: Document,
        counter: TokenCounter,
        *,
        chunk_tokens: int,
        overlap_tokens: int,
        context: ContextLine,
    ) -> tuple[tuple[Section, ...], tuple[Chunk, ...]]:
        """Return sections and chunks; the same document always gives the same ones.

        Together the chunks cover all text of the document's blocks, in order, and none is longer
        with its context than the model takes.

        Args:
            document: what a reader made of a file.
            counter: counts in the tokens of the model that will read the chunks.
            chunk_tokens: most tokens of a chunk, without its context, where it can be cut.
            overlap_tokens: most tokens that a chunk repeats of the one before.
            context: what stands in a chunk's line of context.

        Raises:
            SettingsError: a limit is too small to work with.
        """
        ...


@dataclass(frozen=True, slots=True)
class Strategy:
    """How documents are cut, and what a search returns of them."""

    module: str
    """Of this package, with a `split`; imported when a document is cut, which no search does."""
    returns: Literal["chunk", "window", "section"] = "chunk"
    """What is returned for a chunk that was found: itself, with its neighbours, its section."""

    @property
    def split(self) -> Splitter:
        """The function that cuts."""
        module = importlib.import_module(f"localrag.chunking.{self.module}")
        return cast("Splitter", module.split)


STRATEGIES: dict[str, Strategy] = {
    "structural": Strategy("structural"),
    "fixed": Strategy("fixed"),
    "sentence-window": Strategy("sentence_window", returns="window"),
    "parent-child": Strategy("structural", returns="section"),
    "record": Strategy("record"),
}
"""By name, the default first."""


def strategy(name: str) -> Strategy:
    """Return the way of cutting of that name.

    Raises:
        SettingsError: there is none.
    """
    if name not in STRATEGIES:
        known = ", ".join(STRATEGIES)
        raise SettingsError(f"There is no chunking {name!r}. Choose one of: {known}.")
    return STRATEGIES[name]
