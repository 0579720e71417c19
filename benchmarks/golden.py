"""Asks a knowledge base questions whose section is known, and whether it abstains from the others.

    localrag index ../shared/files/corpus/rustbook-{en,ja} --db rust.db
    python benchmarks/golden.py rust.db ../shared/files/corpus/rustbook-golden.jsonl

Each line of the questions' file is an object with `question`, `lang`, `file` (the end of the
document's path; null for a question that the documents do not answer), `heading` (the heading of
the section) and perhaps `heading_alt`. Code marks in headings are not compared.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from report import print_json, print_table, progress

import localrag

if TYPE_CHECKING:
    from collections.abc import Sequence

    from report import Row

    from localrag.records import Hit

Question = dict[str, Any]
TOP = 5
RANKINGS = ("fused first", "fused top 5", "reranked first", "reranked top 5")
COLUMNS = ("answerable", *RANKINGS, "answered", "unanswerable", "abstained")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark; return the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("database", type=Path)
    parser.add_argument("questions", type=Path)
    parser.add_argument("--json", action="store_true", help="print a list of objects")
    options = parser.parse_args(arguments)
    questions = read_questions(options.questions)
    with localrag.open(options.database, read_only=True) as base:
        rows = measure(base, questions)
    if options.json:
        print_json(rows)
    else:
        print_table(rows, list(rows[0]))
    return 0


def read_questions(path: Path) -> list[Question]:
    """Return the questions of a file."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines if line.strip()]


def measure(base: localrag.KnowledgeBase, questions: Sequence[Question]) -> list[Row]:
    """Return one row per language, and one for all."""
    counts: dict[str, Counter[str]] = {}
    for number, question in enumerate(questions):
        progress(f"{number} of {len(questions)} questions")
        for group in (question["lang"], "all"):
            counts.setdefault(group, Counter()).update(outcome(base, question))
    groups = sorted(counts, key=lambda group: (group == "all", group))
    return [{"lang": group} | {name: counts[group][name] for name in COLUMNS} for group in groups]


def outcome(base: localrag.KnowledgeBase, question: Question) -> Counter[str]:
    """Return what one question adds to the counts."""
    answered = base.ask(question["question"]).found
    if question["file"] is None:
        return Counter({"unanswerable": 1, "abstained": int(not answered)})
    found = Counter({"answerable": 1, "answered": int(answered)})
    for stage, rerank in (("fused", False), ("reranked", True)):
        hits = base.search(question["question"], limit=TOP, rerank=rerank)
        right = [is_gold(hit, question) for hit in hits]
        found[f"{stage} first"] += bool(right[:1] and right[0])
        found[f"{stage} top 5"] += any(right)
    return found


def is_gold(hit: Hit, question: Question) -> bool:
    """Tell whether a hit lies in the question's section."""
    return lies_in_section(hit.document, hit.heading, question)


def lies_in_section(document: str, path: Sequence[str], question: Question) -> bool:
    """Tell whether what stands in a document, below a path of headings, is in its section."""
    wanted = {question["heading"], question.get("heading_alt")} - {None}
    headings = {heading.replace("`", "") for heading in path[-1:]}
    same_file = document.endswith(question["file"])
    return same_file and bool(headings & {heading.replace("`", "") for heading in wanted})


if __name__ == "__main__":
    sys.exit(main())
