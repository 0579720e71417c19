"""The benchmarks of glossary and spelling, on a set small enough to know every list by heart."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from localrag.inference.fake import FakeEmbedder, FakeReranker

if TYPE_CHECKING:
    from pathlib import Path

PASSAGES = {
    "explained": "The polymerase chain reaction (PCR) copies strands.",
    "long": "A polymerase chain reaction needs heat.",
    "short": "Our PCR has failed twice.",
    "other": "The harbour opens at six in summer.",
}
QUESTIONS = {
    "q1": ("polymerase chain reaction failed twice", "short"),
    "q2": ("PCR heat", "long"),
    "q3": ("harbour opens", "other"),
}


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    (folder / "toy").mkdir(parents=True)
    passages = [{"_id": id_, "title": "", "text": text} for id_, text in PASSAGES.items()]
    questions = [{"_id": id_, "text": text} for id_, (text, _) in QUESTIONS.items()]
    for name, records in (("corpus", passages), ("queries", questions)):
        lines = "\n".join(json.dumps(record) for record in records)
        (folder / "toy" / f"{name}.jsonl").write_text(lines, encoding="utf-8")
    lines = "\n".join(f"{id_}\t{passage}\t1" for id_, (_, passage) in QUESTIONS.items())
    (folder / "toy" / "qrels.tsv").write_text(lines, encoding="utf-8")
    return folder


def rows(
    benchmark: Any,
    data: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> list[dict[str, Any]]:
    """Run a benchmark on the toy set with the exact fake models."""
    monkeypatch.setattr(benchmark, "load_embedder", FakeEmbedder)
    monkeypatch.setattr(benchmark, "load_reranker", FakeReranker)
    cache = data.parent / "cache"
    arguments = ["--data", str(data), "--set", "toy", "--cache", str(cache)]
    assert benchmark.main(arguments) == 0
    assert "toy" in capsys.readouterr().out
    assert benchmark.main([*arguments, "--json"]) == 0
    found: list[dict[str, Any]] = json.loads(capsys.readouterr().out)
    assert benchmark.main([*arguments, "--split", "nowhere"]) == 1
    assert "nowhere" in capsys.readouterr().err
    return found


def test_the_glossary_gives_back_what_the_other_word_cost(
    root: Path, data: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.syspath_prepend(str(root / "benchmarks"))
    import glossary  # noqa: PLC0415 - on the path only now

    found = rows(glossary, data, monkeypatch, capsys)
    lexical = {
        (row["exchanged"], row["glossary"]): row for row in found if row["mode"] == "lexical"
    }
    assert {row["questions"] for row in found} == {1}
    assert len(found) == 12
    # "PCR heat" becomes "polymerase chain reaction heat", and the other way round.
    for direction in ("long -> short", "short -> long"):
        asked, off, on = (lexical[direction, label] for label in ("as asked", "off", "on"))
        assert on["mrr@10"] >= off["mrr@10"]
        assert asked["recall@5"] == on["recall@5"] == 1.0


def test_near_words_give_back_what_a_typing_error_cost(
    root: Path, data: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.syspath_prepend(str(root / "benchmarks"))
    import spelling  # noqa: PLC0415 - on the path only now

    found = rows(spelling, data, monkeypatch, capsys)
    lexical = {row["changed"]: row for row in found if row["mode"] == "lexical"}
    assert [lexical[label]["questions"] for label in ("as asked", "off", "on")] == [3, 3, 3]
    assert lexical["on"]["mrr@10"] >= lexical["off"]["mrr@10"]
    assert lexical["on"]["recall@5"] == 1.0


def test_a_typing_error_is_one_edit_and_always_the_same(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(root / "benchmarks"))
    import spelling  # noqa: PLC0415 - on the path only now

    from localrag.text.spelling import distance  # noqa: PLC0415

    question = "Which international organisation receives Vaccines?"
    found = {spelling.with_error(question, seed=str(seed)) for seed in range(60)}
    assert len(found) > 20
    assert all(distance(question, one) == 1 for one in found)
    assert all(one.startswith("Which ") for one in found)
    assert spelling.with_error(question, seed="a") == spelling.with_error(question, seed="a")
    assert spelling.with_error("What is it?", seed="a") == "What is it?"
