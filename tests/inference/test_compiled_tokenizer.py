"""A small vocabulary, compiled and read, against the library that reads its tokenizer.json."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from localrag.errors import ModelError
from localrag.inference import compiled_tokenizer as module
from localrag.inference.compiled_tokenizer import CompiledTokenizer
from localrag.inference.library_tokenizer import LibraryTokenizer
from localrag.inference.unigram import MAGIC, Vocabulary

sys.path.append(str(Path(__file__).parents[2]))

from models.export.compiled_tokenizer import compile_tokenizer
from models.export.double_array import double_array

if importlib.util.find_spec("onnx") is None:  # models/export/family.py writes models too
    pytest.skip("not installed: onnx", allow_module_level=True)

SHIPPED = Path(__file__).parents[2] / "models" / "multilingual-e5-small" / "tokenizer.json"
PIECES = [
    ("\x01<s>", 0.0),
    ("\x01<pad>", 0.0),
    ("\x01</s>", 0.0),
    ("\x01<unk>", 0.0),
    ("▁", -3.5),
    ("a", -4.25),
    ("b", -4.5),
    ("▁a", -5.0),
    ("ab", -6.7712345),
    ("▁ab", -7.0),
    ("ba", -8.75),  # as likely as b and a: which of the two wins is the library's choice
    ("c", -9.0),
    ("cab", -9.5),
    ("鍵", -9.75),
    ("鍵は", -10.0),
    ("～", -10.5),
    ("ガ", -11.0),
    ("de", -11.5),  # d and e are no pieces by themselves
    ("\x01<mask>", 0.0),
]
CHARACTERS = "abcdex 鍵は～ｶﾞﾞ\u0301ﬁ\x01\x8f\u200b\n\ud800"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the shipped tokenizer.json, other pieces, and the compiled form."""
    folder = tmp_path_factory.mktemp("tokenizer")
    definition: dict[str, Any] = json.loads(SHIPPED.read_text(encoding="utf-8"))
    definition["model"]["vocab"] = PIECES
    (folder / "tokenizer.json").write_text(json.dumps(definition), encoding="utf-8")
    compile_tokenizer(folder / "tokenizer.json", folder / "tokenizer.bin")
    return folder


@pytest.fixture(scope="module")
def compiled(folder: Path) -> CompiledTokenizer:
    return CompiledTokenizer(folder / "tokenizer.bin")


@pytest.fixture(scope="module")
def library(folder: Path) -> LibraryTokenizer:
    return LibraryTokenizer(folder / "tokenizer.json")


@given(st.text(st.sampled_from(CHARACTERS), max_size=20))
def test_tokens_and_places_are_the_librarys(
    compiled: CompiledTokenizer, library: LibraryTokenizer, text: str
) -> None:
    assert compiled.encode(text) == library.encode(text)
    np.testing.assert_array_equal(compiled.starts(text), library.starts(text))
    assert compiled.starts(text).dtype == np.int64
    assert compiled.count(text) == library.count(text)


def test_batches_and_pairs(compiled: CompiledTokenizer, library: LibraryTokenizer) -> None:
    texts = ["ab cab", "", "x鍵は"]
    assert compiled.encode_batch(texts) == library.encode_batch(texts)
    assert compiled.encode_pairs("a b", texts) == library.encode_pairs("a b", texts)


def test_the_template_and_unknown_characters(compiled: CompiledTokenizer) -> None:
    assert compiled.encode("ab") == [0, 9, 2]
    assert compiled.encode("xyz") == [0, 4, 3, 2]
    assert compiled.encode_pairs("a", ["b", ""]) == [[0, 7, 2, 2, 4, 6, 2], [0, 7, 2, 2, 2]]
    assert compiled.starts(" xyz a").tolist() == [1, 1, 5]


def test_a_control_piece_cannot_be_typed(compiled: CompiledTokenizer) -> None:
    assert not {0, 1, 2, 18} & set(compiled.encode("\x01<s>\x01<mask> </s>")[1:-1])


def test_the_memory_of_words_is_bounded(
    folder: Path, library: LibraryTokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "CACHED_WORDS", 3)
    rules = module.Rules(folder / "tokenizer.bin")
    words = ["a", "b", "ab", "ba", "cab", "a", "x" * 100, "a"]
    for word in words:
        assert [0, *rules.ids(word), 2] == library.encode(word)
        assert len(rules._words) <= 3
    assert "x" * 100 not in rules._words


def test_the_same_pieces_give_the_same_file(folder: Path, tmp_path: Path) -> None:
    compile_tokenizer(folder / "tokenizer.json", tmp_path / "again.bin")
    assert (tmp_path / "again.bin").read_bytes() == (folder / "tokenizer.bin").read_bytes()


@given(st.dictionaries(st.text("abcdé鍵", min_size=1, max_size=6), st.just(0), min_size=1))
def test_a_double_array_holds_its_pieces_and_no_others(pieces: dict[str, int]) -> None:
    numbered = {piece: id_ for id_, piece in enumerate(pieces)}
    codes = {character: code for code, character in enumerate(sorted(set("".join(pieces))), 1)}
    trie = double_array(numbered, codes)

    def found(text: str) -> int:
        node = 0
        for character in text:
            slot = int(trie.base[node]) + codes.get(character, 0)
            if trie.parent[slot] != node:
                return -1
            node = slot
        return int(trie.piece[node])

    for piece in numbered:
        for length in range(1, len(piece) + 1):
            start = piece[:length]
            assert found(start) == numbered.get(start, -1)
        assert found(piece + "x") == -1
        assert found("x" + piece) == -1


def refused(folder: Path, change: str, name: str, tmp_path: Path) -> str:
    definition = (folder / "tokenizer.json").read_text(encoding="utf-8")
    assert change in definition
    (tmp_path / "other.json").write_text(definition.replace(change, name), encoding="utf-8")
    with pytest.raises(ValueError, match=r"e5|seven decimals") as error:
        compile_tokenizer(tmp_path / "other.json", tmp_path / "other.bin")
    return str(error.value)


def test_another_kind_of_tokenizer_is_not_compiled(folder: Path, tmp_path: Path) -> None:
    assert "NFC'" in refused(folder, '"NFKC"', '"NFC"', tmp_path)
    assert "'-'" in refused(folder, '"content": " "', '"content": "-"', tmp_path)
    assert "seven decimals" in refused(folder, "-6.7712345", "-6.77123456", tmp_path)


@pytest.mark.parametrize("damage", ["missing", "empty", "other", "header", "short"])
def test_a_damaged_file_is_a_model_error(folder: Path, tmp_path: Path, damage: str) -> None:
    content = (folder / "tokenizer.bin").read_bytes()
    damaged = {
        "empty": b"",
        "other": b"{}" * 10,
        "header": MAGIC + b"\x02\0\0\0{}" + bytes(10),
        "short": content[:-4],
    }
    path = tmp_path / "tokenizer.bin"
    if damage in damaged:
        path.write_bytes(damaged[damage])
    with pytest.raises(ModelError, match="reinstall"):
        CompiledTokenizer(path).load()


def test_one_file_is_read_once(folder: Path, compiled: CompiledTokenizer) -> None:
    compiled.load()
    assert CompiledTokenizer(folder / "tokenizer.bin")._rules() is compiled._rules()


def test_the_vocabulary_alone(folder: Path) -> None:
    vocabulary = Vocabulary(folder / "tokenizer.bin")
    assert vocabulary.segment("▁ab") == ((9,), (0,))
    assert vocabulary.segment("xcab") == ((3, 12), (0, 1))
    assert vocabulary.segment("dde") == ((3, 17), (0, 1))
