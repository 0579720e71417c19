"""Text of pictures, read by the extra ``ocr``: RapidOCR, whose models ship in its package.

Nothing is downloaded. It reads Chinese, Japanese and languages in Latin script.
"""

from __future__ import annotations

from functools import lru_cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from localrag.formats.pdf_page import Segment

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["REMEDY", "is_installed", "is_lack_of_memory", "recognise"]

REMEDY = "to read pictures: pip install 'localrag[ocr]'"

_LEAST_CONFIDENCE = 0.5
_SIZE_OF_BOX = 0.8
_STEP = 2


def is_installed() -> bool:
    """Whether pictures can be read."""
    return find_spec("rapidocr") is not None


def is_lack_of_memory(error: Exception) -> bool:
    """Whether `recognise` failed because memory ran out, which its libraries say in their ways."""
    return isinstance(error, MemoryError) or any(
        sign in str(error) for sign in ("bad_alloc", "Failed to allocate", "Insufficient memory")
    )


@lru_cache(maxsize=1)
def _engine() -> Any:  # noqa: ANN401 - the package has no types
    from rapidocr import RapidOCR  # noqa: PLC0415

    return RapidOCR(params={"Global.log_level": "error"})


def recognise(picture: NDArray[np.uint8], points_per_pixel: float) -> list[Segment]:
    """Return the lines of text in a picture, as if a page had drawn them.

    Args:
        picture: (height, width, channels), blue first.
        points_per_pixel: size of a pixel on the page.
    """
    result = _engine()(picture)
    if result.boxes is None or result.txts is None:
        return []
    found = []
    for corners, text, confidence in zip(result.boxes, result.txts, result.scores, strict=True):
        if confidence < _LEAST_CONFIDENCE or not text.strip():
            continue
        (left, top), (right, bottom) = corners.min(axis=0), corners.max(axis=0)
        height = float(bottom - top) * points_per_pixel
        found.append(
            Segment(
                text.strip(),
                left=float(left) * points_per_pixel,
                top=float(top) * points_per_pixel,
                right=float(right) * points_per_pixel,
                bottom=float(bottom) * points_per_pixel,
                # Boxes fit the letters: rounded, the lines of one text have one size.
                size=float(max(_STEP, round(_SIZE_OF_BOX * height / _STEP) * _STEP)),
            )
        )
    return found
