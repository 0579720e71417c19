"""Compares splitters of sentences on the gold list of the tests.

    pip install pysbd syntok sentencex blingfire pythainlp python-crfsuite
    python benchmarks/sentences.py

`exact` is the share of cases without a wrong or missing boundary; precision, recall and F1 count
the boundaries inside cases. The libraries are told the language where they can be; ours is not.
Those that are not installed are left out. `held out` are the cases that were put aside before our
splitter was mended by the others. crfcut knows Thai alone and is run on nothing else.
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from report import print_table

from localrag.text.sentences import sentence_spans

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from report import Row

sys.path.insert(0, str(Path(__file__).parent.parent / "tests" / "text"))
from sentence_cases import CASES, HELD_OUT, gold

Spans = list[tuple[int, int]]
COLUMNS = ("splitter", "list", "cases", "exact", "precision", "recall", "f1")
NEAREST = {"markdown": "en", "pt": "es", "ko": "en", "th": "en"}
"""The language that pysbd is told where it does not know the right one."""


def main() -> int:
    """Run every splitter that is there; return the exit code."""
    rows: list[Row] = []
    for name, library, split, languages in SPLITTERS:
        try:
            module = importlib.import_module(library)
        except ImportError:
            print(f"{name} is not installed", file=sys.stderr)
            continue
        for label, cases in (("gold", CASES), ("held out", HELD_OUT)):
            chosen = {key: cases[key] for key in languages or cases}
            rows.append({"splitter": name, "list": label, **measure(module, split, chosen)})
    print_table(rows, COLUMNS)
    return 0


def measure(
    module: Any,  # noqa: ANN401 - a library's own
    split: Callable[[Any, str, str], Spans],
    cases: Mapping[str, Sequence[str]],
) -> Row:
    """Return how a splitter does on some cases."""
    exact = right = wanted = found = count = 0
    for language, texts in cases.items():
        for text, spans in map(gold, texts):
            ends = {end for _, end in spans[:-1]}
            own = {end for _, end in split(module, text, language)[:-1]}
            exact += ends == own
            right += len(ends & own)
            wanted += len(ends)
            found += len(own)
            count += 1
    precision, recall = right / max(1, found), right / max(1, wanted)
    return {
        "cases": count,
        "exact": exact / count,
        "precision": precision,
        "recall": recall,
        "f1": 2 * right / max(1, found + wanted),
    }


def located(text: str, sentences: Iterable[str]) -> Spans:
    """Return where sentences stand, for libraries that give back no offsets."""
    spans: Spans = []
    for sentence in filter(None, map(str.strip, sentences)):
        start = text.find(sentence, spans[-1][1] if spans else 0)
        if start >= 0:
            spans.append((start, start + len(sentence)))
    return spans


def ours(_: Any, text: str, __: str) -> Spans:  # noqa: ANN401
    """Split with localrag."""
    return sentence_spans(text)


def pysbd(module: Any, text: str, language: str) -> Spans:  # noqa: ANN401
    """Split with pysbd."""
    segmenter = module.Segmenter(language=NEAREST.get(language, language), clean=False)
    return located(text, segmenter.segment(text))


def syntok(module: Any, text: str, _: str) -> Spans:  # noqa: ANN401
    """Split with syntok."""
    sentences = [list(found) for paragraph in module.process(text) for found in paragraph]
    return [(s[0].offset, s[-1].offset + len(s[-1].value)) for s in sentences if s]


def sentencex(module: Any, text: str, language: str) -> Spans:  # noqa: ANN401
    """Split with sentencex."""
    known = "en" if language == "markdown" else language
    return located(text, module.segment(known, text))


def blingfire(module: Any, text: str, _: str) -> Spans:  # noqa: ANN401
    """Split with Bling Fire."""
    return located(text, module.text_to_sentences(text).split("\n"))


def crfcut(module: Any, text: str, _: str) -> Spans:  # noqa: ANN401
    """Split with PyThaiNLP's crfcut."""
    return located(text, module.sent_tokenize(text, engine="crfcut"))


SPLITTERS = (
    ("ours", "localrag.text.sentences", ours, None),
    ("sentencex", "sentencex", sentencex, None),
    ("pysbd", "pysbd", pysbd, None),
    ("blingfire", "blingfire", blingfire, None),
    ("syntok", "syntok.segmenter", syntok, None),
    ("ours, Thai", "localrag.text.sentences", ours, ("th",)),
    ("crfcut, Thai", "pythainlp.tokenize", crfcut, ("th",)),
)

if __name__ == "__main__":
    sys.exit(main())
