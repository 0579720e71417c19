"""Indexes a folder of 2,000 mixed files, 40 of them broken, and checks what the run promises.

    python benchmarks/mixed_folder.py             # the bundled models
    python benchmarks/mixed_folder.py --fake      # no model: readers, store and report only

Checked are: the report names every sound file as added and every broken one as skipped, with a
reason that fits; a run that was interrupted nowhere leaves a whole file; all processes together
stay under 1 GiB; a second run changes nothing and takes under 5 % of the first one's time. The exit
code is 1 where one of these fails. Files of every format that this localrag reads are made, as far
as they can be written without a library; names and texts are the same each time.
"""

from __future__ import annotations

import argparse
import csv
import io
import json
import os
import random
import resource
import sys
import threading
import time
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final

from report import print_json, print_table, progress

import localrag
from localrag.formats.known import SUPPORTED_SUFFIXES
from localrag.inference.fake import FakeEmbedder, FakeReranker

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from report import Row

    from localrag.records import SyncReport

FILES: Final = 2_000
BROKEN: Final = 40
MOST_BYTES: Final = 1 << 30
MOST_SHARE: Final = 0.05

WORDS: Final = tuple(
    "anchor basin cable delta engine filter gauge hinge inlet jacket kernel lever module nozzle "  # noqa: SIM905
    "outlet piston quartz rotor sensor turbine valve winch yoke zinc 点検 交換 設定 温度".split()
)


def prose(chance: random.Random, words: int) -> str:
    """Return sentences of made-up text."""
    chosen = [chance.choice(WORDS) for _ in range(words)]
    return (
        ". ".join(" ".join(chosen[at : at + 12]).capitalize() for at in range(0, words, 12)) + "."
    )


# What a sound file of each suffix holds. A format that needs a library to be written is left out.


def markdown(chance: random.Random, number: int) -> bytes:
    """Return sections with a table and code."""
    text = (
        f"# Report {number}\n\n{prose(chance, 40)}\n\n## Parts\n\n| part | count |\n|---|---|\n"
        f"| {chance.choice(WORDS)} | {number} |\n\n```python\nrun({number})\n```\n"
    )
    return text.encode()


def plain(chance: random.Random, number: int) -> bytes:
    """Return two paragraphs."""
    return f"Note {number}.\n\n{prose(chance, 40)}\n".encode()


def html(chance: random.Random, number: int) -> bytes:
    """Return a page with a title."""
    body = f"<h1>Page {number}</h1><p>{prose(chance, 40)}</p>"
    head = f"<meta charset='utf-8'><title>Page {number}</title>"
    return f"<!doctype html><html><head>{head}</head><body>{body}</body></html>".encode()


def table(delimiter: str) -> Callable[[random.Random, int], bytes]:
    """Return a maker of tables."""

    def make(chance: random.Random, number: int) -> bytes:
        out = io.StringIO()
        rows = csv.writer(out, delimiter=delimiter)
        rows.writerow(["part", "count"])
        rows.writerows([chance.choice(WORDS), number + line] for line in range(10))
        return out.getvalue().encode()

    return make


def json_file(chance: random.Random, number: int) -> bytes:
    """Return an object."""
    return json.dumps({"number": number, "text": prose(chance, 30)}, ensure_ascii=False).encode()


def json_lines(chance: random.Random, number: int) -> bytes:
    """Return one object a line."""
    return b"\n".join(json_file(chance, number * 10 + line) for line in range(3))


def yaml_file(chance: random.Random, number: int) -> bytes:
    """Return a mapping."""
    return f"number: {number}\ntext: {prose(chance, 30)}\n".encode()


def xml(chance: random.Random, number: int) -> bytes:
    """Return nested elements."""
    return f"<log><entry id='{number}'><text>{prose(chance, 30)}</text></entry></log>".encode()


def python_code(chance: random.Random, number: int) -> bytes:
    """Return a module of one function."""
    return f'def run_{number}() -> None:\n    """{prose(chance, 20)}"""\n'.encode()


def notebook(chance: random.Random, number: int) -> bytes:
    """Return a notebook of one cell."""
    cell = {"cell_type": "markdown", "metadata": {}, "source": f"# {number}\n{prose(chance, 30)}"}
    return json.dumps(
        {"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    ).encode()


def mail(chance: random.Random, number: int) -> bytes:
    """Return a message."""
    head = f"From: a@example.org\nTo: b@example.org\nSubject: Report {number}\n"
    kind = "MIME-Version: 1.0\nContent-Type: text/plain; charset=utf-8\n"
    return f"{head}{kind}Content-Transfer-Encoding: 8bit\n\n{prose(chance, 30)}\n".encode()


def subtitles(chance: random.Random, number: int) -> bytes:
    """Return one caption."""
    return f"1\n00:00:01,000 --> 00:00:04,000\n{prose(chance, 12)} {number}\n".encode()


MAKERS: Final[dict[str, Callable[[random.Random, int], bytes]]] = {
    ".md": markdown,
    ".markdown": markdown,
    ".txt": plain,
    ".text": plain,
    ".rst": plain,
    ".org": plain,
    ".adoc": plain,
    ".html": html,
    ".htm": html,
    ".csv": table(","),
    ".tsv": table("\t"),
    ".json": json_file,
    ".jsonl": json_lines,
    ".yaml": yaml_file,
    ".yml": yaml_file,
    ".xml": xml,
    ".py": python_code,
    ".ipynb": notebook,
    ".eml": mail,
    ".srt": subtitles,
}
"""Suffix to maker; used are those that the registry supports at run time."""

RANDOM_BYTES: Final = random.Random(40).randbytes(3_000)  # noqa: S311 - the same each time
DAMAGED: Final[dict[str, bytes]] = {
    ".md": RANDOM_BYTES,
    ".txt": b"",
    ".text": b" \n\t\n",
    ".markdown": b"\x00\x01\x02\x03" * 500,
    ".pdf": b"%PDF-1.7\n" + RANDOM_BYTES,
    ".docx": b"PK\x03\x04" + RANDOM_BYTES,
    ".xlsx": b"PK\x03\x04" + RANDOM_BYTES[::-1],
    ".pptx": b"PK\x05\x06" + b"\x00" * 18,
    ".epub": b"PK\x03\x04 no archive",
    ".png": b"\x89PNG\r\n\x1a\n" + RANDOM_BYTES,
    ".unknown": RANDOM_BYTES,
}
"""Files that hold no document, whatever the readers: none of them may be added."""


@dataclass(frozen=True)
class Folder:
    """What was made, by the URIs of the files."""

    sound: frozenset[str]
    broken: frozenset[str]


def make_folder(folder: Path, files: int, broken: int) -> Folder:
    """Write the files, in folders of a hundred."""
    chance = random.Random(7)  # noqa: S311 - the same each time
    makers = cycle([suffix for suffix in MAKERS if suffix in SUPPORTED_SUFFIXES])
    damaged = cycle(DAMAGED.items())
    sound: set[str] = set()
    bad: set[str] = set()
    for number in range(files):
        below = folder / f"part{number // 100:02}"
        below.mkdir(exist_ok=True, parents=True)
        if number % (files // broken) == 0 and len(bad) < broken:
            suffix, data = next(damaged)
            path = below / f"broken{number:04}{suffix}"
            bad.add(str(path))
        else:
            suffix = next(makers)
            path = below / f"file{number:04}{suffix}"
            data = MAKERS[suffix](chance, number)
            sound.add(str(path))
        path.write_bytes(data)
        os.utime(path, (1.7e9, 1.7e9))  # long ago: a second run must not have to look inside
    return Folder(frozenset(sound), frozenset(bad))


def memory_bytes() -> int:
    """Return what this process and its readers hold now; where /proc is not, the peak of each."""
    try:
        tasks = [path for path in Path("/proc").iterdir() if path.name.isdigit()]
        own = {os.getpid()}
        for task in tasks:
            try:
                parent = int((task / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue
            if parent == os.getpid():
                own.add(int(task.name))
        return sum(_resident(pid) for pid in own)
    except OSError:
        who = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
        unit = 1 if sys.platform == "darwin" else 1_024
        return sum(resource.getrusage(one).ru_maxrss * unit for one in who)


def _resident(pid: int) -> int:
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1])
    except OSError:  # it has ended meanwhile
        return 0
    return pages * resource.getpagesize()


class Peak:
    """The most memory that this process and its readers held during a block."""

    def __init__(self) -> None:
        self.bytes = 0
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._sample)

    def _sample(self) -> None:
        while not self._stop.wait(0.2):
            self.bytes = max(self.bytes, memory_bytes())

    def __enter__(self) -> Peak:  # noqa: PYI034 - no subclass
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()


def problems(made: Folder, first: SyncReport, second: SyncReport, peak: int) -> Iterator[str]:
    """Yield what the runs did not keep of their promises."""
    added, skipped = set(first.added), {one.uri for one in first.skipped}
    if added != made.sound:
        yield f"added and not sound: {sorted(added - made.sound)[:5]}"
        yield f"sound and not added: {sorted(made.sound - added)[:5]}"
    if skipped != made.broken:
        yield f"skipped and not broken: {sorted(skipped - made.broken)[:5]}"
        yield f"broken and not skipped: {sorted(made.broken - skipped)[:5]}"
    if not all(one.reason and one.detail for one in first.skipped):
        yield "a file was skipped without a reason"
    if second.changed or set(second.unchanged) != made.sound:
        yield "the second run changed something"
    if second.skipped != first.skipped:
        yield "the second run skipped other files than the first"
    if peak > MOST_BYTES:
        yield f"{peak / 2**20:,.0f} MiB of memory, more than {MOST_BYTES / 2**20:,.0f}"
    if second.seconds > MOST_SHARE * first.seconds:
        yield f"the second run took {second.seconds / first.seconds:.1%} of the first one's time"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fake", action="store_true", help="use the exact fake models")
    parser.add_argument("--files", type=int, default=FILES)
    parser.add_argument("--broken", type=int, default=BROKEN)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(arguments)
    embedder = FakeEmbedder() if options.fake else None
    reranker = FakeReranker() if options.fake else None
    with TemporaryDirectory() as name:
        made = make_folder(Path(name) / "docs", options.files, options.broken)
        started = time.perf_counter()
        with (
            Peak() as peak,
            localrag.open(Path(name) / "mixed.db", embedder=embedder, reranker=reranker) as kb,
        ):
            first = kb.sync(Path(name) / "docs", progress=lambda told: tell(told.done, told.total))
            second = kb.refresh()
            found = [*problems(made, first, second, peak.bytes), *kb.verify()]
        seconds = time.perf_counter() - started
    rows: list[Row] = [
        {"measure": "files", "value": options.files, "unit": ""},
        {"measure": "formats", "value": len({Path(uri).suffix for uri in made.sound}), "unit": ""},
        {"measure": "added", "value": len(first.added), "unit": ""},
        {"measure": "skipped", "value": len(first.skipped), "unit": ""},
        {"measure": "chunks", "value": first.chunks, "unit": ""},
        {"measure": "first run", "value": round(first.seconds, 2), "unit": "s"},
        {"measure": "second run", "value": round(second.seconds, 3), "unit": "s"},
        {"measure": "share", "value": round(100 * second.seconds / first.seconds, 2), "unit": "%"},
        {"measure": "peak memory", "value": round(peak.bytes / 2**20), "unit": "MiB"},
        {"measure": "all", "value": round(seconds, 1), "unit": "s"},
    ]
    if options.json:
        print_json(rows)
    else:
        print_table(rows, ("measure", "value", "unit"))
    for problem in found:
        print(f"FAILED: {problem}", file=sys.stderr)
    return 1 if found else 0


def tell(done: int, total: int) -> None:
    """Show how far the first run is."""
    if done % 100 == 0 or done == total:
        progress(f"{done:,} of {total:,} files")


if __name__ == "__main__":
    raise SystemExit(main())
