# ruff: noqa: RUF001, RUF002 - characters of these scripts are the subject
"""Abbreviations that Japanese and Chinese texts explain in brackets.

No blank says where the long form begins. It begins where the short form's characters are first
met, read backwards as in Schwartz and Hearst; or, for an acronym in Latin letters, with the run of
kanji and katakana before the bracket.

================================================  ====================================
text                                              pair
================================================  ====================================
``国際連合（国連）``                              国連, 国際連合
``国連（国際連合）``                              国連, 国際連合
``世界保健機関（WHO）``                           WHO, 世界保健機関
``個人情報の保護に関する法律                      個人情報保護法,
（以下「個人情報保護法」という。）``              個人情報の保護に関する法律
``日本放送協会（略称: NHK）``                     NHK, 日本放送協会
``北京大学（简称“北大”）``                        北大, 北京大学
================================================  ====================================
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from localrag.text.short_form import BRACKETS, ShortForm
from localrag.text.short_forms_latin import long_form

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["cjk_short_forms"]

_HAN = "々〆\u3400-\u4dbf\u4e00-\u9fff"
_KATAKANA = "ァ-ヺー"
_TERM = f"{_HAN}{_KATAKANA}"
# An ending may stand inside: 条件付き確率場.
_TERM_BEFORE = re.compile(
    rf"(?<![{_TERM}・A-Za-z0-9])(?:[{_TERM}・]|(?<=[{_HAN}])[きりしけみめちえ](?=[{_HAN}]))+$"
)
_QUOTED_BEFORE = re.compile(r"[「『]([^「」『』]{3,60})[」』]$")
_CLAUSE_END = re.compile(r"[、。，,;；:：！？!?「」『』“”()\[\]\s]")
_KANA = re.compile("[ぁ-ゖァ-ヺ]")
_CJK = re.compile(f"[ぁ-ゖ{_TERM}]")
_HAN_CHARACTER = re.compile(f"[{_HAN}]")
_BEFORE_NAMES = re.compile("^(?:当時|現在|通称|正式名称|俗称)")
_WHOLE_TERM = re.compile(rf"(?:[{_TERM}]|(?<=[{_HAN}])[きりしけみめちえ](?=[{_HAN}]))+")
_ACRONYM = re.compile(r"(?!.*(?:-\d|\d{3}))[A-Za-z][A-Za-z0-9&/-]{1,7}")
_ACRONYM_BEFORE = re.compile(r"(?<![A-Za-z0-9&/.-])(?!.*(?:-\d|\d{3}))[A-Za-z][A-Za-z0-9&/-]{1,7}$")

_NAMED = re.compile(
    r"(?:略称|略語|略号|英略|简称|簡稱)(?:[はが为為作]|として)?[:：・、,\s]*"
    r"[「『“\"]?([^「」『』“”\"、,;；。:：]{2,20}?)[」』”\"]?"
    r"(?=$|[、,;；。]|と(?:いう|する|呼|称|表記|記|略|も)|など|または|或|等)"
)
_HEREAFTER = re.compile(
    r"以下[、,\s]*(?:単に|简称|簡稱|称|稱)?(?:为|為)?\s*"
    r"(?:[「『“\"]([^「」『』“”\"]{2,20})[」』”\"]|([^「」『』“”\"、,。]{2,20}?)"
    r"(?=と(?:いう|する|呼|称|表記|記|略)|$))"
)
_GENERIC = re.compile(r"[本当同各甲乙丙丁弊該該我]|上記|前記|下記|以下|省略|参照|同じ")
_SEGMENTS = re.compile(r"[、,;；/]\s*|または|もしくは")
_LATIN_TERM = re.compile(
    r"(?:(?:英|独|仏|米|英語|ドイツ語|フランス語|英文)\s*[:：]\s*)?"
    r"([A-Za-z][A-Za-zÀ-ɏ0-9' .&/-]{4,80})"
)


def cjk_short_forms(paragraph: str) -> Iterator[ShortForm]:
    """Yield the pairs that one paragraph, as `paragraphs` gives it, explains."""
    is_japanese = bool(_KANA.search(paragraph))
    for bracket in BRACKETS.finditer(paragraph):
        before, inside = _clause(paragraph[: bracket.start()].rstrip()), bracket[1]
        if not is_japanese and not _CJK.search(before[-1:] + inside):
            continue
        named = [match[1] for match in _NAMED.finditer(inside)]
        named += [match[1] or match[2] for match in _HEREAFTER.finditer(inside)]
        if named:
            yield from _named(named, before, is_japanese=is_japanese)
        elif is_japanese:
            yield from _unnamed(before, _SEGMENTS.split(inside))


def _clause(before: str) -> str:
    """Return the end of a clause, or what stands in its quotation marks."""
    before = before[-LONGEST_CLAUSE:]
    quoted = _QUOTED_BEFORE.search(before)
    return quoted[1] if quoted else _CLAUSE_END.split(before)[-1]


LONGEST_CLAUSE: Final = 60


def _named(shorts: list[str], clause: str, *, is_japanese: bool) -> Iterator[ShortForm]:
    """Yield pairs of which the text says that they are."""
    for short in dict.fromkeys(shorts):
        short = short.rstrip("とはをも ")  # noqa: PLW2901
        if len(short) < SHORTEST or _GENERIC.match(short):
            continue
        longs = (aligned(short, clause), _term_before(clause) if is_japanese else "")
        long = next((long for long in longs if len(long) > len(short)), "")
        if long:
            yield ShortForm(short, long)


SHORTEST: Final = 2
SHORTEST_KATAKANA: Final = 3


def _unnamed(clause: str, segments: list[str]) -> Iterator[ShortForm]:
    """Yield pairs that Japanese brackets hold without a word about them."""
    term, acronym = _term_before(clause), _ACRONYM_BEFORE.search(clause)
    latin = [match[1] for part in segments if (match := _LATIN_TERM.fullmatch(part))]
    acronyms = [part for part in segments if _ACRONYM.fullmatch(part) and _mostly_capitals(part)]
    # Several of them are the honours of a person, or the codes of a thing.
    short = acronyms[0] if len(acronyms) == 1 else ""
    if acronym and _mostly_capitals(acronym[0]):
        short, term = acronym[0], segments[0] if _WHOLE_TERM.fullmatch(segments[0]) else ""
    if short:
        longs = [long for name in latin if name != short and (long := long_form(short, name))]
        yield from (ShortForm(short, long) for long in longs)
        if _may_stand_for(short, term):
            yield ShortForm(short, term)
    elif _WHOLE_TERM.fullmatch(segments[0]):
        yield from _shortened(*sorted((term, segments[0]), key=len))


def _may_stand_for(acronym: str, term: str) -> bool:
    """Whether a Japanese term may be written out what an acronym shortens."""
    if _PERSON.search(term):  # with an honour behind the name
        return False
    if _HAN_CHARACTER.search(term):
        return len(term) >= LEAST_TERM
    # Katakana is how something is read: it begins with a sound of the acronym's first letter.
    return len(term) >= LEAST_KATAKANA and acronym[0].upper() in _LETTERS_OF.get(term[0], "")


LEAST_TERM: Final = 4
LEAST_KATAKANA: Final = 6
"""Characters; a shorter one is just the acronym read aloud."""
_PERSON = re.compile("初代|[0-9]代|[公侯伯子男]爵")
_LETTERS_OF: Final = {
    kana: letters
    for row, letters in {
        "アィイゥウェエォオ": "AEIOUHWY", "カキクケコ": "KCQ", "ガギグゲゴ": "G",
        "サシスセソ": "SCT", "ザジズゼゾ": "ZJGXD", "タチツテト": "TC",
        "ダヂヅデド": "D", "ナニヌネノ": "NK",
        "ハヒフヘホ": "HFPWV", "バビブベボ": "BV", "パピプペポ": "P", "マミムメモ": "M",
        "ャヤュユョヨ": "YUJE", "ラリルレロ": "LR", "ワヲ": "WV", "ヴ": "V",
    }.items()
    for kana in row
}  # fmt: skip


def _shortened(short: str, term: str) -> Iterator[ShortForm]:
    """Yield a term with a part of its characters; a prefix is found without that."""
    shortest = SHORTEST if _HAN_CHARACTER.search(short) else SHORTEST_KATAKANA
    if len(short) >= shortest and not _GENERIC.match(short):
        long = aligned(short, term)
        if (
            len(short) < len(long) * MOST_OF_TERM
            and len(term) - len(long) <= MOST_BEFORE
            and not term.startswith(short)
            and not term.endswith(short)
        ):
            yield ShortForm(short, term)


MOST_OF_TERM: Final = 0.7
"""A longer short form is another spelling."""
MOST_BEFORE: Final = 2
"""Characters of the term before the first that the short form has: 大韓帝国 (韓国)."""


def _mostly_capitals(text: str) -> bool:
    letters = [letter for letter in text if letter.isalpha()]
    return sum(letter.isupper() for letter in letters) * 2 > len(letters) > 1


def aligned(short: str, text: str) -> str:
    """Return the end of `text` from the first character of `short`, if it has them all in order."""
    position = len(text)
    for character in reversed(short):
        position = text.rfind(character, 0, position)
        if position < 0:
            return ""
    return text[position:]


def _term_before(clause: str) -> str:
    match = _TERM_BEFORE.search(clause)
    return _BEFORE_NAMES.sub("", match[0].strip("・")) if match else ""
