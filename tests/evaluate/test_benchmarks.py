"""The benchmark of retrieval, on a set small enough to know every list by heart."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import apsw
import pytest

from localrag.inference.fake import FakeCounter, FakeEmbedder, FakeReranker

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from localrag.inference.protocols import FloatArray

PASSAGES = {
    "harbour": "The harbour opens at six in summer.",
    "library": "The library lends books for four weeks.",
    "ferry": "A ferry to the island leaves the harbour every hour.",
}
QUESTIONS = {
    "q1": ("When does the ferry leave?", "ferry"),
    "q2": ("How many weeks does the library lend?", "library"),
}


class CountingEmbedder(FakeEmbedder):
    """Remembers what it was asked to embed."""

    def __init__(self) -> None:
        super().__init__()
        self.embedded: list[str] = []

    def embed_passages(self, texts: Sequence[str]) -> FloatArray:
        self.embedded.extend(texts)
        return super().embed_passages(texts)

    def embed_query(self, text: str) -> FloatArray:
        vector: FloatArray = super().embed_passages([text])[0]
        return vector


@pytest.fixture
def embedder(root: Path, monkeypatch: pytest.MonkeyPatch) -> CountingEmbedder:
    monkeypatch.syspath_prepend(str(root / "benchmarks"))
    import retrieval  # noqa: PLC0415 - on the path only now

    embedder = CountingEmbedder()
    monkeypatch.setattr(retrieval, "load_embedder", lambda: embedder)
    monkeypatch.setattr(retrieval, "load_reranker", FakeReranker)
    return embedder


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    (folder / "toy").mkdir(parents=True)
    corpus = [{"_id": id_, "title": id_, "text": text} for id_, text in PASSAGES.items()]
    queries = [{"_id": id_, "text": text} for id_, (text, _) in QUESTIONS.items()]
    for name, records in (("corpus", corpus), ("queries", queries)):
        lines = "".join(json.dumps(record) + "\n" for record in records)
        (folder / "toy" / f"{name}.jsonl").write_text(lines, encoding="utf-8")
    rows = "".join(f"{id_}\t{passage}\t1\n" for id_, (_, passage) in QUESTIONS.items())
    (folder / "toy" / "qrels_dev.tsv").write_text(rows, encoding="utf-8")
    return folder


def run(*arguments: str | Path) -> int:
    import retrieval  # noqa: PLC0415 - on the path only now

    return retrieval.main([str(argument) for argument in arguments])


@pytest.mark.usefixtures("embedder")
def test_a_first_passage_with_the_answer_is_counted_where_answers_are_known(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    queries = [
        {"_id": id_, "text": text, "metadata": {"answers": [answer]}}
        for (id_, (text, _)), answer in zip(QUESTIONS.items(), ("every hour", "0"), strict=True)
    ]
    lines = "".join(json.dumps(record) + "\n" for record in queries)
    (data / "toy" / "queries.jsonl").write_text(lines, encoding="utf-8")
    # Neither passage that was asked about is marked any more: the texts alone are left.
    unmarked = next(id_ for id_ in PASSAGES if id_ not in {p for _, p in QUESTIONS.values()})
    rows = "".join(f"{id_}\t{unmarked}\t1\n" for id_ in QUESTIONS)
    (data / "toy" / "qrels_dev.tsv").write_text(rows, encoding="utf-8")
    assert run("--data", data, "--cache", tmp_path / "cache", "--json") == 0
    reranked = json.loads(capsys.readouterr().out)[-1]
    assert reranked["hit@1"] == 0.0
    assert reranked["answer@1"] == 0.5


def test_each_stage_is_one_row_of_figures(
    data: Path, tmp_path: Path, embedder: CountingEmbedder, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("--data", data, "--cache", tmp_path / "cache", "--json") == 0
    rows = json.loads(capsys.readouterr().out)
    assert [row["stage"] for row in rows] == ["lexical", "vector", "fused", "reranked"]
    for row in rows:
        assert (row["set"], row["split"], row["questions"], row["passages"]) == ("toy", "dev", 2, 3)
        assert row["recall@5"] == row["recall@20"] == row["recall@50"] == 1.0
        assert row["hit@1"] <= row["mrr@10"] <= row["ndcg@10"] <= 1.0
        assert row["ms_per_query"] > 0
    assert rows[-1]["hit@1"] == 1.0
    assert sorted(embedder.embedded) == sorted(passages())


def passages() -> list[str]:
    return [f"{id_}\n{text}" for id_, text in PASSAGES.items()]


def test_a_second_run_embeds_no_passage(
    data: Path, tmp_path: Path, embedder: CountingEmbedder, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ("--data", data, "--cache", tmp_path / "cache", "--json", "--set", "toy")
    run(*arguments)
    first = json.loads(capsys.readouterr().out)
    embedder.embedded.clear()
    run(*arguments)
    second = json.loads(capsys.readouterr().out)
    assert embedder.embedded == []
    for row in first + second:
        del row["ms_per_query"]
    assert first == second


@pytest.mark.parametrize("context", ["words", "none"])
def test_titles_can_be_kept_out_of_the_vectors_or_left_out(
    data: Path, tmp_path: Path, embedder: CountingEmbedder, context: str
) -> None:
    cache = tmp_path / "cache"
    run("--data", data, "--cache", cache, "--json")
    embedder.embedded.clear()
    assert run("--data", data, "--cache", cache, "--json", "--context-line", context) == 0
    assert sorted(embedder.embedded) == sorted(PASSAGES.values())
    (file,) = cache.glob(f"toy-*-{context}.db")
    connection = apsw.Connection(str(file), flags=apsw.SQLITE_OPEN_READONLY)
    line = connection.execute("SELECT context FROM chunks WHERE text LIKE 'A ferry%'").get
    connection.close()
    assert line == ("ferry" if context == "words" else "")


def test_passages_of_a_file_become_its_chunks(
    data: Path, tmp_path: Path, embedder: CountingEmbedder, capsys: pytest.CaptureFixture[str]
) -> None:
    source = (
        "class Shop:\n    def open(self):\n        pass\n\n    def close(self):\n        pass\n"
    )
    at = source.index("    def close")
    parts = {"ferry": source[:at], "library": source[at:]}
    corpus: list[dict[str, object]] = [
        {"_id": one, "text": text, "metadata": {"doc": "d"}} for one, text in parts.items()
    ]
    documents: list[dict[str, object]] = [{"_id": "d", "text": source}]
    records: dict[str, list[dict[str, object]]] = {"corpus": corpus, "documents": documents}
    for name, lines in records.items():
        text = "".join(json.dumps(line) + "\n" for line in lines)
        (data / "toy" / f"{name}.jsonl").write_text(text, encoding="utf-8")
    assert run("--data", data, "--cache", tmp_path / "cache", "--json", "--no-rerank") == 0
    rows = json.loads(capsys.readouterr().out)
    assert [(row["passages"], row["recall@5"]) for row in rows] == [(2, 0.0), (2, 1.0), (2, 1.0)]
    assert embedder.embedded == [
        f"Shop > open\n{parts['ferry']}",
        f"Shop > close\n{parts['library']}",
    ]


def test_a_passage_is_read_as_far_as_the_model_reads(embedder: CountingEmbedder) -> None:
    del embedder
    import set_index  # noqa: PLC0415 - on the path only now

    counter = FakeCounter(max_tokens=3)
    assert set_index.beginning("one two three", counter) == "one two three"
    assert set_index.beginning("one two three four", counter).split() == ["one", "two", "three"]


def test_a_lost_index_is_made_again_from_the_kept_vectors(
    data: Path, tmp_path: Path, embedder: CountingEmbedder, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ("--data", data, "--cache", tmp_path / "cache", "--json")
    run(*arguments)
    embedder.embedded.clear()
    for file in (tmp_path / "cache").glob("toy-*"):
        file.unlink()
    assert run(*arguments) == 0
    assert embedder.embedded == []
    capsys.readouterr()


def test_a_table_is_for_people(
    data: Path, tmp_path: Path, embedder: CountingEmbedder, capsys: pytest.CaptureFixture[str]
) -> None:
    del embedder
    cache = tmp_path / "cache"
    assert run("--data", data, "--cache", cache, "--no-rerank", "--limit", "1") == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split()[:4] == ["set", "split", "stage", "questions"]
    assert [line.split()[2] for line in lines[1:4]] == ["lexical", "vector", "fused"]
    assert lines[1].split()[3] == "1"


def test_a_wrong_name_is_one_line(
    data: Path, tmp_path: Path, embedder: CountingEmbedder, capsys: pytest.CaptureFixture[str]
) -> None:
    del embedder
    assert run("--data", data, "--cache", tmp_path / "cache", "--set", "nonsense") == 1
    assert "holds no judgements" in capsys.readouterr().err
