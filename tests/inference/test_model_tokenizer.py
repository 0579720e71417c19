from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tiny_models import make_family

from localrag.errors import ModelError
from localrag.inference.legal_text import legal_text
from localrag.inference.library_tokenizer import LibraryTokenizer
from localrag.inference.tokenizer import PassageCounter, cut

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def family(tmp_path: Path) -> Path:
    return make_family(tmp_path)


@pytest.fixture
def tokenizer(family: Path) -> LibraryTokenizer:
    return LibraryTokenizer(family / "tokenizer.json")


def test_encode_adds_special_tokens_and_count_does_not(tokenizer: LibraryTokenizer) -> None:
    assert tokenizer.encode("one two") == [1, 5, 6, 2]
    assert tokenizer.encode_batch(["one", "", "three xx"]) == [[1, 5, 2], [1, 2], [1, 7, 0, 2]]
    assert tokenizer.encode_pairs("one", ["two", ""]) == [[1, 5, 2, 2, 6, 2], [1, 5, 2, 2, 2]]
    assert tokenizer.count("one  two") == 2


def test_starts_are_characters_of_the_original(tokenizer: LibraryTokenizer) -> None:
    starts = tokenizer.starts(" one\n鍵 two")
    assert starts.tolist() == [1, 5, 7]
    assert starts.dtype == np.int64


def test_cut_keeps_whole_tokens(tokenizer: LibraryTokenizer) -> None:
    assert cut(tokenizer, "one two three", 2) == "one two "
    assert cut(tokenizer, "one two three", 3) == "one two three"
    assert cut(tokenizer, "one two three", 0) == ""


def test_counter_takes_prefix_and_special_tokens_off(tokenizer: LibraryTokenizer) -> None:
    counter = PassageCounter(tokenizer, "passage: ", 16)
    assert counter.max_tokens == 16 - 2 - 1
    assert counter.count("one two") == 2
    assert counter.token_starts("one two").tolist() == [0, 4]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(st.characters(), max_size=40))
def test_any_string_is_legal(tokenizer: LibraryTokenizer, text: str) -> None:
    assert len(legal_text(text)) == len(text)
    starts = tokenizer.starts(text)
    assert len(starts) == tokenizer.count(text) == len(tokenizer.encode(text)) - 2
    assert (np.diff(starts) >= 0).all()
    assert all(0 <= start < len(text) for start in starts)


def test_lone_surrogates_become_question_marks() -> None:
    assert legal_text("a\ud800b鍵") == "a?b鍵"


def test_a_broken_file_is_a_model_error(tmp_path: Path) -> None:
    (tmp_path / "tokenizer.json").write_text("{}")
    with pytest.raises(ModelError, match="reinstall"):
        LibraryTokenizer(tmp_path / "tokenizer.json").load()
