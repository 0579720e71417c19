"""Finds models by name or path: those that ship with localrag, and those that the user added.

The former lie in the directory that the wheel installs, or in the checkout that the package is run
from. The latter lie in a directory of the user's own, one folder for each model; the environment
variable LOCALRAG_MODELS names another.
"""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from localrag.errors import ModelError
from localrag.inference.card import load_card, shipped_card

if TYPE_CHECKING:
    from collections.abc import Iterator

    from localrag.inference.card import ModelCard

__all__ = [
    "DEFAULT_FAMILY",
    "InstalledModel",
    "bundled_models",
    "card_paths",
    "cards_in",
    "find_card",
    "find_fingerprint",
    "installed_models",
    "lasting_name",
    "read_card",
    "user_models",
]

DEFAULT_FAMILY = "multilingual-e5-small"
ENVIRONMENT = "LOCALRAG_MODELS"
PACKAGE = Path(__file__).resolve().parent.parent
Origin = Literal["bundled", "user"]
CARD_NAMES = ("bi-encoder.json", "cross-encoder.json", "model.json")


@dataclass(frozen=True, slots=True)
class InstalledModel:
    """A model whose files are on this machine."""

    card: ModelCard
    path: Path
    """Of the card; the files lie beside it."""
    origin: Origin


def bundled_models() -> Path:
    """Return the directory that holds one directory for each model family that ships.

    Raises:
        ModelError: there is none.
    """
    for candidate in (PACKAGE / "_models", PACKAGE.parent / "models"):
        if (candidate / DEFAULT_FAMILY).is_dir():
            return candidate
    raise ModelError("the models that ship with localrag are missing: reinstall localrag")


def user_models() -> Path:
    """Return the directory of the user's own models; it need not exist."""
    named = os.environ.get(ENVIRONMENT)
    if named:
        return Path(named).expanduser().absolute()
    from platformdirs import user_data_path  # noqa: PLC0415 - only where no other place is named

    return user_data_path("localrag", appauthor=False) / "models"


def card_paths() -> Iterator[tuple[Path, Origin]]:
    """Yield the card of every model on this machine, valid or not, those that ship first.

    Raises:
        ModelError: the models that ship are missing.
    """
    for path in cards_in(bundled_models() / DEFAULT_FAMILY):
        yield path, "bundled"
    for folder in _folders(user_models()):
        for path in cards_in(folder):
            yield path, "user"


def installed_models() -> list[InstalledModel]:
    """Return every model on this machine whose card is valid, those that ship first."""
    return list(_valid_models())


def _valid_models() -> Iterator[InstalledModel]:
    for path, origin in card_paths():
        with suppress(ModelError):  # `localrag models verify` tells what is wrong with it
            yield InstalledModel(read_card(path), path, origin)


def read_card(path: Path) -> ModelCard:
    """Return the card at `path`, which is checked unless it is one that ships.

    Raises:
        ModelError: there is no such file, or it is not a valid card.
    """
    return shipped_card(path) if _ships(path) else load_card(path)


def _ships(path: Path) -> bool:
    try:
        return path.parent == bundled_models() / DEFAULT_FAMILY
    except ModelError:  # none ship
        return False


def find_card(model: str | Path | None, kind: str) -> Path:
    """Return the card of a model.

    Args:
        model: the name of a model or of its family, a directory, or a card file; the model that
            ships when None. A bare name means an installed model before it means a directory.
        kind: ``"bi-encoder"`` or ``"cross-encoder"``.

    Raises:
        ModelError: nothing of that name holds a model of that kind.
    """
    found = _installed(DEFAULT_FAMILY if model is None else str(model), kind)
    if found is None and model is not None:
        found = _card_at(Path(model).expanduser(), kind)
    if found is None:
        raise ModelError(_missing(str(model or DEFAULT_FAMILY), kind))
    return found


def find_fingerprint(fingerprint: str) -> Path | None:
    """Return the card of an installed model by what it computes, whatever its name; or None."""
    return next(
        (model.path for model in _valid_models() if model.card.fingerprint == fingerprint), None
    )


def lasting_name(model: str | os.PathLike[str], kind: str) -> str:
    """Return a name by which `model` can be found again from another working directory.

    What is not there at all keeps its name, for the message that says so.
    """
    place = Path(model).expanduser()
    if _installed(str(model), kind) is not None or not place.exists():
        return str(model)
    return str(place.absolute())


def _installed(name: str, kind: str) -> Path | None:
    """Return the card of an installed model or family called `name`; None where it is a path."""
    if name in {"", ".", ".."} or Path(name).name != name:
        return None
    if name == DEFAULT_FAMILY:
        return _card_at(bundled_models() / name, kind)
    card = _card_at(user_models() / name, kind)
    if card is None:
        shipped = cards_in(bundled_models() / DEFAULT_FAMILY)
        cards = {shipped_card(path).name: path for path in shipped}
        card = cards.get(name)
    return card


def _card_at(place: Path, kind: str) -> Path | None:
    candidates = (place, place / f"{kind}.json", place / "model.json")
    return next((path for path in candidates if path.is_file()), None)


def _folders(directory: Path) -> Iterator[Path]:
    """Yield the folders of models; hidden ones hold what is not finished."""
    if directory.is_dir():
        yield from sorted(
            path for path in directory.iterdir() if path.is_dir() and path.name[0] != "."
        )


def cards_in(folder: Path) -> list[Path]:
    """Return the cards of a folder; each describes one model."""
    return [folder / name for name in CARD_NAMES if (folder / name).is_file()]


def _missing(name: str, kind: str) -> str:
    from localrag.inference.catalogue import catalogue  # noqa: PLC0415 - for this message alone

    if name in catalogue():
        return f"{name} is not on this machine yet. Fetch it once: localrag models pull {name}"
    return (
        f"no {kind} called {name}: localrag models list shows what can be named; a folder needs "
        f"{kind}.json or model.json, see docs/models.md"
    )
