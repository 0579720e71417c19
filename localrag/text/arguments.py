"""What a caller gives becomes what the engine works with: legal text, tuples, or nothing."""

from __future__ import annotations

from collections.abc import Iterable

from localrag.records import Filter, Metadata, Properties

__all__ = ["OneOrMany", "filter_of", "legal_text", "properties_of"]

OneOrMany = str | Iterable[str]


def legal_text(text: str) -> str:
    """Return a text without halves of surrogate pairs: they cannot be stored or tokenised."""
    return text.encode("utf-8", "replace").decode("utf-8")


def filter_of(
    where: str | None, path: OneOrMany | None, labels: Iterable[str] | None
) -> Filter | None:
    """Return the filter that a search is given; None where it lets everything through."""
    wanted = Filter(legal_text(where or ""), _several(path) or (), _several(labels))
    return None if wanted == Filter() else wanted


def properties_of(
    metadata: Metadata | None, labels: Iterable[str] | None, patterns: Iterable[str] | None
) -> Properties | None:
    """Return what is said of a source; None where nothing is."""
    given = Properties(metadata, _several(labels), _several(patterns))
    return None if given == Properties() else given


def _several(values: OneOrMany | None) -> tuple[str, ...] | None:
    """Return one text or several as a tuple; None stays None."""
    if values is None:
        return None
    return tuple(map(legal_text, (values,) if isinstance(values, str) else values))
