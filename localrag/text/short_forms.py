# ruff: noqa: RUF001 - characters of many scripts are the subject
"""Abbreviations and what they stand for, as a text itself explains them.

What is found, and how, is told by `localrag.text.short_forms_latin` and
`localrag.text.short_forms_cjk`.
"""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING, Final

from localrag.text.short_forms_cjk import cjk_short_forms
from localrag.text.short_forms_latin import latin_short_forms

if TYPE_CHECKING:
    from collections.abc import Iterator

    from localrag.text.short_form import ShortForm

__all__ = ["SHORT_FORMS_VERSION", "find_short_forms", "paragraphs"]

SHORT_FORMS_VERSION: Final = 1
"""Rises whenever the same text gives other pairs: documents are then looked through again."""

_PARAGRAPH = re.compile(r"\n\s*\n|\n(?=\s*(?:[#>|*+-]|\d+[.)]))")
_UNDERSCORES = re.compile(r"(?<![^\W_])_+|_+(?![^\W_])")
_OPENING = re.compile(r"[(\[（［]")
_WRAPPED = re.compile(r"(?<=[\u3040-\u30ff\u3400-\u9fff])\s*\n\s*(?=[\u3040-\u30ff\u3400-\u9fff])")


def find_short_forms(text: str) -> list[ShortForm]:
    """Return the distinct pairs that a text explains, in its order."""
    found = (
        pair
        for paragraph in paragraphs(text)
        for find in (latin_short_forms, cjk_short_forms)
        for pair in find(paragraph)
    )
    return list(dict.fromkeys(found))


def paragraphs(text: str) -> Iterator[str]:
    """Yield the paragraphs that hold brackets: normalised (NFKC), on one line, without emphasis."""
    for written in _PARAGRAPH.split(text):
        if not _OPENING.search(written):
            continue
        paragraph = written if written.isascii() else unicodedata.normalize("NFKC", written)
        if "\n" in paragraph:
            paragraph = _WRAPPED.sub("", paragraph)
        if "_" in paragraph:
            paragraph = _UNDERSCORES.sub("", paragraph)
        yield " ".join(paragraph.replace("*", "").replace("`", "").split())
