"""Guards the vectors: a file is only searched and extended with the model that made them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from localrag.chunking.splitters import CHUNKER_VERSION
from localrag.errors import FingerprintError
from localrag.inference.bundle import find_fingerprint
from localrag.store.settings import get_setting
from localrag.text.analysis import ANALYSER_VERSION

if TYPE_CHECKING:
    import apsw

    from localrag.inference.protocols import Embedder

__all__ = ["analysis_of", "fingerprint_of", "model_name", "require_fingerprint"]

GO_ON = "Or go on with the old one: name no model."
NOT_HERE = "The old one is not on this machine; where a server has it, name it with --model."


def fingerprint_of(embedder: Embedder) -> str:
    """Return what the rows of a file depend on: the bi-encoder, then analyser and splitter."""
    return f"{embedder.fingerprint} {_analysis()}"


def _analysis() -> str:
    return f"analyser-{ANALYSER_VERSION} chunker-{CHUNKER_VERSION}"


def analysis_of(fingerprint: str) -> str:
    """Return the part of a fingerprint that is not the model's."""
    return " ".join(fingerprint.split()[-2:])


def model_name(embedder: Embedder) -> str:
    """Return the name that a person knows the model by."""
    return str(getattr(embedder, "name", type(embedder).__name__))


def require_fingerprint(connection: apsw.Connection, embedder: Embedder, file: str) -> None:
    """Check that the file was made with `embedder` and this analysis; a fresh file fits all.

    Raises:
        FingerprintError: it was not; the message names the way out.
    """
    stored = get_setting(connection, "fingerprint")
    current = fingerprint_of(embedder)
    if stored is None or stored == current:
        return
    if analysis_of(stored) != _analysis():
        message = (
            f"{file} was made with another version of the text analysis; searching it with this "
            "one would give wrong results. Index the documents again into a new file: "
            "localrag index FOLDER --db NEW.db"
        )
    else:
        made_with = get_setting(connection, "model") or "another model"
        here = find_fingerprint(stored.partition(" ")[0]) is not None
        message = (
            f"{file} was made with {made_with}; the vectors of {model_name(embedder)} cannot be "
            f"compared with those in it. Change the file over: localrag reembed --db {file}, with "
            "--model if the new one is not the one that ships. " + (GO_ON if here else NOT_HERE)
        )
    raise FingerprintError(message, stored=stored, current=current)
