"""What must be known of a model that a server runs: a card like that of a local one.

A remote model is named by an address, ``http://localhost:11434/v1#nomic-embed-text``, or by a card:
a JSON file with a ``url`` where a local card has its files.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Literal
from urllib.parse import urlsplit

from localrag.checked import Facts, InvalidValueError, Limits, checked
from localrag.errors import ModelError
from localrag.inference.card import PLAIN_SIGMOID, Calibration, Kind, Positive, RelativePath

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

__all__ = [
    "RemoteCard",
    "batches",
    "card_of_address",
    "is_address",
    "read_remote_card",
    "remote_card",
]

KEY_VARIABLES: dict[Kind, str] = {
    "bi-encoder": "LOCALRAG_EMBEDDINGS_API_KEY",
    "cross-encoder": "LOCALRAG_RERANK_API_KEY",
}
Seconds = Annotated[float, Limits(gt=0)]


@dataclass(frozen=True, kw_only=True)
class RemoteCard(Facts):
    """Facts of a model on a server."""

    kind: Kind
    url: str
    """Address below which ``/embeddings`` or ``/rerank`` lies, without a password."""
    model: Annotated[str, Limits(min_length=1)]
    """The model's name on the server."""
    api_key_variable: Annotated[str, Limits(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")] | None = None
    """Environment variable with the API key; one for each kind where none is given."""
    dimensions: Positive | None = None
    """Length of a vector; asked for at the first need where it is not given."""
    max_tokens: Annotated[int, Limits(ge=64)] = 512
    """Longest input that the server reads whole."""
    tokenizer: RelativePath | None = None
    """The model's `tokenizer.json`, beside the card; tokens are estimated without it."""
    query_prefix: str = ""
    passage_prefix: str = ""
    scores: Literal["probability", "logit"] = "probability"
    """What the numbers of a rerank endpoint are."""
    calibration: Calibration = PLAIN_SIGMOID
    """From the logit of a score to the probability that is shown; of cross-encoders only."""
    batch_texts: Positive = 32
    """Most texts of one request."""
    batch_characters: Positive = 60_000
    """Most characters of one request, unless one text alone has more."""
    query_seconds: Seconds = 10.0
    """All that a search waits for an answer before it goes on without."""
    batch_seconds: Seconds = 120.0
    """How long the server may be silent over one batch of passages."""

    def __post_init__(self) -> None:
        """Check the address. ValueError: it is none, or holds what it must not."""
        if not (self.url.isascii() and self.url.isprintable()) or " " in self.url:
            raise ValueError("url: an address is written in ASCII and without blanks")
        parts = urlsplit(self.url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError("url: an address begins with http:// or https:// and names a host")
        if parts.username or parts.password or parts.query or parts.fragment:
            raise ValueError("url: an address holds no password, no ? and no #")
        _ = parts.port  # ValueError: not a number

    @property
    def key_variable(self) -> str:
        """The environment variable that may hold the API key."""
        return self.api_key_variable or KEY_VARIABLES[self.kind]

    @property
    def fingerprint(self) -> str:
        """Hash of all that is known to decide what the model returns.

        The address is left out: the same model may move. What a server runs under a name cannot be
        seen from here.
        """
        facts = [self.kind, self.model, self.query_prefix, self.passage_prefix]
        return f"remote-{hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:16]}"


_OTHER_KIND: dict[Kind, frozenset[str]] = {
    "bi-encoder": frozenset({"scores", "calibration"}),
    "cross-encoder": frozenset({"dimensions", "tokenizer", "max_tokens"}),
}


def remote_card(facts: Mapping[str, object]) -> RemoteCard:
    """Return the card that holds `facts`.

    Raises:
        InvalidValueError: a fact is missing, wrong, or belongs to the other kind of model.
    """
    card = checked(facts, RemoteCard)
    foreign = _OTHER_KIND[card.kind] & facts.keys()
    if foreign:
        raise InvalidValueError("", f"of the other kind of model: {', '.join(sorted(foreign))}")
    return replace(card, url=card.url.rstrip("/"))


def is_address(model: object) -> bool:
    """Tell whether `model` names a server rather than a file or a bundled family."""
    return isinstance(model, str) and model.lower().startswith(("http://", "https://"))


def card_of_address(address: str, kind: Kind) -> RemoteCard:
    """Return the card of ``URL#MODEL``.

    Raises:
        ModelError: a part is missing or wrong.
    """
    url, _, model = address.partition("#")
    try:
        return remote_card({"kind": kind, "url": url, "model": model})
    except InvalidValueError as error:
        raise ModelError(
            f"{_without_password(address)} does not name a remote model: {error}. Write "
            "it as http://HOST:PORT/v1#MODEL"
        ) from None


def read_remote_card(path: Path, kind: Kind) -> RemoteCard | None:
    """Return the card at `path` if it is that of a remote model, None if it is a local one's.

    Raises:
        ModelError: it has a ``url`` and is not a valid card, or is of another kind.
    """
    try:
        found = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return None  # `load_card` says what is wrong
    if not isinstance(found, dict) or "url" not in found:
        return None
    try:
        card = remote_card(found)
    except InvalidValueError as error:
        raise ModelError(
            f"{path} is not a valid card of a remote model: {error}: correct that field"
        ) from None
    if card.kind != kind:
        raise ModelError(f"{path} is the card of a {card.kind}: give a {kind}")
    return card


def batches(texts: Sequence[str], card: RemoteCard) -> Iterator[range]:
    """Yield the positions of `texts` in order, in runs within the card's limits of a request."""
    start = size = 0
    for position, text in enumerate(texts):
        full = position - start >= card.batch_texts or size + len(text) > card.batch_characters
        if position > start and full:
            yield range(start, position)
            start, size = position, 0
        size += len(text)
    if start < len(texts):
        yield range(start, len(texts))


def _without_password(address: str) -> str:
    head, at, tail = address.rpartition("@")
    return f"{head.partition('//')[0]}//***@{tail}" if at else address
