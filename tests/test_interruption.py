"""A run that is killed at any moment leaves every document wholly old or wholly new."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from support import Contents, contents, open_base, write_files

from localrag.config import make_settings
from localrag.inference.fake import FakeEmbedder, FakeReranker
from localrag.knowledge_base import KnowledgeBase, reembed_file

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.skipif(os.name != "posix", reason="needs SIGKILL")

TESTS = Path(__file__).parent
SETTINGS = make_settings(chunk_tokens=32, overlap_tokens=4)


def deadly(work: Callable[..., Any], call: int) -> Callable[..., Any]:
    """Return `work`, which kills its process after that call."""
    calls = 0

    def die_afterwards(*arguments: object) -> object:
        nonlocal calls
        result = work(*arguments)
        calls += 1
        if calls == call:
            os.kill(os.getpid(), signal.SIGKILL)
        return result

    return die_afterwards


INDEX = """
import sys
sys.path.insert(0, sys.argv[1])
from localrag.ingest import pipeline, write
from support import open_base
from test_interruption import SETTINGS, deadly

_, _, base, folder, step, wanted = sys.argv
pipeline.BATCH_CHUNKS = 1

if step != "none":
    home = pipeline if step == "write_document" else write
    setattr(home, step, deadly(getattr(home, step), int(wanted)))
with open_base(base, SETTINGS) as kb:
    kb.sync(folder)
"""


def index(base: Path, folder: Path, step: str = "none", call: int = 0) -> int:
    """Index in another process that kills itself after the nth call of a step."""
    command = [sys.executable, "-c", INDEX, str(TESTS), str(base), str(folder), step, str(call)]
    return subprocess.run(command, check=False, timeout=60).returncode  # noqa: S603 - our own script


REEMBED = """
import sys
sys.path.insert(0, sys.argv[1])
from localrag.inference.fake import FakeEmbedder
from localrag.ingest import reembed
from localrag.knowledge_base import reembed_file
from test_interruption import deadly

_, _, base, step, wanted = sys.argv
reembed.BATCH_TEXTS = 2

if step == "commit":
    exchange = reembed._Run.exchange
    reembed._Run.exchange = deadly(exchange, int(wanted))
else:
    setattr(reembed, step, deadly(getattr(reembed, step), int(wanted)))
reembed_file(base, FakeEmbedder(32))
"""


SLOW = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)  # jobs in the background ignore it
import sys, time
from localrag import knowledge_base, opening
from localrag.inference.fake import FakeEmbedder, FakeReranker
from localrag.ingest import pipeline
from localrag.knowledge_base import KnowledgeBase

class SlowEmbedder(FakeEmbedder):
    def embed_passages(self, texts):
        time.sleep(SECONDS)
        return super().embed_passages(texts)

class Telling(KnowledgeBase):
    def sync(self, *paths, **_):
        return super().sync(*paths, progress=lambda told: print(told.done, flush=True))

_, base, folder, seconds = sys.argv
SECONDS = float(seconds)
pipeline.BATCH_CHUNKS = 1
opening.load_embedder = SlowEmbedder
opening.load_reranker = FakeReranker
knowledge_base.KnowledgeBase = Telling
sys.argv[1:] = ["index", folder, "--db", base, "--chunk-tokens=32", "--overlap-tokens=4", "-q"]
from localrag.cli.main import main
main()
"""


def start_slow_run(base: Path, folder: Path, seconds: float) -> subprocess.Popen[str]:
    """Start ``localrag index``; each document takes `seconds` and prints a line when it is done."""
    return subprocess.Popen(  # noqa: S603 - our own script
        [sys.executable, "-c", SLOW, str(base), str(folder), str(seconds)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def wait_for(run: subprocess.Popen[str], documents: int) -> None:
    assert run.stdout is not None
    for _ in range(documents):
        assert run.stdout.readline(), run.stderr and run.stderr.read()


def text(word: str, number: int) -> str:
    return f"# {word} {number}\n\n" + f"The {word} number {number} is told at length here. " * 9


def per_document(held: Contents) -> dict[object, list[object]]:
    """Return all rows of each document, by its URI."""
    found: dict[object, list[object]] = {}
    for rows in (held.documents, held.sections, held.chunks, held.words, held.vectors):
        for row in rows:
            found.setdefault(row[0], []).append(row)
    return found


def expected(folder: Path, base: Path) -> Contents:
    """Return what an undisturbed run over `folder` writes."""
    with open_base(base, SETTINGS) as kb:
        kb.sync(folder)
        return contents(kb)


@pytest.mark.parametrize(
    ("step", "call"),
    [
        ("insert_document", 1),
        ("insert_chunks", 2),
        ("insert_words", 3),
        ("insert_vectors", 4),
        ("clear_skipped", 2),
        ("delete_words", 1),
        ("delete_document", 3),
        ("write_document", 1),
        ("write_document", 3),
    ],
)
def test_a_killed_run_leaves_whole_documents_and_the_next_run_completes(
    tmp_path: Path, step: str, call: int
) -> None:
    folder = write_files(tmp_path / "docs", {f"{n}.md": text("old", n) for n in range(4)})
    base = tmp_path / "base.db"
    old = expected(folder, base)
    for number in range(4):
        (folder / f"{number}.md").write_text(text("newer", number), encoding="utf-8")
    new = expected(folder, tmp_path / "new.db")

    assert index(base, folder, step, call) == -signal.SIGKILL

    with open_base(base, SETTINGS) as kb:
        assert kb.database.connection.execute("PRAGMA integrity_check").get == "ok"
        assert kb.verify() == []
        for uri, rows in per_document(contents(kb)).items():
            assert rows in (per_document(old)[uri], per_document(new)[uri])
        report = kb.sync(folder)
        assert len(report.updated) == 4 - (call if step == "write_document" else call - 1)
        assert contents(kb) == new
        assert kb.verify() == []


def reembed(base: Path, step: str, call: int) -> int:
    """Change over to another model in a process that kills itself after the nth call of a step."""
    command = [sys.executable, "-c", REEMBED, str(TESTS), str(base), step, str(call)]
    return subprocess.run(command, check=False, timeout=60).returncode  # noqa: S603 - our own script


@pytest.mark.parametrize(
    ("step", "call", "kept"),
    [
        ("begin", 1, 0),
        ("stage_vectors", 1, 0),
        ("stage_vectors", 3, 4),
        ("exchange", 1, 8),
        ("set_setting", 1, 8),
        ("set_setting", 2, 8),
        ("commit", 1, None),
    ],
)
def test_a_killed_change_of_the_model_leaves_the_former_vectors_or_the_new_ones(
    tmp_path: Path, step: str, call: int, kept: int | None
) -> None:
    folder = write_files(tmp_path / "docs", {f"{n}.md": text("word", n) for n in range(4)})
    base = tmp_path / "base.db"
    old = expected(folder, base)
    with new_base(tmp_path / "new.db") as kb:
        kb.sync(folder)
        new = contents(kb)
    assert len({row[12] for row in new.chunks}) == 8

    assert reembed(base, step, call) == -signal.SIGKILL

    if kept is not None:
        with open_base(base, SETTINGS) as kb:
            assert kb.verify() == []
            assert contents(kb) == old
            assert len(kb.search("word number 1", mode="vector")) > 0
        report = reembed_file(base, FakeEmbedder(32))
        assert (report.reused, report.embedded) == (kept, 8 - kept)
    with new_base(base) as kb:
        assert kb.database.connection.execute("PRAGMA integrity_check").get == "ok"
        assert kb.verify() == []
        assert contents(kb) == new
        assert kb.sync(folder).unchanged == tuple(str(folder / f"{n}.md") for n in range(4))


def new_base(path: Path) -> KnowledgeBase:
    """Open a file of the model with 32 dimensions."""
    return KnowledgeBase(
        path, settings=SETTINGS, embedder=FakeEmbedder(32), reranker=FakeReranker()
    )


def test_a_run_that_is_killed_again_and_again_still_gets_there(tmp_path: Path) -> None:
    folder = write_files(tmp_path / "docs", {f"{n:02}.md": text("word", n) for n in range(40)})
    base = tmp_path / "base.db"
    finished = 0
    for lines in (1, 10, 25):
        with start_slow_run(base, folder, 0.005) as run:
            wait_for(run, lines)
            run.kill()
        with open_base(base, SETTINGS, read_only=True) as kb:
            assert kb.verify() == []
            held = kb.status().documents
        assert held >= max(lines, finished)
        finished = held
    with open_base(base, SETTINGS) as kb:
        report = kb.sync(folder)
        assert (len(report.unchanged), len(report.added)) == (finished, 40 - finished)
        assert kb.verify() == []
        assert contents(kb) == expected(folder, tmp_path / "fresh.db")


def test_ctrl_c_exits_with_130_and_keeps_what_was_finished(tmp_path: Path) -> None:
    folder = write_files(tmp_path / "docs", {f"{n:02}.md": text("word", n) for n in range(40)})
    base = tmp_path / "base.db"
    with start_slow_run(base, folder, 0.1) as run:
        wait_for(run, 5)
        run.send_signal(signal.SIGINT)
        _, errors = run.communicate(timeout=30)
    assert run.returncode == 130
    assert errors == "Stopped. What was indexed is kept; run the same command to go on.\n"
    with open_base(base, SETTINGS) as kb:
        assert kb.verify() == []
        assert 5 <= len(kb.documents()) < 40
        kb.sync(folder)
        assert len(kb.documents()) == 40


def test_searching_goes_on_while_another_process_indexes(tmp_path: Path) -> None:
    folder = write_files(tmp_path / "docs", {f"{n:02}.md": text("word", n) for n in range(40)})
    base = tmp_path / "base.db"
    with start_slow_run(base, folder, 0.01) as run:
        wait_for(run, 1)
        with open_base(base, SETTINGS) as kb:
            counts: list[int] = []
            while run.poll() is None or not counts:
                assert len(kb.search("the word is told at length")) > 0
                counts.append(kb.status().documents)
            run.communicate(timeout=30)
            assert run.returncode == 0
            assert counts == sorted(counts)
            assert kb.verify() == []
            assert len(kb.documents()) == 40
