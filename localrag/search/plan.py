"""What one search is to do.

Apart from the stages that do it, so that the models are being read while those are imported.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

from localrag.errors import SettingsError

if TYPE_CHECKING:
    from localrag.records import Filter

__all__ = ["CopiesMode", "ExpandMode", "Mode", "Plan"]

Mode = Literal["lexical", "vector", "hybrid"]
CopiesMode = Literal["together", "apart", "versions"]
ExpandMode = Literal["neighbours", "section", "window"]


@dataclass(frozen=True, slots=True)
class Plan:
    """What one search is to do."""

    mode: Mode = "hybrid"
    rerank: bool = True
    limit: int = 10
    """Passages that are wanted."""
    neighbours: int = 0
    """Chunks before and after each match that are shown with it; sentences of a window."""
    expand: ExpandMode | None = None
    """What is shown with each match; None for what the file's way of cutting returns."""
    per_document: int | None = None
    """Most results of one document; None for no limit."""
    token_budget: int | None = None
    """Most tokens of all passages together; None for no limit."""
    budget: float | None = None
    """Seconds that the cross-encoder may read; None for no limit."""
    filter: Filter | None = None
    """Which documents are looked at; None for all."""
    copies: CopiesMode = "together"
    """Whether texts that say the same are one result, and versions of a text as well."""
    operators: bool = False
    """Whether quoted phrases, exclusions and the like in the query are conditions."""

    def __post_init__(self) -> None:
        self._require("Copies", self.copies, CopiesMode)
        self._require("The mode", self.mode, Mode)
        if self.expand is not None:
            self._require("Expand", self.expand, ExpandMode)
        if self.limit < 1 or self.neighbours < 0:
            raise SettingsError("A limit is at least 1 and a context at least 0.")
        if self.budget is not None and not self.budget > 0:
            raise SettingsError("A budget is a number of seconds above 0. Leave it out for none.")
        for what, value in (("tokens", self.token_budget), ("per_document", self.per_document)):
            if value is not None and value < 1:
                raise SettingsError(f"{what} is at least 1. Leave it out for no limit.")

    def _require(self, what: str, value: str, choices: object) -> None:
        if value not in get_args(choices):
            raise SettingsError(
                f"{what} cannot be {value!r}. Use one of {', '.join(get_args(choices))}."
            )
