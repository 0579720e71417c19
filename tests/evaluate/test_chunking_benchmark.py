"""The benchmark of ways of cutting, on two articles small enough to know every answer."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING

import pytest

from localrag.inference.fake import FakeEmbedder, FakeReranker

if TYPE_CHECKING:
    from pathlib import Path
    from types import ModuleType

ARTICLES = {
    "owls": "Owls hunt at night. They eat mice. " * 20 + "The snowy owl nests on the ground.",
    "bees": "Bees dance to tell where food is. " * 20 + "A queen bee lives for five years.",
}
QUESTIONS = [
    ("q1", "Where does the snowy owl nest?", "owls", "nests on the ground"),
    ("q2", "How long does a queen bee live?", "bees", "five years"),
    ("q3", "What is missing?", "bees", "not in the article"),
]


@pytest.fixture
def benchmark(root: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(root / "benchmarks"))
    import chunking  # noqa: PLC0415 - on the path only now

    monkeypatch.setattr(chunking, "load_embedder", FakeEmbedder)
    monkeypatch.setattr(chunking, "load_reranker", FakeReranker)
    return chunking


@pytest.fixture
def data(tmp_path: Path) -> Path:
    home = tmp_path / "covidqa_docs"
    home.mkdir()
    documents = [{"_id": key, "title": key, "text": text} for key, text in ARTICLES.items()]
    questions = [
        {
            "_id": key,
            "text": text,
            "doc": article,
            "answer": answer,
            "start": max(0, ARTICLES[article].find(answer)),
        }
        for key, text, article, answer in QUESTIONS
    ]
    for name, records in (("documents", documents), ("questions", questions)):
        with gzip.open(home / f"{name}.jsonl.gz", "wt", encoding="utf-8") as file:
            file.writelines(json.dumps(record) + "\n" for record in records)
    return tmp_path


def test_each_way_is_one_row(
    benchmark: ModuleType, data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ways = ("sentence-window", "structural 200")
    code = benchmark.main(["--data", str(data), "--cache", str(data), "--way", *ways, "--json"])
    assert code == 0
    window, structural = json.loads(capsys.readouterr().out)
    assert [window["way"], structural["way"]] == ["sentence-window", "structural 200"]
    assert window["questions"] == structural["questions"] == 2
    assert window["chunks"] > structural["chunks"] == 2
    assert window["in@10"] == structural["in@10"] == 1
    assert 0 < window["tokens@5"] <= window["tokens@10"] <= 300


def test_a_hit_must_hold_the_whole_answer(benchmark: ModuleType, data: Path) -> None:
    articles, questions = benchmark.sample(data / "covidqa_docs", 8, 80)
    assert {one["_id"] for one in questions} == {"q1", "q2"}
    start, end = benchmark.answers(articles, questions)["q2"]
    assert ARTICLES["bees"][start:end] == "five years"
    assert len(benchmark.sample(data / "covidqa_docs", 1, 80)[0]) == 1


def test_the_table_is_for_people(
    benchmark: ModuleType, data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    benchmark.main(["--data", str(data), "--cache", str(data), "--way", "fixed 300", "--rerank"])
    header, row = capsys.readouterr().out.splitlines()[:2]
    assert header.split() == [
        *("way", "chunks", "questions", "in@5", "in@10", "tokens@5", "tokens@10")
    ]
    assert row.startswith("fixed 300")
