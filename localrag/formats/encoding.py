# ruff: noqa: RUF001 - characters of many scripts are the subject
"""Bytes of a text file become text, whatever wrote them.

What is certain is tried first: a byte order mark, the escape sequences of ISO-2022-JP, valid UTF-8.
Then come guesses: UTF-16 and UTF-32 without a mark from where their zero bytes lie, the Japanese
encodings from how plausible the Japanese is, and what is left by charset-normalizer, which does not
tell the Japanese encodings apart in short texts.
"""

from __future__ import annotations

import codecs
import re
from collections import Counter
from typing import TYPE_CHECKING

from localrag.errors import ReadError

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["decode"]

# UTF-32 first: its little-endian mark begins with that of UTF-16.
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_WIDE = ("utf-32-le", "utf-32-be", "utf-16-le", "utf-16-be")
_JAPANESE = ("cp932", "euc_jp")
_ISO_2022_JP = re.compile(rb"\x1b(?:\$[@B(]|\([IJ])")

_CONTROL = re.compile("[\x01-\x08\x0e-\x1a\x1c-\x1f\x7f\ufffe\uffff]")
_MOST_CONTROL = 0.005
_MOST_REPLACED = 0.002
_MOST_ZEROS = 0.01

_WHOLE_KANA_OR_MARK = re.compile("[ぁ-んァ-ヶー、。「」（）・！？　]")
_COMMON_IDEOGRAPH = re.compile("[一-龠々]")
_IMPLAUSIBLE = re.compile("[｡-ﾟ\ue000-\uf8ff\u0080-\u009f]")
_NOT_ASCII = re.compile(r"[^\x00-\x7f]")
_LEAST_USUAL = 0.8
_LEAST_FAMILIAR = 0.02
_MOST_BLOCKS = 8
_LEAST_KANA = 0.15
_MOST_IMPLAUSIBLE = 0.1

_SAMPLE = 200_000

# Every twentieth character of Chinese prose is one of these, and hardly one of other bytes.
_COMMON_CHINESE = re.compile("[的一是不了人我在有他这這为為之大来來以个個中上们們和]")
_LEAST_CHINESE = 0.04
_CHINESE = re.compile("[\u4e00-\u9fff\u3000-\u303f\uff00-\uff60\x20-\x7e\n\r\t]")
_LEAST_FAMILIAR_CHINESE = 0.97
# Letters with the marks above and below them, as Thai writes its vowels.
_USUAL = re.compile(r"[\w\s\x20-\x7e\u0300-\u036f\u0e30-\u0e4f\u0900-\u0dff]")

# The letters that the languages of a region add to ASCII, language by language: charset-normalizer
# takes nearly all Spanish in cp1252 for cp1250. The first encoding wins a draw.
_WESTERN = (
    "áéíóúàèìòùâêîôûäëïöüçñ",  # more than one language, as in a list of names
    "äöüß",
    "àâæçéèêëîïôœùûüÿ",
    "áéíñóúü",
    "áâãàçéêíóôõúü",
    "åäöæøéü",
    "áðéíóúýþæö",
)
_CENTRAL = ("ąćęłńóśźż", "áčďéěíňóřšťúůýž", "áäčďéíĺľňóôŕšťúýž", "áéíóöőúüű", "ăâîşţ", "čćđšž")
_ALPHABETS = (
    ("cp1252", _WESTERN),
    ("cp1254", ("çğıöşüâîûİ",)),
    ("cp1250", _CENTRAL),
    ("iso8859_2", _CENTRAL),
    ("cp1257", ("ąčęėįšųūž", "āčēģīķļņšūž", "äõöüšž")),
    ("mac_roman", _WESTERN),
    ("cp850", _WESTERN),
)
_TYPOGRAPHY = "“”„‘’‚–—…€«»°§©®·•\u00a0"
_INVERTED = re.compile(r"(?<!\w)[¿¡](?=\w)")
_LEAST_EUROPEAN = 0.9
_MOST_EUROPEAN = 0.4


def decode(data: bytes) -> str:
    r"""Return the text of `data` with ``\n`` as the only line break, no byte order mark, no NUL.

    Raises:
        ReadError: ``"binary"`` where it is not text, ``"unreadable"`` where no encoding fits.
    """
    text = _decoded(data)
    if _is_control(text):
        raise ReadError("binary", "control characters throughout: this is not a text file")
    text = text.removeprefix("\ufeff").replace("\x00", " ")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _decoded(data: bytes) -> str:
    for mark, name in _MARKS:
        if data.startswith(mark):
            return data.removeprefix(mark).decode(name, errors="replace")
    if b"\x00" in data:
        return _with_zeros(data)
    if _ISO_2022_JP.search(data) and (text := _strict(data, "iso2022_jp_ext")) is not None:
        return text
    if (text := _strict(data, "utf-8")) is not None:
        return text
    return _damaged_utf_8(data) or _japanese(data) or _european(data) or _guessed(data)


def _is_control(text: str) -> bool:
    return len(_CONTROL.findall(text)) > _MOST_CONTROL * len(text)


def _strict(data: bytes, name: str) -> str | None:
    try:
        return data.decode(name)
    except UnicodeDecodeError:
        return None


def _with_zeros(data: bytes) -> str:
    """Decode UTF-16 or UTF-32 without a mark, or UTF-8 with a few stray zero bytes."""
    zeros = data.count(0)
    if zeros <= _MOST_ZEROS * len(data) or zeros <= len("\0\0") < len(data):
        text = _strict(data, "utf-8")
        if text is not None and not _is_control(text):
            return text
    for name in _WIDE:
        text = _strict(data, name)
        # Hardly any four bytes are a character of UTF-32; any two are one of UTF-16.
        if text and (_is_prose(text) or (name.startswith("utf-32") and text.isprintable())):
            return text
    raise ReadError("binary", "zero bytes throughout: this is not a text file")


def _is_prose(text: str) -> bool:
    """Whether the characters are mostly letters and spaces of one region, not bytes in disguise."""
    sample = text[:_SAMPLE]
    if "\x00" in sample or _CONTROL.search(sample):
        return False
    usual = len(_USUAL.findall(sample))
    blocks = {ord(c) >> 8 for c in sample}
    familiar = sum(c.isascii() or bool(_WHOLE_KANA_OR_MARK.match(c)) for c in sample)
    common = len(_COMMON_CHINESE.findall(sample)) >= _LEAST_CHINESE * len(sample)
    if common and len(_CHINESE.findall(sample)) >= _LEAST_FAMILIAR_CHINESE * len(sample):
        return True
    return (
        usual >= _LEAST_USUAL * len(sample)
        and familiar >= _LEAST_FAMILIAR * len(sample)
        and (len(blocks) <= _MOST_BLOCKS or familiar >= 10 * _LEAST_FAMILIAR * len(sample))
    )


def _damaged_utf_8(data: bytes) -> str | None:
    """Decode UTF-8 that was cut in the middle of a character or is damaged in a few places."""
    text = data.decode("utf-8", errors="replace")
    damaged = text.count("\ufffd")
    sound = len(_NOT_ASCII.findall(text)) - damaged
    return text if damaged <= max(1, _MOST_REPLACED * len(text)) and sound > 4 * damaged else None


def _japanese(data: bytes) -> str | None:
    candidates = [text for name in _JAPANESE if (text := _strict(data, name)) is not None]
    best = max(candidates, key=_japaneseness, default="")
    return best if _japaneseness(best) > 0 else None


def _japaneseness(text: str) -> float:
    """Return the share of characters beyond ASCII that Japanese text is made of; 0: it is not."""
    foreign = _NOT_ASCII.findall(text[:_SAMPLE])
    if not foreign:
        return 0.0
    sample = "".join(foreign)
    implausible = len(_IMPLAUSIBLE.findall(sample)) / len(sample)
    kana = len(_WHOLE_KANA_OR_MARK.findall(sample)) / len(sample)
    if kana < _LEAST_KANA or implausible > _MOST_IMPLAUSIBLE:
        return 0.0
    return kana + len(_COMMON_IDEOGRAPH.findall(sample)) / len(sample) - implausible


def _guessed(data: bytes) -> str:
    # Imported late: most files are UTF-8.
    from charset_normalizer import from_bytes  # noqa: PLC0415

    best = from_bytes(data[:_SAMPLE]).best()
    if best is None:
        raise ReadError("unreadable", "no known encoding fits; save the file as UTF-8")
    return data.decode(best.encoding, errors="replace")


def _european(data: bytes) -> str | None:
    scores = {name: _europeanness(data, name, alphabets) for name, alphabets in _ALPHABETS}
    name = max(scores, key=lambda candidate: scores[candidate])
    return data.decode(name, errors="replace") if scores[name] >= _LEAST_EUROPEAN else None


def _europeanness(data: bytes, name: str, alphabets: Sequence[str]) -> float:
    """Return the share of characters beyond ASCII that one language of an encoding uses; 0: none.

    Accents are few: a text of which they are nearly all letters is Greek, Russian or Chinese.
    """
    text = data[:_SAMPLE].decode(name, errors="replace")
    foreign = Counter(_NOT_ASCII.findall(text))
    total = foreign.total()
    if not total or total > _MOST_EUROPEAN * sum(map(str.isalpha, text)):
        return 0.0
    marks = sum(foreign[mark] for mark in _TYPOGRAPHY) + len(_INVERTED.findall(text))
    return (
        max(
            marks + sum(foreign[letter] for letter in alphabet + alphabet.upper())
            for alphabet in alphabets
        )
        / total
    )
