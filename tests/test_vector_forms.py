"""In which form a file keeps its embeddings is decided when it is made."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from support import open_base, write_files

from localrag.config import make_settings
from localrag.errors import SettingsError
from localrag.store.settings import delete_setting
from localrag.store.vector_forms import FORMS, stored_form
from localrag.store.vectors import create_vectors, vectors_of

if TYPE_CHECKING:
    from pathlib import Path

    from localrag.config import VectorForm


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_files(
        tmp_path / "docs", {"a.md": "# Tulips\n\nThey bloom.\n", "b.md": "# Keys\n\nTurn them.\n"}
    )


@pytest.mark.parametrize("form", FORMS)
def test_a_file_keeps_its_form_whatever_comes_later(
    tmp_path: Path, folder: Path, form: VectorForm
) -> None:
    other: VectorForm = "int8" if form == "float32" else "float32"
    with open_base(tmp_path / "base.db", make_settings(vectors=form)) as kb:
        kb.sync(folder)
    with pytest.raises(SettingsError, match=f"was made with vectors = {form}"):
        open_base(tmp_path / "base.db", make_settings(vectors=other))
    write_files(folder, {"c.md": "# Locks\n\nOil them.\n"})
    with open_base(tmp_path / "base.db") as kb:
        kb.sync(folder)
        kb.compact()
        found = kb.search("oil locks", mode="vector", rerank=False)
        assert found[0].title == "Locks"
        assert stored_form(kb.database.connection) == (FORMS[form], kb.embedder.dimensions)
        assert kb.verify() == []


def test_a_file_of_before_the_choice_has_float32(tmp_path: Path, folder: Path) -> None:
    with open_base(tmp_path / "base.db", make_settings(vectors="float32")) as kb:
        kb.sync(folder)
        with kb.database.atomic() as connection:
            delete_setting(connection, "vectors")
    with open_base(tmp_path / "base.db") as kb:
        assert kb.settings.vectors == "float32"
        assert kb.sync(folder).unchanged != ()
        assert kb.search("tulips", mode="vector", rerank=False)[0].title == "Tulips"


def test_a_new_file_has_bytes(tmp_path: Path, folder: Path) -> None:
    with open_base(tmp_path / "base.db") as kb:
        kb.sync(folder)
        connection = kb.database.connection
        assert stored_form(connection)[0] == FORMS["int8"]
        vectors = vectors_of(connection, [1, 2, 99])
        assert sorted(vectors) == [1, 2]
        for vector in vectors.values():
            assert np.linalg.norm(vector) == pytest.approx(1)
        create_vectors(connection, 5)  # it is there
        assert stored_form(connection)[1] == kb.embedder.dimensions


def test_bytes_are_as_near_as_bytes_can_be() -> None:
    random = np.random.default_rng(1)
    vectors = random.standard_normal((200, 96)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    form = FORMS["int8"]
    packed = form.pack(vectors)
    assert packed.dtype == np.int8
    assert (np.abs(packed).max(axis=1) == 127).all()
    for vector, levels in zip(vectors, packed, strict=True):
        kept = form.unit(levels.tobytes())
        assert np.abs(kept - vector).max() <= np.abs(vector).max() / 127
        assert np.array_equal(form.pack(kept), levels)  # what is kept can be kept again
        assert np.array_equal(form.pack(vector), levels)
    assert FORMS["float32"].unit(vectors[0].tobytes()).tolist() == vectors[0].tolist()


def test_a_base_without_vectors(tmp_path: Path) -> None:
    with open_base(tmp_path / "base.db") as kb:
        kb.database.connection.execute("DROP TABLE IF EXISTS chunk_vectors")
        assert stored_form(kb.database.connection) == (FORMS["float32"], 0)
