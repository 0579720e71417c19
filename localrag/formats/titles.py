"""Titles that a file states, as far as a person gave them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from localrag.formats.builder import one_line
from localrag.formats.spans import stem_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from localrag.records import Block, Metadata

__all__ = ["title_of"]

# What programs write where nobody wrote a title.
_NO_TITLE = re.compile(
    r"""(?:untitled|unbenannt|sans\ titre|sin\ t[ií]tulo|無題|untitled\ document|title|document
        |presentation|powerpoint\ presentation|slide|workbook|book|microsoft\ word|(?:folie|slide)?)
        [\s_-]?\d*
      | .*\.(?:docx?|pptx?|xlsx?|exe|dvi|indd|qxd|ps|pdf|tex|rtf|odt|p65|pmd|txt|html?)
      | [\W\d_]+
    """,
    re.VERBOSE | re.IGNORECASE,
)
_BEGINNING = 2
_PROGRAM = re.compile(r"^Microsoft (?:Word|PowerPoint|Excel) - ")


def title_of(metadata: Metadata, blocks: Sequence[Block], uri: str) -> str:
    """Return the stated title, the top heading, or the name of the file.

    A heading that neither begins the text nor is the only one of its level is that of a chapter.
    """
    stated = _PROGRAM.sub("", one_line(str(metadata.get("title") or "")))
    if stated and not _NO_TITLE.fullmatch(stated):
        return stated
    tops = [at for at, block in enumerate(blocks) if block.kind == "heading" and block.level == 1]
    if tops and (len(tops) == 1 or tops[0] < _BEGINNING):
        return blocks[tops[0]].heading
    return stem_of(uri)
