"""Ways to take Japanese apart into words, beside the pairs of characters that localrag stores.

=====================  ====================================================
analysis               tokens of ``国立公園で打込んだRust``
=====================  ====================================================
pairs (localrag)       the pairs, the single ideographs, ``rust``
Sudachi A              ``国立 公園 打つ 込む rust``
Sudachi C              ``国立公園 打ち込む rust``
Sudachi A+C            ``国立公園 国立 公園 打ち込む 打つ 込む rust``
UniDic surface         ``国立 公園 打込ん rust``
UniDic lemma           ``国立 公園 打ち込む rust``
=====================  ====================================================

Words are Sudachi's normalised forms and UniDic's surface forms or lemmas. Particles, auxiliaries
and symbols are left out. What is written with spaces, such as ``Rust`` or ``max_seq_len``, is left
to localrag in each of them, and so are the words of a question that a query goes without.

A segmenter needs its package and dictionary, the dependency group `benchmarks` of pyproject.toml.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from analysis import Variant

from localrag.text.analysis import Analyser, QueryTerm, unwrapped
from localrag.text.folding import fold
from localrag.text.scripts import UNSPACED
from localrag.text.stop_words import without_stop_words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

__all__ = ["SHIPPED", "Morpheme", "beside_pairs", "of_words", "variants"]


@dataclass(frozen=True, slots=True)
class Morpheme:
    """A piece of text as a segmenter sees it."""

    surface: str
    """As it is written; may hold other characters than Japanese ones."""
    form: str
    """Under which it is stored."""
    part_of_speech: str
    """The first level, such as ``名詞``."""


if TYPE_CHECKING:
    Segmenter = Callable[[str], Iterable[Morpheme]]

SAY_NOTHING: Final = frozenset(("助詞", "助動詞", "補助記号", "記号", "空白"))
"""Parts of speech that are not stored; as the filter that Lucene ships for Japanese does it."""

SHIPPED: Final = Variant("pairs", Analyser().analyse, Analyser().analyse_query)

_MARK: Final = "\ue0fe"
"""In front of a word that stands beside pairs; localrag's own tokens do not begin so."""

_NAMES = Analyser(stop_words=False)
_RUN = re.compile(f"[{UNSPACED}]+")


def variants() -> Iterator[Variant]:
    """Yield the analyses that are compared, the shipped one first."""
    short, both, long = sudachi("A"), sudachi("A+C"), sudachi("C")
    surface, lemma = unidic(lemmas=False), unidic(lemmas=True)
    yield SHIPPED
    yield of_words("Sudachi A", short)
    yield of_words("Sudachi C", long)
    yield of_words("Sudachi A+C", both)
    yield of_words("UniDic surface", surface)
    yield of_words("UniDic lemma", lemma)
    yield beside_pairs("pairs, Sudachi A+C", both)
    yield beside_pairs("pairs, UniDic lemma", lemma)


def of_words(name: str, segmenter: Segmenter) -> Variant:
    """Return the analysis that stores words where localrag stores pairs of characters."""

    def analyse(text: str) -> list[str]:
        prepared = _prepared(text)
        return [*_words(segmenter(prepared)), *_NAMES.analyse(_RUN.sub(" ", prepared))]

    def terms(prepared: str) -> list[QueryTerm]:
        words = map(QueryTerm, _words(segmenter(prepared)))
        return list(dict.fromkeys((*words, *_NAMES.analyse_query(_RUN.sub(" ", prepared)))))

    def analyse_query(text: str) -> list[QueryTerm]:
        prepared = _prepared(text)
        return terms(without_stop_words(prepared)) or terms(prepared)

    return Variant(name, analyse, analyse_query)


def beside_pairs(name: str, segmenter: Segmenter) -> Variant:
    """Return the analysis that stores both; a word is another token than a pair with its letters.

    Names such as ``Rust`` count as both too, so that they keep their weight among Japanese words.
    """
    words = of_words(name, segmenter)

    def analyse(text: str) -> list[str]:
        return SHIPPED.analyse(text) + [_MARK + word for word in words.analyse(text)]

    def analyse_query(text: str) -> list[QueryTerm]:
        marked = [QueryTerm(_MARK + one.term) for one in words.analyse_query(text)]
        return [*SHIPPED.analyse_query(text), *marked]

    return Variant(name, analyse, analyse_query)


def sudachi(mode: str) -> Segmenter:
    """Return SudachiPy with its core dictionary: short units, long ones, or both."""
    from sudachipy import Dictionary, SplitMode  # noqa: PLC0415 - a package of the benchmarks

    tokenizer = Dictionary(dict="core").tokenizer(mode=SplitMode.A if mode == "A" else SplitMode.C)

    def segment(text: str) -> Iterator[Morpheme]:
        for line in _lines(text):
            for unit in tokenizer.tokenize(line):
                parts = unit.split(SplitMode.A, add_single=False) if mode == "A+C" else ()
                for one in (unit, *parts):
                    part_of_speech = one.part_of_speech()[0]
                    yield Morpheme(one.surface(), one.normalized_form(), part_of_speech)

    return segment


def unidic(*, lemmas: bool) -> Segmenter:
    """Return MeCab, by fugashi, with unidic-lite: words as they are written, or their lemmas."""
    from fugashi import Tagger  # noqa: PLC0415 - a package of the benchmarks

    tagger = Tagger()

    def segment(text: str) -> Iterator[Morpheme]:
        for line in _lines(text):
            for unit in tagger(line):
                lemma = unit.feature.lemma if lemmas else None  # none for an unknown word
                yield Morpheme(unit.surface, lemma or unit.surface, unit.feature.pos1)

    return segment


LONGEST_LINE: Final = 10_000
"""Characters; Sudachi refuses 49,149 bytes."""


def _lines(text: str) -> Iterator[str]:
    for line in text.splitlines():
        for start in range(0, len(line), LONGEST_LINE):
            yield line[start : start + LONGEST_LINE]


def _prepared(text: str) -> str:
    # Not localrag's own folding: a dictionary knows メーカー and not メーカ.
    return unwrapped(unicodedata.normalize("NFKC", text))


def _words(morphemes: Iterable[Morpheme]) -> list[str]:
    found: list[str] = []
    for one in morphemes:
        if one.part_of_speech in SAY_NOTHING:
            continue
        # A date or a name with a dot in it is one word to a segmenter and several to localrag.
        forms = [one.form] if _RUN.fullmatch(one.surface) else _RUN.findall(one.surface)
        found += ["".join(re.findall(r"\w+", fold(form))) for form in forms]
    return [word for word in found if word]
