"""What was removed is not in the bytes of a compacted file."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support import contents, open_base, write_files

from localrag.config import make_settings
from localrag.errors import BusyError, KnowledgeBaseError, ReadOnlyError
from localrag.store import compact as compact_module
from localrag.store.compact import compact
from localrag.store.database import Database
from localrag.text.analysis import analyse

if TYPE_CHECKING:
    from localrag.knowledge_base import KnowledgeBase

# Kept as bytes, a vector is so short that all of it may lie on the border of two pages.
SIZES = make_settings(chunk_tokens=32, overlap_tokens=8, vectors="float32")


def raw(path: Path) -> bytes:
    """Return the bytes of the base and of whatever lies beside it."""
    return b"".join(part.read_bytes() for part in sorted(path.parent.glob(f"{path.name}*")))


def vector_bytes(kb: KnowledgeBase) -> list[bytes]:
    rows = kb.database.connection.execute("SELECT embedding FROM chunk_vectors")
    return [bytes(vector) for (vector,) in rows]


def test_nothing_of_a_removed_document_is_left(tmp_path: Path) -> None:
    folder = write_files(
        tmp_path / "docs",
        {
            "kept.md": "# Kept\n\nTulips.\n",
            "zirconium.md": "# Quasar\n\nXylophone zyzzyva vexes.\n",
        },
    )
    base = tmp_path / "base.db"
    secrets = [
        word.encode()
        for text in ("zirconium", "quasar", "xylophone", "zyzzyva", "vexes")
        for word in (text, text.title(), *analyse(text))
    ]
    with open_base(base, SIZES) as kb:
        kb.sync(folder)
        vectors = set(vector_bytes(kb))
        (folder / "zirconium.md").unlink()
        kb.refresh()
        gone = vectors - set(vector_bytes(kb))
        before = contents(kb)
        assert any(secret in raw(base) for secret in secrets)
        assert any(vector in raw(base) for vector in gone)
        kb.compact()
        held = raw(base)
        assert [secret for secret in secrets if secret in held] == []
        assert not any(vector in held for vector in gone)
        assert contents(kb) == before
        assert kb.verify() == []
        assert kb.search("tulips")[0].title == "Kept"


def test_the_file_becomes_smaller_and_stays_usable(tmp_path: Path) -> None:
    texts = {f"{n}.md": f"# Title {n}\n\n" + f"word{n} " * 400 for n in range(60)}
    folder = write_files(tmp_path / "docs", texts)
    with open_base(tmp_path / "base.db", SIZES) as kb:
        kb.sync(folder)
        for number in range(50):
            (folder / f"{number}.md").unlink()
        kb.refresh()
        assert kb.compact() > 0
        assert kb.compact() == 0
        assert kb.verify() == []
        write_files(folder, texts)
        assert len(kb.refresh().added) == 50
        assert kb.verify() == []


def test_an_empty_file_can_be_compacted(tmp_path: Path) -> None:
    database = Database(tmp_path / "empty.db")
    assert compact(database) >= 0
    database.close()


def test_a_failure_halfway_leaves_the_file_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write_files(tmp_path / "docs", {"a.md": "# A\n\nText.\n"})
    with open_base(tmp_path / "base.db", SIZES) as kb:
        kb.sync(folder)
        before = contents(kb)
        real = compact_module.rebuild_vectors

        def fail(connection: object) -> None:
            real(connection)  # type: ignore[arg-type]
            raise KnowledgeBaseError("as when the disk is full")

        monkeypatch.setattr(compact_module, "rebuild_vectors", fail)
        with pytest.raises(KnowledgeBaseError, match="disk is full"):
            kb.compact()
        assert contents(kb) == before
        assert kb.verify() == []


def test_only_one_process_may_compact_or_index(tmp_path: Path) -> None:
    with open_base(tmp_path / "base.db") as kb:
        with kb.database.sole_writer(), pytest.raises(BusyError):
            kb.compact()
        with (
            open_base(tmp_path / "base.db", read_only=True) as reader,
            pytest.raises(ReadOnlyError),
        ):
            reader.compact()


WORDS = st.sampled_from(["jubilee", "kumquat", "labyrinth", "monsoon", "nocturne", "obelisk"])


@settings(max_examples=15, deadline=None)
@given(st.lists(WORDS, unique=True, min_size=1, max_size=6), st.data())
def test_after_sync_and_remove_nothing_is_left(words: list[str], data: st.DataObject) -> None:
    removed = data.draw(st.lists(st.sampled_from(words), unique=True, min_size=1))
    with tempfile.TemporaryDirectory() as name:
        base = Path(name) / "base.db"
        folder = write_files(
            Path(name) / "docs", {f"{w}.md": f"# {w.title()}\n\n" + f"{w} " * 70 for w in words}
        )
        with open_base(base, SIZES) as kb:
            kb.sync(folder)
            if data.draw(st.booleans()):
                for word in removed:
                    (folder / f"{word}.md").unlink()
                kb.refresh()
            else:
                kb.remove(*(folder / f"{word}.md" for word in removed))
            if set(removed) == set(words):
                shutil.rmtree(folder)
                kb.remove(folder)
            kb.compact()
            held = raw(base).lower()
            for word in words:
                assert (word.encode() in held) == (word not in removed)
            assert kb.verify() == []
