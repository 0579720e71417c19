"""Stage 1: the words that retrieval looks for.

Without a glossary and without an LLM the query passes through unchanged. Whatever is put here sets
`SearchState.queries` and nothing else: ranking and answering use the words the user typed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from localrag.records import SearchState

__all__ = ["PassThrough"]


@dataclass(frozen=True, slots=True)
class PassThrough:
    """Look for exactly what the user typed."""

    name: str = "1. transform"

    def __call__(self, state: SearchState) -> SearchState:
        """Set the one query."""
        return replace(state, queries=(state.query,), note="query unchanged")
