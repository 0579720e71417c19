from __future__ import annotations

import pytest

from localrag.ingest import lazy
from localrag.ingest import reembed as module
from localrag.ingest.pipeline import sync


@pytest.mark.parametrize("name", lazy.__all__)
def test_every_name_belongs_to_the_lane(name: str) -> None:
    found = getattr(lazy, name)
    assert callable(found)
    assert found.__module__.startswith("localrag.ingest.")
    assert found.__name__ == name


def test_names_are_those_of_their_modules() -> None:
    assert lazy.sync is sync
    assert lazy.reembed is module.reembed


def test_another_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="'nothing'"):
        _ = lazy.nothing
