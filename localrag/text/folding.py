# ruff: noqa: RUF001, RUF002 - characters of many scripts are the subject
"""Spelling variants of one word become one form, so that a query finds either.

================  ==============  ===================================================
written           folded          why
================  ==============  ===================================================
``ＡＢＣ１２``      ``abc12``       full width (NFKC)
``ｻｰﾊﾞ``          ``サーバ``       half width (NFKC)
``ﬁle``           ``file``        ligature (NFKC)
``Straße``        ``strasse``     case folding
``Café``          ``cafe``        accents, in the Latin script only
``Łódź``          ``lodz``        letters that NFKD cannot take apart
``ёлка``          ``елка``        Russian is mostly printed without the dots
``が``             ``が``           a voiced sound mark is no accent
``サーバー``        ``サーバ``       a long vowel that ends a katakana word of four or more
``コピー``          ``コピー``       too short to tell ``コピー`` from another word
``デ−タ``          ``データ``       a dash typed for the long vowel mark
``ヴァイオリン``    ``バイオリン``   two spellings of one sound
``インタヴュー``    ``インタビュ``   the same sound before ``ャ``, ``ュ`` and ``ョ``
``3か月``          ``3カ月``        a counter, also written ``ヶ``, ``ヵ``, ``ケ`` and ``箇``
``関ヶ原``          ``関ケ原``       small and large ``ケ`` in names
``ひらがな``        ``ひらがな``     hiragana and katakana are often different words
``co­operate``     ``cooperate``   soft hyphens and zero-width characters
================  ==============  ===================================================
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

__all__ = ["fold", "fold_word", "normalise"]

# Format characters that may stand inside a word: soft hyphen, joiners, bidi marks, BOM,
# variation selectors.
_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\ufe00-\ufe0f\ufeff\uffa0\U000e0000-\U000e0fff]+"
)
# Before NFKC, which turns a full-width dash into an ASCII hyphen.
_DASH_FOR_LONG_VOWEL = re.compile("(?<=[ァ-ヺｦ-ﾟー])[‐-―−－─](?=[ァ-ヺｦ-ﾟ])")
_FINAL_LONG_VOWEL = re.compile("(?<=[ァ-ヺー]{3})ー+(?![ァ-ヺー])")
_V_SOUND = re.compile("ヴ[ァィェォャュョ]?")
_V_SOUNDS = {
    "ヴ": "ブ", "ヴァ": "バ", "ヴィ": "ビ", "ヴェ": "ベ", "ヴォ": "ボ",
    "ヴャ": "ビャ", "ヴュ": "ビュ", "ヴョ": "ビョ",
}  # fmt: skip
_COUNTED = re.compile("(?<=[0-9〇一二三四五六七八九十百千万数何])[ヶヵケか箇](?=[月所国条年])")
_SMALL = str.maketrans("ヵヶ", "カケ")

_ACCENTED_LATIN = re.compile(
    "[\u00c0-\u024f\u1e00-\u1eff][\u0300-\u036f]*|(?<=[a-z])[\u0300-\u036f]+|[ёЁ]"
)
_NO_DECOMPOSITION = {
    "æ": "ae", "œ": "oe", "ø": "o", "đ": "d", "ł": "l", "ð": "d", "þ": "th", "ħ": "h",
    "ı": "i", "ŋ": "n", "ŧ": "t", "ё": "е",
}  # fmt: skip


def normalise(text: str) -> str:
    """Return `text` with one spelling per character and per katakana word; case is kept."""
    if text.isascii():
        return text
    text = _DASH_FOR_LONG_VOWEL.sub("ー", _INVISIBLE.sub("", text))
    text = _INVISIBLE.sub("", unicodedata.normalize("NFKC", text))
    text = text.replace("\u2010", "-").replace("\u2019", "'")
    text = _COUNTED.sub("カ", text).translate(_SMALL)
    return _FINAL_LONG_VOWEL.sub("", _V_SOUND.sub(lambda match: _V_SOUNDS[match[0]], text))


def fold_word(word: str) -> str:
    """Return a normalised word without case and, in the Latin script, without accents."""
    if word.isascii():
        return word.lower()
    folded = unicodedata.normalize("NFKC", word.casefold())
    return _ACCENTED_LATIN.sub(lambda match: _without_accent(match[0]), folded)


def fold(text: str) -> str:
    """Return the form under which `text` is compared; folding twice changes nothing more."""
    return fold_word(normalise(text))


@lru_cache(maxsize=1024)
def _without_accent(letter: str) -> str:
    base = "".join(c for c in unicodedata.normalize("NFKD", letter) if not unicodedata.combining(c))
    return "".join(_NO_DECOMPOSITION.get(c, c) for c in base)
