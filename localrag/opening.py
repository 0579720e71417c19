"""Opens a file with the models that fit it; a file that is not there is made."""

from __future__ import annotations

from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from localrag.errors import NotAKnowledgeBaseError, SettingsError
from localrag.inference.choice import given_model, require_room, stored_model
from localrag.inference.load import load_embedder, load_reranker, open_embedder, open_reranker
from localrag.ingest.fingerprint import fingerprint_of, model_name, require_fingerprint
from localrag.store.database import Database
from localrag.store.settings import all_settings, set_setting
from localrag.store.vectors import create_vectors

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping

    from localrag.config import Settings
    from localrag.inference.protocols import Embedder, Reranker

__all__ = ["Opened", "keep_names", "open_file"]

CHUNK_SIZES: Final = ("chunk_tokens", "overlap_tokens")
"""Settings that belong to the file: chunks of two sizes in one base would compete unfairly."""
CHUNK_WAYS: Final = {"chunking": "structural", "context_line": "full", "vectors": "float32"}
"""How the file's documents are cut and kept, and how they were before that could be chosen."""


@dataclass(frozen=True, slots=True)
class Opened:
    """A file that is open, with what it works with."""

    database: Database
    embedder: Embedder
    reranker: Reranker
    settings: Settings
    """Those that were given, with the way of cutting that the file was made with."""
    names: Mapping[str, str | None]
    """The names by which the caller chose the two models; None where it did not."""


def open_file(
    path: str | os.PathLike[str],
    *,
    read_only: bool,
    settings: Settings,
    embedder: Embedder | str | os.PathLike[str] | None,
    reranker: Reranker | str | os.PathLike[str] | None,
) -> Opened:
    """Open or make a file. Arguments and errors are those of `KnowledgeBase`.

    What cannot work is said before a file is made for nothing; what was opened is closed again.
    """
    bi_encoder, embedder_name = given_model(
        "embedder", embedder or settings.embedder, open_embedder
    )
    cross_encoder, reranker_name = given_model(
        "reranker", reranker or settings.reranker, open_reranker
    )
    names = {"embedder": embedder_name, "reranker": reranker_name}
    with ExitStack() as undo:
        for model in (bi_encoder, cross_encoder):
            if model is not None:
                undo.enter_context(closing(model))
        if not read_only and not Path(path).exists():
            bi_encoder = bi_encoder or undo.enter_context(closing(load_embedder()))
            _ = bi_encoder.dimensions  # a server that is not there leaves no empty file
            require_room(bi_encoder, settings.chunk_tokens)
        database = undo.enter_context(closing(Database(path, read_only=read_only)))
        stored, base = _stored(database), database.path.name
        bi_encoder = bi_encoder or stored_model("embedder", stored, load_embedder, base)
        cross_encoder = cross_encoder or stored_model("reranker", stored, load_reranker, base)
        _require_fit(database, bi_encoder)
        settings = _as_made(settings, stored, base)
        if not read_only:
            _make(database, bi_encoder, settings, names)
        undo.pop_all()
    return Opened(database, bi_encoder, cross_encoder, settings, names)


def keep_names(database: Database, names: Mapping[str, str | None]) -> None:
    """Note the models that were named, so that the file is opened with them from now on."""
    stored = _stored(database)
    changed = {part: name for part, name in names.items() if name and stored.get(part) != name}
    if changed:
        with database.atomic() as connection:
            for part, name in changed.items():
                set_setting(connection, part, name)


def _stored(database: Database) -> dict[str, str]:
    with database.reading() as connection:
        return all_settings(connection)


def _require_fit(database: Database, embedder: Embedder) -> None:
    """Refuse vectors of another model, and an empty file that nobody can fill.

    Raises:
        FingerprintError, NotAKnowledgeBaseError: as `KnowledgeBase`.
    """
    with database.reading() as connection:
        require_fingerprint(connection, embedder, database.path.name)
    if database.read_only and "fingerprint" not in _stored(database):
        raise NotAKnowledgeBaseError(
            f"{database.path} is empty. Fill it first: localrag index FOLDER --db {database.path}"
        )


def _as_made(settings: Settings, stored: Mapping[str, str], base: str) -> Settings:
    """Return `settings` with the way of cutting that the file was made with.

    Args:
        settings: what the caller wants.
        stored: the settings of the file.
        base: name of the file, for the message.

    Raises:
        SettingsError: the caller asked for another by name.
    """
    if "fingerprint" not in stored:
        return settings
    made: dict[str, Any] = {name: stored.get(name, first) for name, first in CHUNK_WAYS.items()}
    made |= {name: int(stored[name]) for name in CHUNK_SIZES if name in stored}
    for name, value in made.items():
        if name in settings.given and getattr(settings, name) != value:
            raise SettingsError(
                f"{base} was made with {name} = {value}. To change it, "
                "index the documents into a new file: localrag index FOLDER --db NEW.db"
            )
    return replace(settings, **made)


def _make(
    database: Database, embedder: Embedder, settings: Settings, names: Mapping[str, str | None]
) -> None:
    """Make the vector table and note what the file is made with, once."""
    if "fingerprint" in _stored(database):
        return
    dimensions = embedder.dimensions  # of a remote model: nobody waits for its answer
    require_room(embedder, settings.chunk_tokens)
    with database.atomic() as connection:
        create_vectors(connection, dimensions, settings.vectors)
        set_setting(connection, "fingerprint", fingerprint_of(embedder))
        set_setting(connection, "model", model_name(embedder))
        for name in (*CHUNK_WAYS, *CHUNK_SIZES):
            set_setting(connection, name, str(getattr(settings, name)))
    keep_names(database, names)
