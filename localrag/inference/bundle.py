"""Finds the models that ship with localrag, and others by their path.

Places, in this order: the directory named by the environment variable LOCALRAG_MODELS, the
directory that the wheel installs, the checkout that the package is run from.
"""

from __future__ import annotations

import os
from pathlib import Path

from localrag.errors import ModelError

__all__ = ["DEFAULT_FAMILY", "bundled_models", "find_card"]

DEFAULT_FAMILY = "multilingual-e5-small"
ENVIRONMENT = "LOCALRAG_MODELS"
PACKAGE = Path(__file__).resolve().parent.parent


def bundled_models() -> Path:
    """Return the directory that holds one directory for each model family.

    Raises:
        ModelError: there is none.
    """
    named = os.environ.get(ENVIRONMENT)
    if named:
        return _existing(Path(named).expanduser())
    for candidate in (PACKAGE / "_models", PACKAGE.parent / "models"):
        if (candidate / DEFAULT_FAMILY).is_dir():
            return candidate
    raise ModelError(
        "the models that ship with localrag are missing: reinstall localrag, or set "
        f"{ENVIRONMENT} to a directory that holds {DEFAULT_FAMILY}/"
    )


def _existing(directory: Path) -> Path:
    if not directory.is_dir():
        raise ModelError(
            f"{ENVIRONMENT} names {directory}, which is not a directory: correct or unset it"
        )
    return directory


def find_card(model: str | Path | None, kind: str) -> Path:
    """Return the card of `model`: a card file, a directory, a bundled family's name, or None.

    Raises:
        ModelError: nothing of that name holds a model of that kind.
    """
    place = bundled_models() / DEFAULT_FAMILY if model is None else Path(model).expanduser()
    if model is not None and not place.exists():
        place = bundled_models() / str(model)
    candidates = [place, place / f"{kind}.json", place / "model.json"]
    for candidate in candidates:
        if candidate.is_file():
            return candidate
    raise ModelError(
        f"no {kind} called {model or DEFAULT_FAMILY!s}: give a directory that holds {kind}.json "
        "or model.json, or leave the setting out to use the model that ships with localrag"
    )
