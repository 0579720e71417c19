"""What `pip install` would bring: the package, its types, and the models."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING
from zipfile import ZipFile

import pytest

if TYPE_CHECKING:
    from pathlib import Path

MODELS = "localrag/_models/multilingual-e5-small/"

pytestmark = pytest.mark.models


@pytest.fixture(scope="module")
def wheel_sizes(root: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, int]:
    """Return the bytes of every file in a freshly built wheel."""
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run(  # noqa: S603 - our own command
        [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", folder],
        cwd=root,
        check=True,
        capture_output=True,
    )
    (wheel,) = folder.glob("*.whl")
    with ZipFile(wheel) as archive:
        return {item.filename: item.file_size for item in archive.infolist()}


def test_the_models_are_inside_byte_for_byte(root: Path, wheel_sizes: dict[str, int]) -> None:
    source = root / "models" / "multilingual-e5-small"
    expected = {
        MODELS + path.relative_to(source).as_posix(): path.stat().st_size
        for path in source.rglob("*")
        if path.is_file()
    }
    assert MODELS + "bi-encoder.onnx" in expected
    assert {name: size for name, size in wheel_sizes.items() if name.startswith(MODELS)} == expected


def test_the_package_is_inside_with_its_types(root: Path, wheel_sizes: dict[str, int]) -> None:
    modules = {path.relative_to(root).as_posix() for path in (root / "localrag").rglob("*.py")}
    assert modules <= wheel_sizes.keys()
    assert {"localrag/py.typed", "localrag/inference/catalogue.json"} <= wheel_sizes.keys()


def test_nothing_else_is_inside(wheel_sizes: dict[str, int]) -> None:
    assert {name.split("/")[0].split("-")[0] for name in wheel_sizes} == {"localrag"}
    assert not [name for name in wheel_sizes if name.endswith((".pyc", ".db", ".npy"))]


def test_the_licences_come_along(wheel_sizes: dict[str, int]) -> None:
    names = {name.rsplit("/", 1)[-1] for name in wheel_sizes if ".dist-info/licenses" in name}
    assert {"LICENSE", "LICENSES.md"} <= names
