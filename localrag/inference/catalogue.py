"""The models that `localrag models pull` knows: the facts of each, and where its files are.

The list is `catalogue.json` beside this module. A file whose SHA-256 is written there must have it;
of any other the hub's own hash is taken at the download and kept in the stored card from then on.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Annotated

from localrag.checked import Facts, Limits, checked_json
from localrag.inference.card import ModelFacts, Positive, RelativePath, Sha256

__all__ = ["CatalogueEntry", "HubFile", "catalogue"]


@dataclass(frozen=True, kw_only=True)
class HubFile(Facts):
    """One file of a model on the hub."""

    path: RelativePath
    """In the repository, and below the model's directory once it is here."""
    sha256: Sha256 | None = None
    """None where it is not known before the download."""
    bytes: Positive | None = None


@dataclass(frozen=True, kw_only=True)
class CatalogueEntry(ModelFacts):
    """A published model: its facts, and what to fetch."""

    name: Annotated[str, Limits(pattern=r"^[A-Za-z0-9][\w.-]*$")]
    repository: Annotated[str, Limits(pattern=r"^[\w.-]+/[\w.-]+$")]
    """Owner and name on the hub."""
    revision: Annotated[str, Limits(pattern=r"^([0-9a-f]{40}|main)$")]
    """The commit whose files these facts describe; `main`, the newest, where none is known."""
    files: Annotated[tuple[HubFile, ...], Limits(min_length=2)]

    def __post_init__(self) -> None:
        """Check that it lists its files, too. ValueError: it does not."""
        super().__post_init__()
        self._require_listed(file.path for file in self.files)


@cache
def catalogue() -> dict[str, CatalogueEntry]:
    """Return every entry by its name, in the order of the file."""
    text = files("localrag.inference").joinpath("catalogue.json").read_bytes()
    return {entry.name: entry for entry in checked_json(text, tuple[CatalogueEntry, ...])}
