"""What a server answered: checked against what was asked, or refused in words."""

from __future__ import annotations

from typing import TypeVar

from pydantic import BaseModel, ValidationError

from localrag.errors import RemoteError

__all__ = ["checked", "unusable"]

Answer = TypeVar("Answer", bound=BaseModel)


def checked(answer: object, model: type[Answer]) -> Answer:
    """Return the JSON of an answer as what it must be.

    Raises:
        ValueError: the first thing that is wrong with it.
    """
    try:
        return model.model_validate(answer)
    except ValidationError as error:
        first = error.errors()[0]
        raise ValueError(f"{'.'.join(map(str, first['loc']))}: {first['msg']}") from None


def unusable(url: str, name: str, error: ValueError) -> RemoteError:
    """Return the error for an answer of `url` that is no answer of the model `name`."""
    return RemoteError(
        f"{url} gave an answer for {name} that cannot be used: {error}. Check which model the "
        "server runs under that name."
    )
