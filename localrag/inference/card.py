"""The facts of a model, in one typed file beside its weights.

A directory of models holds `model.onnx`, `tokenizer.json` and the card `model.json`; a family that
shares files holds one card for each model and names the files in it.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

from localrag.checked import Facts, InvalidValueError, Limits, checked_json
from localrag.errors import ModelError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

__all__ = [
    "PLAIN_SIGMOID",
    "Calibration",
    "Kind",
    "ModelCard",
    "ModelFacts",
    "ModelFile",
    "Pooling",
    "RelativePath",
    "Sha256",
    "explain",
    "load_card",
    "sha256_of",
    "shipped_card",
]

Kind = Literal["bi-encoder", "cross-encoder"]
Pooling = Literal["mean", "first", "last", "none"]
RelativePath = Annotated[str, Limits(pattern=r"^[\w-][\w.-]*(/[\w-][\w.-]*)*$")]
"""Names below the card's directory, with forward slashes: a card cannot reach files elsewhere."""
Sha256 = Annotated[str, Limits(pattern=r"^[0-9a-f]{64}$")]
Positive = Annotated[int, Limits(gt=0)]

HASHED_AT_ONCE = 1 << 20


@dataclass(frozen=True, kw_only=True)
class ModelFile(Facts):
    """One file of a model."""

    path: RelativePath
    """Below the card's own directory."""
    sha256: Sha256
    bytes: Annotated[int, Limits(ge=0)]


@dataclass(frozen=True, kw_only=True)
class Calibration(Facts):
    """Platt scaling: probability = 1 / (1 + exp(-(scale * logit + bias))).

    Source: J. Platt, Probabilistic outputs for support vector machines, 1999.
    """

    scale: Annotated[float, Limits(gt=0)]
    bias: float
    fitted_on: str = ""
    """Data, number of pairs and share of relevant ones."""


PLAIN_SIGMOID = Calibration(scale=1.0, bias=0.0)
"""What a cross-encoder without a calibration gets: its logit's own sigmoid, fitted on nothing."""


@dataclass(frozen=True, kw_only=True)
class ModelFacts(Facts):
    """What must be known of a model to run it, wherever its files are."""

    name: Annotated[str, Limits(min_length=1)]
    """What it is called, and its folder once it is kept: letters, digits, points, hyphens."""
    kind: Kind
    """``"bi-encoder"``, which makes vectors, or ``"cross-encoder"``, which scores pairs."""
    architecture: str = ""
    """Layers, sizes and number formats, for a reader."""
    dimensions: Positive | None = None
    """Length of a vector; of bi-encoders only."""
    max_tokens: Annotated[int, Limits(ge=16)]
    """Longest input with its prefix and special tokens."""
    pooling: Pooling | None = None
    """How token vectors become one: their mean, the first, the last, or none where the model does
    that itself and returns one vector for each text; of bi-encoders only."""
    output: Annotated[str, Limits(min_length=1)] | None = None
    """Name of the output that is read; the model's first unless given."""
    normalize: bool = True
    """Whether vectors are divided by their length; of bi-encoders only."""
    query_prefix: str = ""
    """Put before every query, blank included, as the model was trained."""
    passage_prefix: str = ""
    """Put before every passage."""
    licence: str
    """Of the weights."""
    source: str
    """Where the weights come from."""
    languages: tuple[str, ...] = ()
    """Those it was made for, by their two letters; for a reader."""
    calibration: Calibration | None = None
    """From logit to probability, the logit's sigmoid where there is none; of cross-encoders only.
    """
    window_tokens: Annotated[int, Limits(ge=16)] | None = None
    """Tokens of the windows in which a search reads the best of its passages a second time; once
    only where there is none; of cross-encoders only."""
    model: RelativePath = "model.onnx"
    """The ONNX file, below the card's folder."""
    tokenizer: RelativePath = "tokenizer.json"
    """In the format of Hugging Face tokenizers."""
    compiled_tokenizer: RelativePath | None = None
    """The same tokenizer in a form that loads at once, read instead of it; of models that ship."""
    fused: bool = False
    """Whether the graph is as fast as it can be, so that loading need not look for what to fuse."""

    def __post_init__(self) -> None:
        """Check that it is whole for its kind. ValueError: it is not."""
        bi_encoder = self.kind == "bi-encoder"
        if bi_encoder != (self.dimensions is not None and self.pooling is not None):
            raise ValueError("dimensions and pooling belong to a bi-encoder, and it needs both")
        if bi_encoder and self.calibration is not None:
            raise ValueError("a calibration belongs to a cross-encoder")
        if bi_encoder and self.window_tokens is not None:
            raise ValueError("window_tokens belongs to a cross-encoder")

    def _require_listed(self, paths: Iterable[str]) -> None:
        """Check that all files that are needed are among `paths`. ValueError: one is not."""
        needed = {self.model, self.tokenizer, self.compiled_tokenizer or self.tokenizer}
        if missing := needed - set(paths):
            raise ValueError(f"not listed under files: {', '.join(sorted(missing))}")


@dataclass(frozen=True, kw_only=True)
class ModelCard(ModelFacts):
    """The facts of a model beside its files, and how to know that they are the same files."""

    files: Annotated[tuple[ModelFile, ...], Limits(min_length=1)]
    """Every file that is needed, model and tokenizer among them, each with its path, length in
    bytes and SHA-256. `localrag models add` fills them in."""

    def __post_init__(self) -> None:
        """Check that it lists its files, too. ValueError: it does not."""
        super().__post_init__()
        self._require_listed(file.path for file in self.files)

    @property
    def bytes(self) -> int:
        """Length of all files together."""
        return sum(file.bytes for file in self.files)

    @property
    def fingerprint(self) -> str:
        """Hash of all that decides what the model returns, 16 hexadecimal digits.

        The compiled tokenizer is left out: it gives the tokens of the one it was compiled from, so
        that a new form of it leaves every vector as it was.
        """
        deciding = [file for file in self.files if file.path != self.compiled_tokenizer]
        facts: dict[str, object] = {
            "files": sorted(file.sha256 for file in deciding),
            "pooling": self.pooling,
            "normalize": self.normalize,
            "prefixes": [self.query_prefix, self.passage_prefix],
            "max_tokens": self.max_tokens,
        }
        if self.output is not None:  # left out where it is not set, as in fingerprints before it
            facts["output"] = self.output
        return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()[:16]

    def verify(self, directory: Path) -> None:
        """Check length and sha256 of every file below `directory`.

        Raises:
            ModelError: a file is missing or differs.
        """
        for file in self.files:
            _verify_file(directory / file.path, file)


def load_card(path: Path) -> ModelCard:
    """Return the card at `path`.

    Raises:
        ModelError: there is no such file, or it is not a valid card.
    """
    try:
        return checked_json(path.read_bytes(), ModelCard)
    except FileNotFoundError:
        raise ModelError(
            f"no model card at {path}: give a directory with model.onnx, tokenizer.json and "
            "model.json, or reinstall localrag to restore its own models"
        ) from None
    except OSError as error:
        raise ModelError(f"cannot read the model card: {error}: check its permissions") from error
    except InvalidValueError as error:
        raise ModelError(explain(path, error)) from error


def shipped_card(path: Path) -> ModelCard:
    """Return the card at `path`, which is one that ships; a test has checked those in full.

    Raises:
        ModelError: as `load_card`.
    """
    try:
        facts = json.loads(path.read_bytes())
        facts["files"] = tuple(ModelFile(**file) for file in facts["files"])
        facts["languages"] = tuple(facts.get("languages", ()))
        if calibration := facts.get("calibration"):
            facts["calibration"] = Calibration(**calibration)
        return ModelCard(**facts)
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return load_card(path)  # which says what is wrong with it


def explain(path: Path, error: InvalidValueError) -> str:
    """Return what is wrong with the card at `path`, by name of the field, and what to do."""
    if error.field == "files" and error.missing:
        return (
            f"{path} does not list its files: localrag models add {path.parent} fills in their "
            "lengths and hashes and keeps the model"
        )
    field = error.field or "card"
    return f"{path} is not a valid model card: {field}: {error.problem}: correct that field"


def _verify_file(path: Path, file: ModelFile) -> None:
    if not path.is_file():
        raise ModelError(f"model file {path} is missing: reinstall or download the model again")
    if path.stat().st_size != file.bytes or sha256_of(path) != file.sha256:
        raise ModelError(
            f"model file {path} differs from its card: reinstall or download the model again"
        )


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file, 64 hexadecimal digits."""
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        while block := stream.read(HASHED_AT_ONCE):
            digest.update(block)
    return digest.hexdigest()
