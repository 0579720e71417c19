"""Every error that localrag raises on purpose.

The tree::

    LocalragError
    ├── KnowledgeBaseError       the file
    │   ├── NotAKnowledgeBaseError   it is not one of ours, or it is damaged
    │   ├── NewerFormatError         written by a later localrag
    │   ├── BusyError                another process is writing
    │   └── ReadOnlyError            a write to a file opened read-only
    ├── FingerprintError         the vectors come from another model
    ├── ModelError               a model is missing, damaged or does not fit
    │   └── RemoteError              a model on a server could not be asked
    ├── ReadError                one file could not be read; the run goes on without it
    ├── SettingsError            a setting has an impossible value
    ├── FilterError              a filter expression cannot be understood
    └── Cancelled                the caller asked to stop; what was finished is kept

Each message ends with what to do next.
"""

from __future__ import annotations

__all__ = [
    "BusyError",
    "Cancelled",
    "FilterError",
    "FingerprintError",
    "KnowledgeBaseError",
    "LocalragError",
    "ModelError",
    "NewerFormatError",
    "NotAKnowledgeBaseError",
    "ReadError",
    "ReadOnlyError",
    "RemoteError",
    "SettingsError",
]


class LocalragError(Exception):
    """Base of all errors that localrag raises on purpose."""


class KnowledgeBaseError(LocalragError):
    """Something is wrong with the knowledge base file."""


class NotAKnowledgeBaseError(KnowledgeBaseError):
    """The file is not a localrag knowledge base, or it is damaged."""


class NewerFormatError(KnowledgeBaseError):
    """The file was written by a later version of localrag."""


class BusyError(KnowledgeBaseError):
    """Another process is writing to the file."""


class ReadOnlyError(KnowledgeBaseError):
    """A write was asked of a knowledge base that is open read-only."""


class FingerprintError(LocalragError):
    """The vectors in the file were made with another model or analysis.

    Attributes:
        stored: fingerprint kept in the file.
        current: fingerprint of what this process would use.
    """

    def __init__(self, message: str, *, stored: str, current: str) -> None:
        super().__init__(message)
        self.stored = stored
        self.current = current


class ModelError(LocalragError):
    """A model is missing, damaged, or does not fit what is asked of it."""


class RemoteError(ModelError):
    """A model on a server could not be asked, or its answer cannot be used.

    Attributes:
        status: HTTP status of the last answer; None where there was none.
    """

    def __init__(self, message: str, *, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status


class ReadError(LocalragError):
    """One source file could not be turned into a document.

    Attributes:
        reason: short stable word for the ledger of skipped files, such as ``"empty"``,
            ``"binary"``, ``"unreadable"``, ``"damaged"``, ``"unsafe"``, ``"unsupported"`` or
            ``"too large"``.
        detail: what exactly happened, for a person.
    """

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(f"{reason}: {detail}")
        self.reason = reason
        self.detail = detail


class SettingsError(LocalragError):
    """A setting has a value that cannot work."""


class FilterError(LocalragError):
    """A filter expression cannot be understood.

    Attributes:
        source: the expression.
        position: the character at which it goes wrong, from 0.
        expected: what would have made sense there.
    """

    def __init__(self, source: str, position: int, expected: str) -> None:
        shown = source.translate(dict.fromkeys(range(0x20), " "))
        super().__init__(
            f"The filter goes wrong at character {position + 1}. Expected {expected}.\n"
            f"  {shown}\n  {' ' * position}^"
        )
        self.source = source
        self.position = position
        self.expected = expected


class Cancelled(LocalragError):  # noqa: N818 - a request that was honoured, not a failure
    """The caller asked to stop. Whatever was finished before is kept."""
