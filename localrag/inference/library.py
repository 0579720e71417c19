"""Puts models into the user's directory: whole and tried, or not at all.

A model is put together in a hidden folder there, checked, and renamed. What an interruption leaves
behind is in that hidden folder, which nothing else looks into.
"""

from __future__ import annotations

import json
import re
import shutil
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from localrag.checked import InvalidValueError, checked
from localrag.errors import BusyError, ModelError
from localrag.inference.bundle import (
    DEFAULT_FAMILY,
    InstalledModel,
    cards_in,
    installed_models,
    user_models,
)
from localrag.inference.card import ModelCard, ModelFacts, explain, load_card, sha256_of
from localrag.inference.trial import try_model

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["add_models", "being_made", "check_model", "put_in_place"]

UNFINISHED = ".unfinished"
FOLDER_NAME = re.compile(r"[A-Za-z0-9][\w.-]*")


def add_models(place: Path) -> list[InstalledModel]:
    """Check, try and copy the models of a directory, or the one of a card file.

    A card without `files` gets them filled in, with lengths and hashes as they are now.

    Raises:
        ModelError: there is no card, or a model is not what its card says.
        BusyError: another process is putting a model of that name in place.
    """
    cards = [place] if place.is_file() else cards_in(place)
    if not cards:
        raise ModelError(
            f"{place} holds no model card: write model.json beside the model's files, see "
            "docs/models.md"
        )
    return [_add(path) for path in cards]


def check_model(model: InstalledModel) -> None:
    """Compare the files of an installed model with their hashes, and run it once.

    Raises:
        ModelError: something is wrong with it.
    """
    model.card.verify(model.path.parent)
    try_model(model.card, model.path.parent)


@contextmanager
def being_made(name: str) -> Iterator[Path]:
    """Yield the hidden folder in which model `name` is put together, by one process at a time.

    Raises:
        ModelError: the name cannot be a folder's, is that of a model that ships, or the directory
            cannot be written to.
        BusyError: another process is at it.
    """
    from filelock import FileLock, Timeout  # noqa: PLC0415 - only where models are put in place

    _require_free_name(name)
    folder = user_models() / UNFINISHED / name
    lock = FileLock(f"{folder}.lock", timeout=0)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with lock:
            yield folder
    except Timeout:
        raise BusyError(
            f"another process is putting {name} in place: wait for it, then run this again"
        ) from None
    except OSError as error:
        raise ModelError(
            f"cannot write to {user_models()}: {error}: make room or change its permissions, or "
            "set LOCALRAG_MODELS to another folder. What has arrived is kept; the same command "
            "goes on from there"
        ) from error


def put_in_place(folder: Path, card: ModelCard) -> InstalledModel:
    """Check and try the files in `folder`, then make them the installed model of that name.

    Raises:
        ModelError: the files are not what the card says; nothing is installed then.
    """
    card.verify(folder)
    try_model(card, folder)
    facts = {name: fact for name, fact in asdict(card).items() if fact is not None}
    text = json.dumps(facts, ensure_ascii=False, indent=2)
    (folder / "model.json").write_text(f"{text}\n", encoding="utf-8")
    target = user_models() / card.name
    former = folder.with_name(f"{card.name}.former")
    shutil.rmtree(former, ignore_errors=True)
    if target.exists():
        target.rename(former)
    folder.rename(target)
    shutil.rmtree(former, ignore_errors=True)
    return InstalledModel(card, target / "model.json", "user")


def _add(path: Path) -> InstalledModel:
    card = _completed(path)
    _require_same(card)
    with being_made(card.name) as folder:
        try:
            shutil.rmtree(folder)  # an interrupted download of that name is another thing
            for file in card.files:
                target = folder / file.path
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(_present(path.parent / file.path), target)
            return put_in_place(folder, card)
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def _completed(path: Path) -> ModelCard:
    """Return the card at `path`, with its files described where it leaves them out."""
    try:
        facts = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return load_card(path)  # which says what is wrong with it
    if not isinstance(facts, dict) or "files" in facts:
        return load_card(path)
    try:
        names = _needed(checked(facts, ModelFacts), path.parent)
        return checked(facts | {"files": [_file(path.parent, n) for n in names]}, ModelCard)
    except InvalidValueError as error:
        raise ModelError(explain(path, error)) from error


def _needed(facts: ModelFacts, directory: Path) -> list[str]:
    """Return the model, its weights where they lie beside it under its name, and the tokenizer."""
    model = Path(facts.model)
    beside = (directory / model.parent).glob(f"{model.name}?*")
    weights = [(model.parent / path.name).as_posix() for path in beside if path.is_file()]
    return [facts.model, *sorted(weights), facts.tokenizer]


def _file(directory: Path, name: str) -> dict[str, Any]:
    path = _present(directory / name)
    return {"path": name, "sha256": sha256_of(path), "bytes": path.stat().st_size}


def _present(path: Path) -> Path:
    if not path.is_file():
        raise ModelError(f"{path} is missing: put it there, or correct its name in the card")
    return path


def _require_free_name(name: str) -> None:
    if not FOLDER_NAME.fullmatch(name):
        raise ModelError(
            f'a model called "{name}" cannot be kept: use letters, digits, points, hyphens and '
            "underscores only in the name on its card"
        )
    bundled = {model.card.name for model in installed_models() if model.origin == "bundled"}
    if name in {DEFAULT_FAMILY, *bundled}:
        raise ModelError(f"{name} ships with localrag: give the model another name on its card")


def _require_same(card: ModelCard) -> None:
    """Refuse to replace a model that others may be using by one that computes something else."""
    for model in installed_models():
        other = model.card.fingerprint != card.fingerprint
        if model.origin == "user" and model.card.name == card.name and other:
            raise ModelError(
                f"another model called {card.name} is in {model.path.parent}: knowledge bases may "
                "have been made with it. Give the new one another name, or remove that folder first"
            )
