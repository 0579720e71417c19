"""Which characters make words, and which scripts are written without spaces.

The strings are bodies of regular expression character classes. To compile one that holds as many
characters takes milliseconds: what not every query needs is compiled when it is first needed.
"""

from __future__ import annotations

import re
from functools import cache

__all__ = ["HIRAGANA", "IDEOGRAPHS", "MARKS", "PICTOGRAPHS", "THAI", "UNSPACED", "one_of"]

HIRAGANA = "ぁ-ゖゝ-ゟ"

IDEOGRAPHS = "々〆〇\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af"

THAI = "\u0e01-\u0e3a\u0e40-\u0e4e\u0e50-\u0e59"

UNSPACED = (
    HIRAGANA + IDEOGRAPHS + THAI + "\u3099\u309a"
    "ァ-ヺー-ヿㇰ-ㇿ"  # katakana; not the middle dot, which separates words
    "가-힣\u1100-\u11ff\u3131-\u318e"  # Hangul: spaced, but particles cling to the words
    "\u0e81-\u0edf"  # Lao
    "\u1000-\u1049\u1050-\u109d"  # Burmese
    "\u1780-\u17d3\u17e0-\u17e9"  # Khmer
)
"""Indexed as overlapping pairs of characters: no space says where a word ends."""

# `\\w` knows letters and digits, but a vowel sign belongs to its word as well.
MARKS = (
    "\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7"
    "\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed"
    "\u0711\u0730-\u074a\u07a6-\u07b0\u0900-\u0903\u093a-\u093c\u093e-\u094f\u0955-\u0957"
    "\u0962\u0963\u0981-\u0983\u09bc\u09be-\u09cd\u09d7\u0a01-\u0a03\u0a3c-\u0a4d\u0a70\u0a71"
    "\u0a81-\u0a83\u0abc\u0abe-\u0acd\u0b01-\u0b03\u0b3c\u0b3e-\u0b4d\u0b82\u0bbe-\u0bcd"
    "\u0c00-\u0c04\u0c3e-\u0c4d\u0c81-\u0c83\u0cbc\u0cbe-\u0ccd\u0d00-\u0d03\u0d3b\u0d3c"
    "\u0d3e-\u0d4d\u0dca-\u0ddf\u0f35\u0f37\u0f39\u0f71-\u0f84"
)

PICTOGRAPHS = "\u2600-\u27bf\U0001f300-\U0001faff"
"""Each is a word of its own."""


@cache
def one_of(characters: str) -> re.Pattern[str]:
    """Return the pattern of one character of a class."""
    return re.compile(f"[{characters}]")
