"""Forms in which FTS5 can keep the words of chunks, and how each is searched."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import apsw
import numpy as np

from localrag.records import Allowed, Candidate
from localrag.store.term_scores import K1, B, inverse_frequency

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

__all__ = ["FORMS", "Chunks", "Form", "Search", "fill", "search_of"]

Chunks = dict[int, tuple[str, str]]
"""The analysed words of each chunk: of its context and of its body."""
Search = Callable[[apsw.Connection, str, int, Allowed | None], tuple[Candidate, ...]]
"""`localrag.store.words.search_words`, or what stands for it."""
LEVEL = "\ue7f0"
"""Between a word and a level: the analyser writes no such character."""


@dataclass(frozen=True, slots=True)
class Form:
    """One way to keep the words."""

    name: str
    detail: str = "full"
    columns: tuple[str, ...] = ("body", "context")
    levels: tuple[int, ...] = ()

    @property
    def table(self) -> str:
        """The name of its table."""
        return "form_" + re.sub(r"\W", "", self.name)

    @property
    def with_positions(self) -> bool:
        """Whether phrases can be looked for."""
        return self.detail == "full"

    @property
    def all_columns(self) -> tuple[str, ...]:
        """The columns of its table, that of the levels included."""
        return (*self.columns, "often") if self.levels else self.columns

    @property
    def declaration(self) -> str:
        """FTS5's arguments."""
        return (
            f"fts5({', '.join(self.all_columns)}, content='', contentless_delete=1, "
            f"tokenize='ascii', detail={self.detail})"
        )

    def row(self, context: str, body: str) -> list[str]:
        """Return what the columns hold for a chunk."""
        own = [{"context": context, "body": body}[column] for column in self.columns]
        if self.levels:
            counts = Counter(f"{context} {body}".split())
            own.append(" ".join(self.level_tokens(counts)))
        return own

    def level_tokens(self, counts: Counter[str]) -> Iterator[str]:
        """Yield the tokens that tell how often words occur."""
        for word, count in counts.items():
            yield from (f"{word}{LEVEL}{level}" for level in self.levels if count >= level)


ALL = tuple(range(2, 200))
"""Levels that tell every count."""
FORMS = (
    Form("positions, context first", columns=("context", "body")),
    Form("positions, body first"),
    Form("columns", detail="column"),
    Form("chunks", detail="none"),
    Form("chunks, level 2", detail="none", levels=(2,)),
    Form("chunks, levels 2 4", detail="none", levels=(2, 4)),
    Form("chunks, levels 2 3 4", detail="none", levels=(2, 3, 4)),
    Form("chunks, all counts", detail="none", levels=ALL),
)


def fill(connection: apsw.Connection, schema: str, form: Form, chunks: Chunks) -> None:
    """Make a form's table in a schema and index chunks in it."""
    connection.execute(f"DROP TABLE IF EXISTS {schema}.{form.table}")
    connection.execute(f"CREATE VIRTUAL TABLE {schema}.{form.table} USING {form.declaration}")
    rows = [(id_, *form.row(*words)) for id_, words in chunks.items()]
    marks = ", ".join("?" * len(rows[0]))
    connection.execute("BEGIN")
    connection.executemany(
        f"INSERT INTO {schema}.{form.table}(rowid, {', '.join(form.all_columns)}) VALUES({marks})",
        rows,
    )
    connection.execute("COMMIT")


class Positions:
    """The product's search, by a form's table."""

    def __init__(self, form: Form) -> None:
        self.form = form

    def __call__(
        self, connection: apsw.Connection, expression: str, k: int, allowed: Allowed | None
    ) -> tuple[Candidate, ...]:
        """Return the best chunks, as `search_words` does."""
        if not expression:
            return ()
        within = "" if allowed is None else "AND +rowid IN (SELECT value FROM json_each(:ids)) "
        table = self.form.table
        rows = connection.execute(
            f"SELECT rowid, rank FROM temp.{table} WHERE {table} MATCH :expression {within}"  # noqa: S608
            "ORDER BY rank, rowid LIMIT :k",
            {"expression": expression, "k": k, "ids": allowed.ids if allowed else None},
        )
        return tuple(
            Candidate(int(id_), -float(score), rank)
            for rank, (id_, score) in enumerate(rows, start=1)
        )


class Counted:
    """BM25 as FTS5 computes it, over the counts that a form's table tells."""

    def __init__(self, form: Form, chunks: Chunks) -> None:
        self.form = form
        lengths = [len(f"{context} {body}".split()) for context, body in chunks.values()]
        self.ids = np.array(list(chunks), np.int64)
        self.normalisers = 1 - B + B * np.array(lengths) / np.mean(lengths)

    def __call__(
        self, connection: apsw.Connection, expression: str, k: int, allowed: Allowed | None
    ) -> tuple[Candidate, ...]:
        """Return the best chunks, as `search_words` does."""
        chunks = len(self.ids)
        scores = np.zeros(chunks)
        for word, begins in re.findall(r'"([^" ]+)"(\*?)', expression):
            counts = np.zeros(chunks)
            for token, level in self.tokens(word, begins=bool(begins)):
                found = self.holders(connection, token)
                counts[found] += level
                if not len(found) and self.form.levels:
                    break  # nor is there a higher one
            (rows,) = counts.nonzero()
            weight = inverse_frequency(len(rows), chunks)
            known = counts[rows]
            scores[rows] += weight * known * (K1 + 1) / (known + K1 * self.normalisers[rows])
        if allowed is not None:
            scores[~np.isin(self.ids, json.loads(allowed.ids))] = 0
        best = [row for row in np.lexsort((self.ids, -scores))[:k] if scores[row] > 0]
        return tuple(
            Candidate(int(self.ids[row]), float(scores[row]), rank)
            for rank, row in enumerate(best, start=1)
        )

    def tokens(self, word: str, *, begins: bool) -> Iterator[tuple[str, int]]:
        """Yield expressions, and what each adds to the count of a word where it matches."""
        if begins:
            yield f'"{word}"*', 1
        elif self.form.detail == "column":
            yield from ((f'{column} : "{word}"', 1) for column in self.form.columns)
        else:
            yield f'"{word}"', 1
            for below, level in pairwise((1, *self.form.levels)):
                yield f'"{word}{LEVEL}{level}"', level - below

    def holders(self, connection: apsw.Connection, expression: str) -> NDArray[np.intp]:
        """Return the places of the chunks that match."""
        table = self.form.table
        sql = f"SELECT json_group_array(rowid) FROM temp.{table} WHERE {table} MATCH ?"  # noqa: S608
        found = str(connection.execute(sql, (expression,)).get)
        return np.searchsorted(self.ids, np.fromstring(found[1:-1], np.int64, sep=","))


def search_of(form: Form, chunks: Chunks) -> Search:
    """Return a search by a form's table."""
    return Positions(form) if form.with_positions else Counted(form, chunks)
