"""The names that users may rely on. A change here is a change for them: see CHANGELOG.md."""

from __future__ import annotations

import inspect
from importlib.metadata import version

import pytest

import localrag

PUBLIC = [
    "Answer",
    "Citation",
    "Hit",
    "KnowledgeBase",
    "LocalragError",
    "SearchResult",
    "Settings",
    "SyncReport",
    "Trace",
    "__version__",
    "open",
]


def test_the_public_names_are_these() -> None:
    assert localrag.__all__ == PUBLIC


@pytest.mark.parametrize("name", PUBLIC)
def test_every_public_name_exists(name: str) -> None:
    assert getattr(localrag, name) is not None


@pytest.mark.parametrize("name", [name for name in PUBLIC if name != "__version__"])
def test_every_public_name_is_documented(name: str) -> None:
    assert inspect.getdoc(getattr(localrag, name))


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = localrag.nonsense


def test_public_methods_of_a_knowledge_base_are_documented() -> None:
    methods = inspect.getmembers(localrag.KnowledgeBase, inspect.isfunction)
    undocumented = [name for name, method in methods if name[0] != "_" and not method.__doc__]
    assert undocumented == []


def test_the_version_is_that_of_the_installed_package() -> None:
    assert version("localrag") == localrag.__version__
