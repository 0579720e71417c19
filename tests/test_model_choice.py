"""A file is opened with the models it was made with, by name, wherever it is opened."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from onnx_models import encoder, make_model, scorer
from support import write_files

import localrag
from localrag.config import make_settings
from localrag.errors import FingerprintError, ModelError, SettingsError
from localrag.inference.bi_encoder import BiEncoder
from localrag.inference.bundle import DEFAULT_FAMILY
from localrag.inference.cross_encoder import CrossEncoder
from localrag.inference.fake import FakeEmbedder, FakeReranker

SMALL = make_settings(chunk_tokens=40, overlap_tokens=5)


@pytest.fixture(autouse=True)
def models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the directory of the user's models, with a bi-encoder and a cross-encoder in it."""
    monkeypatch.setenv("LOCALRAG_MODELS", str(tmp_path / "models"))
    make_model(tmp_path / "models" / "tiny", max_tokens=64)
    make_model(tmp_path / "models" / "judge", "cross-encoder", scorer(), max_tokens=64)
    write_files(tmp_path / "docs", {"a.md": "# One\n\none two three four\n"})
    return tmp_path / "models"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return a file that was made with the two, by their names."""
    with localrag.open(
        tmp_path / "base.db", settings=SMALL, embedder="tiny", reranker="judge"
    ) as kb:
        kb.sync(tmp_path / "docs")
    return tmp_path / "base.db"


def names_of(kb: localrag.KnowledgeBase) -> tuple[str, str]:
    assert isinstance(kb.embedder, BiEncoder)
    assert isinstance(kb.reranker, CrossEncoder)
    return kb.embedder.name, kb.reranker.name


def test_later_openings_use_the_same_models(path: Path) -> None:
    for read_only in (False, True):
        with localrag.open(path, read_only=read_only) as kb:
            assert names_of(kb) == ("tiny", "judge")
            assert len(kb.search("one two")) == 1
    with localrag.open(path) as kb:
        stored = kb.status().settings
    assert (stored["embedder"], stored["reranker"]) == ("tiny", "judge")


def test_models_can_be_named_in_the_settings(tmp_path: Path) -> None:
    settings = make_settings(
        chunk_tokens=40, overlap_tokens=5, embedder="tiny", reranker=str(tmp_path / "models/judge")
    )
    with localrag.open(tmp_path / "base.db", settings=settings) as kb:
        assert names_of(kb) == ("tiny", "judge")
    with localrag.open(tmp_path / "base.db") as kb:
        assert kb.status().settings["reranker"] == str(tmp_path / "models/judge")


def test_what_is_given_comes_before_what_the_settings_name(tmp_path: Path) -> None:
    settings = make_settings(embedder="tiny", reranker="judge")
    embedder, reranker = FakeEmbedder(), FakeReranker()
    with localrag.open(
        tmp_path / "base.db", settings=settings, embedder=embedder, reranker=reranker
    ) as kb:
        assert kb.embedder is embedder
        assert kb.reranker is reranker
        assert "embedder" not in kb.status().settings


def test_a_folder_is_kept_as_a_whole_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_model(tmp_path / "mine", max_tokens=64)
    monkeypatch.chdir(tmp_path)
    localrag.open("base.db", settings=SMALL, embedder=Path("mine"), reranker="judge").close()
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    with localrag.open(tmp_path / "base.db") as kb:
        assert kb.status().settings["embedder"] == str(tmp_path / "mine")


def test_another_reranker_serves_one_opening_until_a_sync_keeps_it(
    path: Path, tmp_path: Path
) -> None:
    make_model(tmp_path / "models" / "other", "cross-encoder", scorer(), max_tokens=64)
    with localrag.open(path, reranker="other") as kb:
        assert names_of(kb) == ("tiny", "other")
    with localrag.open(path) as kb:
        assert names_of(kb) == ("tiny", "judge")
    with localrag.open(path, reranker="other") as kb:
        kb.sync(tmp_path / "docs")
    with localrag.open(path) as kb:
        assert names_of(kb) == ("tiny", "other")


def test_another_embedder_is_refused_with_the_name_of_the_right_one(
    path: Path, tmp_path: Path
) -> None:
    make_model(tmp_path / "models" / "second", model=encoder(), pooling="first", max_tokens=64)
    with pytest.raises(FingerprintError, match=r"made with tiny;.*localrag reembed.*name no model"):
        localrag.open(path, embedder="second")


def test_a_model_that_was_moved_is_found_by_what_it_computes(path: Path, models: Path) -> None:
    (models / "tiny").rename(models / "renamed")
    with localrag.open(path) as kb:
        assert len(kb.search("one two")) == 1


@pytest.mark.parametrize(
    ("gone", "words"),
    [
        ("tiny", r"base\.db works with the embedder tiny, .* models add FOLDER$"),
        ("judge", r"base\.db works with the reranker judge, .* with --reranker$"),
    ],
)
def test_a_model_that_is_gone_says_how_to_get_it(
    path: Path, models: Path, gone: str, words: str
) -> None:
    shutil.rmtree(models / gone)
    with pytest.raises(ModelError, match=words):
        localrag.open(path)


def test_a_model_of_the_catalogue_that_is_gone_can_be_fetched(models: Path, tmp_path: Path) -> None:
    make_model(models / "bge-m3", max_tokens=64, pooling="first")
    localrag.open(tmp_path / "base.db", settings=SMALL, embedder="bge-m3").close()
    shutil.rmtree(models / "bge-m3")
    with pytest.raises(ModelError, match="localrag models pull bge-m3"):
        localrag.open(tmp_path / "base.db")
    with pytest.raises(ModelError, match=r"not on this machine yet.*pull bge-m3"):
        localrag.open(tmp_path / "other.db", embedder="bge-m3")
    assert not (tmp_path / "other.db").exists()


@pytest.mark.models
@pytest.mark.parametrize("embedder", [DEFAULT_FAMILY, "localrag-bi-encoder-12l"])
def test_the_models_that_ship_can_be_named(tmp_path: Path, embedder: str) -> None:
    settings = make_settings(embedder=embedder, reranker="localrag-cross-encoder-6l")
    with localrag.open(tmp_path / "base.db", settings=settings) as kb:
        assert names_of(kb) == ("localrag-bi-encoder-12l", "localrag-cross-encoder-6l")


def test_an_encoder_that_reads_less_than_a_chunk_is_refused_before_a_file_is_made(
    tmp_path: Path,
) -> None:
    words = r"tiny reads 61 tokens of a passage and chunk_tokens is 300: .*--chunk-tokens 40"
    with pytest.raises(SettingsError, match=words):
        localrag.open(tmp_path / "base.db", embedder="tiny")
    assert not (tmp_path / "base.db").exists()
    advised = make_settings(chunk_tokens=40, overlap_tokens=5)
    localrag.open(tmp_path / "base.db", settings=advised, embedder="tiny").close()


def test_an_encoder_that_reads_too_little_for_any_chunk(tmp_path: Path) -> None:
    make_model(tmp_path / "models" / "blind", max_tokens=16)
    with pytest.raises(SettingsError, match=r"only 13 tokens .* use another model"):
        localrag.open(tmp_path / "base.db", embedder="blind")


def test_an_empty_file_is_checked_too(tmp_path: Path) -> None:
    (tmp_path / "base.db").touch()
    with pytest.raises(SettingsError, match="chunk_tokens is 300"):
        localrag.open(tmp_path / "base.db", embedder="tiny")
