"""Compiles tokenizer.json into the file that localrag/inference/unigram.py maps into memory.

    python -m models.export.compiled_tokenizer

It gives the same tokens and loads in milliseconds. Which characters the normalisation changes is
asked of the library itself, so that its version of Unicode counts and not that of some Python.
"""

from __future__ import annotations

import itertools
import json
import unicodedata
from collections import Counter
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from tokenizers import Regex, normalizers

from localrag.inference.unigram import ALIGNMENT, MAGIC, SCORE_UNIT
from models.export.double_array import double_array
from models.export.names import COMPILED_TOKENIZER, TOKENIZER

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

__all__ = ["compile_tokenizer"]

FAMILY = Path(__file__).resolve().parent.parent / "multilingual-e5-small"
UNKNOWN_PENALTY = 10
"""What the library takes off the lowest score for a character without a piece."""
UNTYPABLE = "\x01"
"""Starts the names of control pieces: the normalisation deletes it, so no text holds it."""
LAST = 0x110000
SURROGATES = range(0xD800, 0xE000)
NOT_LAST_CLASS = "\u0345"
"""Its combining class, 240, is the highest: any other mark behind it is moved before it."""


def compile_tokenizer(source: Path, target: Path) -> None:
    """Write the compiled form of `source`.

    Raises:
        ValueError: it is not a unigram tokenizer with the normalisation of multilingual-e5.
    """
    definition = json.loads(source.read_text(encoding="utf-8"))
    scores = _integer_scores([score for _, score in definition["model"]["vocab"]])
    rules = _normalisation(definition["normalizer"])
    pieces = {
        text: id_
        for id_, (text, _) in enumerate(definition["model"]["vocab"])
        if not text.startswith(UNTYPABLE)
    }
    alphabet = _alphabet(pieces)
    codes = {character: code for code, character in enumerate(alphabet, 1)}
    trie = double_array(pieces, codes)
    header = {
        "alphabet": "".join(alphabet),
        "alone": sum(character in pieces for character in alphabet),
        "longest": max(map(len, pieces)),
        "unknown": definition["model"]["unk_id"],
        "unknown_score": int(scores.min()) - UNKNOWN_PENALTY * SCORE_UNIT,
        "normalisation": rules,
        "template": _template(definition["post_processor"]),
    }
    arrays = {"base": trie.base, "parent": trie.parent, "piece": trie.piece, "scores": scores}
    _write(target, header, arrays)


def _alphabet(pieces: Iterable[str]) -> list[str]:
    """Return all characters: first those that are pieces, then the rest; frequent ones first.

    Codes of frequent characters are then near each other, and the trie has no holes.
    """
    alone = set(pieces)
    frequency = Counter(itertools.chain.from_iterable(pieces))
    return sorted(frequency, key=lambda one: (one not in alone, -frequency[one], one))


def _write(path: Path, header: dict[str, Any], arrays: dict[str, NDArray[np.int32]]) -> None:
    places, offset = {}, 0
    for name, values in arrays.items():
        places[name] = [offset, len(values)]
        offset += values.nbytes
    text = json.dumps(header | {"arrays": places}, ensure_ascii=False, separators=(",", ":"))
    encoded = text.encode()
    start = MAGIC + len(encoded).to_bytes(4, "little") + encoded
    body = b"".join(values.astype("<i4").tobytes() for values in arrays.values())
    path.write_bytes(start + bytes(-len(start) % ALIGNMENT) + body)


def _integer_scores(scores: list[float]) -> NDArray[np.int32]:
    """Return scores as integers from which division gives back exactly the same numbers."""
    integers = np.round(np.array(scores) * SCORE_UNIT).astype(np.int32)
    if (integers / SCORE_UNIT != np.array(scores)).any():
        raise ValueError("a score has more than seven decimals: choose a smaller unit")
    return integers


def _template(definition: dict[str, Any]) -> dict[str, list[int]]:
    """Return the ids before, between and after the texts of a pair."""
    ids = {name: token["ids"] for name, token in definition["special_tokens"].items()}
    parts: list[list[int]] = [[]]
    for item in definition["pair"]:
        if any(part["type_id"] for part in item.values()):
            raise ValueError("the second text has a type of its own: such a pair is not compiled")
        if "Sequence" in item:
            parts.append([])
        else:
            parts[-1] += ids[item["SpecialToken"]["id"]]
    return dict(zip(("before", "between", "after"), parts, strict=True))


def _normalisation(definition: dict[str, Any]) -> dict[str, str]:
    steps = definition["normalizers"]
    kinds = [step["type"] for step in steps]
    if kinds != ["Replace", "Replace", "Replace", "NFKC", "Replace"]:
        raise ValueError(f"the normaliser has the steps {kinds}: only those of e5 are known")
    deleted, blank, kept, _, restored = steps
    replacements = [step["content"] for step in (deleted, blank, kept)]
    if replacements != ["", " ", restored["pattern"]["String"]]:
        raise ValueError(f"the normaliser replaces by {replacements}: only that of e5 is known")
    return {
        "deleted": _character_class(_replaced(deleted)),
        "blank": _character_class(_replaced(blank)),
        "kept": kept["pattern"]["String"],
        "stand_in": kept["content"],
        "changing": _changing(),
    }


def _replaced(step: dict[str, Any]) -> Iterator[str]:
    r"""Yield the characters that a step replaces.

    They are tried one by one and not read off its expression: the library's engine takes `\x8f`
    for a byte, which no character is, where Python takes it for a character.
    """
    replace = normalizers.Replace(Regex(step["pattern"]["Regex"]), step["content"]).normalize_str
    return (character for character in _characters() if replace(character) != character)


def _characters() -> Iterator[str]:
    return (chr(code_point) for code_point in range(LAST) if code_point not in SURROGATES)


@cache
def _changing() -> str:
    return _character_class(_changing_characters())


def _changing_characters() -> Iterator[str]:
    """Yield what NFKC changes, reorders, or composes with the character before it."""
    normalise = normalizers.NFKC().normalize_str
    seconds = {pair[1] for pair in _compositions() if normalise(pair) != pair}
    for character in _characters():
        mark = NOT_LAST_CLASS + character
        if normalise(character) != character or normalise(mark) != mark or character in seconds:
            yield character
    yield NOT_LAST_CLASS


def _compositions() -> Iterator[str]:
    """Yield every pair that Unicode composes, those of Hangul syllables included."""
    for code_point in range(LAST):
        pair = unicodedata.normalize("NFD", chr(code_point))
        if len(pair) > 1:
            yield unicodedata.normalize("NFC", pair[:-1]) + pair[-1]


def _character_class(characters: Iterable[str]) -> str:
    """Return a regular expression's class of these characters, as ranges."""
    ranges: list[list[int]] = []
    for code_point in sorted({ord(character) for character in characters}):
        if ranges and ranges[-1][1] == code_point - 1:
            ranges[-1][1] = code_point
        else:
            ranges.append([code_point, code_point])
    return f"[{''.join(_escaped(first) + '-' + _escaped(last) for first, last in ranges)}]"


def _escaped(code_point: int) -> str:
    return f"\\U{code_point:08x}"


def main() -> None:
    """Compile the tokenizer of the family that ships."""
    compile_tokenizer(FAMILY / TOKENIZER, FAMILY / COMPILED_TOKENIZER)


if __name__ == "__main__":
    main()
