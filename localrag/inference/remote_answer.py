"""What to say of a server's answer that is not what was asked for."""

from __future__ import annotations

from localrag.errors import RemoteError

__all__ = ["unusable"]


def unusable(url: str, name: str, error: ValueError) -> RemoteError:
    """Return the error for an answer of `url` that is no answer of the model `name`."""
    return RemoteError(
        f"{url} gave an answer for {name} that cannot be used: {error}. Check which model the "
        "server runs under that name."
    )
