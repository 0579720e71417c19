"""The models that `localrag models pull` knows: the facts of each, and where its files are.

The list is `catalogue.json` beside this module. A file whose SHA-256 is written there must have it;
of any other the hub's own hash is taken at the download and kept in the stored card from then on.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Annotated, Self

from pydantic import Field, TypeAdapter, model_validator

from localrag.inference.card import Frozen, ModelFacts, RelativePath

__all__ = ["CatalogueEntry", "HubFile", "catalogue"]


class HubFile(Frozen):
    """One file of a model on the hub."""

    path: RelativePath
    """In the repository, and below the model's directory once it is here."""
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")] | None = None
    """None where it is not known before the download."""
    bytes: Annotated[int, Field(gt=0)] | None = None


class CatalogueEntry(ModelFacts):
    """A published model: its facts, and what to fetch."""

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][\w.-]*$")]
    repository: Annotated[str, Field(pattern=r"^[\w.-]+/[\w.-]+$")]
    """Owner and name on the hub."""
    revision: Annotated[str, Field(pattern=r"^([0-9a-f]{40}|main)$")]
    """The commit whose files these facts describe; `main`, the newest, where none is known."""
    files: Annotated[tuple[HubFile, ...], Field(min_length=2)]

    @model_validator(mode="after")
    def _lists_its_files(self) -> Self:
        missing = {self.model, self.tokenizer} - {file.path for file in self.files}
        if missing:
            raise ValueError(f"not listed under files: {', '.join(sorted(missing))}")
        return self


@cache
def catalogue() -> dict[str, CatalogueEntry]:
    """Return every entry by its name, in the order of the file."""
    text = files("localrag.inference").joinpath("catalogue.json").read_bytes()
    entries = TypeAdapter(tuple[CatalogueEntry, ...]).validate_json(text)
    return {entry.name: entry for entry in entries}
