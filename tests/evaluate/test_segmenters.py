"""The comparison of words with pairs of characters, on a set small enough to know every list."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest

import localrag
from localrag.inference.fake import FakeEmbedder, FakeReranker

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PASSAGES = {
    "tea": "茶畑で緑茶を摘む。",
    "port": "港町で国立公園を見た。",
    "rust": "所有権はRustの要である。",
}
QUESTIONS = {"q1": ("緑茶を摘む場所は？", "tea"), "q2": ("国立公園はどこですか？", "port")}


@pytest.fixture(autouse=True)
def benchmarks(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(root / "benchmarks"))


def by_hand(text: str) -> Iterator[Any]:
    """Cut at particles: a segmenter that needs no dictionary."""
    from japanese_words import Morpheme  # noqa: PLC0415 - on the path only now

    for piece in re.findall(r"[をでのは]|[^をでのは\s。]+", text):
        part_of_speech = "助詞" if piece in "をでのは" else "名詞"
        yield Morpheme(piece, piece.replace("摘む", "つむ"), part_of_speech)


# How sure


def test_a_difference_is_counted_question_by_question() -> None:
    from paired import paired_difference  # noqa: PLC0415 - on the path only now

    found = paired_difference([1.0, 1.0, 0.5, 0.0], [0.0, 1.0, 0.5, 0.5])
    assert (found.mean, found.better, found.worse) == (0.125, 1, 1)
    assert found.low < 0 < found.high
    assert found == paired_difference([1.0, 1.0, 0.5, 0.0], [0.0, 1.0, 0.5, 0.5])


def test_an_equal_gain_everywhere_is_certain() -> None:
    from paired import paired_difference  # noqa: PLC0415 - on the path only now

    found = paired_difference([0.75] * 9, [0.5] * 9)
    assert (found.low, found.mean, found.high) == (0.25, 0.25, 0.25)


@pytest.mark.parametrize(("values", "base"), [([], []), ([1.0], [1.0, 0.0])])
def test_figures_of_other_questions_are_refused(values: list[float], base: list[float]) -> None:
    from paired import paired_difference  # noqa: PLC0415 - on the path only now

    with pytest.raises(ValueError, match="not of the same questions"):
        paired_difference(values, base)


# What is stored


def test_words_stand_in_place_of_pairs() -> None:
    from japanese_words import of_words  # noqa: PLC0415 - on the path only now

    words = of_words("by hand", by_hand)
    assert words.analyse("緑茶を摘む\nmax_len") == ["緑茶", "つむ", "max", "len", "max\ue05flen"]
    assert words.analyse("10月のサン・テグジュペリ") == ["月", "サン", "テグジュペリ", "10"]
    assert [one.term for one in words.analyse_query("緑茶とは何ですか？")] == ["緑茶"]
    assert [one.term for one in words.analyse_query("何")] == ["何"]


def test_beside_pairs_a_word_is_a_token_of_its_own() -> None:
    from japanese_words import SHIPPED, beside_pairs  # noqa: PLC0415 - on the path only now

    both = beside_pairs("both", by_hand)
    text = "国立公園で緑茶をRust"
    words = ["\ue0fe国立公園", "\ue0fe緑茶", "\ue0ferust"]
    assert both.analyse(text) == [*SHIPPED.analyse(text), *words]
    terms = [one.term for one in both.analyse_query(text)]
    assert terms == [*(one.term for one in SHIPPED.analyse_query(text)), *words]


def test_table_of_examples_is_true() -> None:
    pytest.importorskip("sudachipy", reason="the dependency group `benchmarks` is not installed")
    pytest.importorskip("fugashi", reason="the dependency group `benchmarks` is not installed")
    import japanese_words  # noqa: PLC0415 - on the path only now

    rows = re.findall(r"^(\w.*?)  +``(.+)``$", japanese_words.__doc__ or "", re.MULTILINE)
    told = {name: tokens.split() for name, tokens in rows}
    found = {one.name: one.analyse("国立公園で打込んだRust") for one in japanese_words.variants()}
    assert len(told) == 5
    assert {name: found[name] for name in told} == told
    for name in ("Sudachi A+C", "UniDic lemma"):
        words = [f"\ue0fe{word}" for word in told[name]]
        assert found[f"pairs, {name}"] == [*found["pairs"], *words]


# The figures


@pytest.fixture
def segmenters(monkeypatch: pytest.MonkeyPatch) -> Any:
    import segmenters  # noqa: PLC0415 - on the path only now
    from japanese_words import SHIPPED, of_words  # noqa: PLC0415 - on the path only now

    monkeypatch.setattr(segmenters, "load_embedder", FakeEmbedder)
    monkeypatch.setattr(segmenters, "load_reranker", FakeReranker)
    monkeypatch.setattr(segmenters, "variants", lambda: [SHIPPED, of_words("by hand", by_hand)])
    return segmenters


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "data" / "toy"
    folder.mkdir(parents=True)
    passages = [{"_id": id_, "title": "", "text": text} for id_, text in PASSAGES.items()]
    questions = [{"_id": id_, "text": text} for id_, (text, _) in QUESTIONS.items()]
    for name, records in (("corpus", passages), ("queries", questions)):
        lines = "\n".join(json.dumps(record) for record in records)
        (folder / f"{name}.jsonl").write_text(lines, encoding="utf-8")
    lines = "\n".join(f"{id_}\t{passage}\t1" for id_, (_, passage) in QUESTIONS.items())
    (folder / "qrels.tsv").write_text(lines, encoding="utf-8")
    return folder.parent


def test_every_analysis_is_asked_the_same(
    segmenters: Any, data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["--data", str(data), "--set", "toy", "--cache", str(data.parent / "cache")]
    assert segmenters.main([*arguments, "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    found = {(row["analysis"], row["list"]): row for row in rows}
    assert len(found) == len(rows) == 4
    pairs, words = found["pairs", "words"], found["by hand", "words"]
    assert pairs["ndcg@10"] == words["ndcg@10"] == pairs["hit@1"] == 1.0
    assert (words["gain"], words["better"], words["worse"], words["questions"]) == (0, 0, 0, 2)
    # 茶畑 緑茶 つむ, 港町 国立公園 見た, 所有権 要 ある rust
    assert words["tokens/chunk"] == pytest.approx(10 / 3, abs=1e-6)
    assert pairs["tokens/chunk"] > 10
    assert all(row["bytes/chunk"] > 0 and row["s/1000_chunks"] > 0 for row in rows)
    assert segmenters.main([*arguments, "--limit", "1"]) == 0
    assert "toy, 1 questions" in capsys.readouterr().out
    assert segmenters.main([*arguments, "--split", "nowhere"]) == 1
    assert "nowhere" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        segmenters.main(["--set", "toy"])


def test_questions_of_a_section_are_asked_of_a_real_file(
    segmenters: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, questions = tmp_path / "base.db", tmp_path / "golden.jsonl"
    with localrag.open(path, embedder=FakeEmbedder(), reranker=FakeReranker()) as base:
        base.add("# 飲み物\n\n緑茶を摘む。\n\n# 港\n\n国立公園を見た。", uri="memory:ja.md")
    asked = [
        {"id": "1", "question": "緑茶を摘む", "lang": "ja", "file": "ja.md", "heading": "飲み物"},
        {"id": "2", "question": "緑茶を摘む", "lang": "ja", "file": "ja.md", "heading": "無い"},
        {"id": "3", "question": "tea", "lang": "en", "file": "ja.md", "heading": "飲み物"},
        {"id": "4", "question": "海は", "lang": "ja", "file": None, "heading": None},
    ]
    questions.write_text("\n".join(map(json.dumps, asked)), encoding="utf-8")
    arguments = ["--golden", str(path), str(questions), "--cache", str(tmp_path), "--json"]
    assert segmenters.main(arguments) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [row["questions"] for row in rows] == [1] * 4
    assert [row["hit@1"] for row in rows] == [1.0] * 4
