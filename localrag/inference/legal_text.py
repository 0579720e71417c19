"""Makes any string one that can be encoded as UTF-8."""

__all__ = ["legal_text"]


def legal_text(text: str) -> str:
    """Return `text` with every lone surrogate replaced by a question mark; same length."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")
