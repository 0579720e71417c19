"""The two forms in which a file keeps unit vectors: four bytes a dimension, or one.

As bytes a vector is kept up to its length, which a cosine does not depend on: its largest component
becomes 127. What that costs is measured in docs/decisions.md.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

if TYPE_CHECKING:
    import apsw
    from numpy.typing import NDArray

    from localrag.config import VectorForm

    Floats = NDArray[np.float32]

__all__ = ["FORMS", "Form", "stored_form"]

LARGEST: Final = 127


@dataclass(frozen=True, slots=True)
class Form:
    """How a column of vec0 holds vectors."""

    column: str
    """vec0's name of the type."""
    constructor: str
    """The SQL function that tells vec0 of which type some bytes are."""
    dtype: type[np.float32 | np.int8]
    """Type of a component."""

    @property
    def component_bytes(self) -> int:
        """Bytes of a component."""
        return np.dtype(self.dtype).itemsize

    def pack(self, vectors: Floats) -> NDArray[Any]:
        """Return finite vectors, none of them zero, shape (..., dimensions), as they are kept."""
        if self.dtype is np.float32:
            return vectors.astype(np.float32)
        largest = np.abs(vectors).max(axis=-1, keepdims=True)
        return np.asarray(np.rint(vectors * (LARGEST / largest)), np.int8)

    def unpack(self, content: bytes | bytearray) -> Floats:
        """Return kept components as numbers; those of bytes make no vector of length one."""
        return np.frombuffer(content, self.dtype).astype(np.float32, copy=False)

    def unit(self, content: bytes) -> Floats:
        """Return one kept vector as it was given, up to rounding: of length one."""
        vector = self.unpack(content)
        if self.dtype is np.float32:
            return vector
        return np.asarray(vector / np.linalg.norm(vector), np.float32)


FORMS: Final[dict[VectorForm, Form]] = {
    "float32": Form("float", "vec_f32", np.float32),
    "int8": Form("int8", "vec_int8", np.int8),
}


def stored_form(connection: apsw.Connection) -> tuple[Form, int]:
    """Return the form of the file's vectors and their length; 0 where there is no table of them."""
    sql = connection.execute("SELECT sql FROM sqlite_schema WHERE name = 'chunk_vectors'").get
    found = re.search(r"\b(float|int8)\[(\d+)\]", str(sql))
    if found is None:
        return FORMS["float32"], 0
    form = next(form for form in FORMS.values() if form.column == found[1])
    return form, int(found[2])
