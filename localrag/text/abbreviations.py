# ruff: noqa: RUF001 - characters of many scripts are the subject
"""Words whose full stop does not end a sentence, over European languages, in one list.

A text's language is not known here, and many texts have two: a word is listed when it is an
abbreviation somewhere and hardly ever the last word of a sentence anywhere.
"""

from __future__ import annotations

from typing import Final

__all__ = [
    "ABBREVIATIONS",
    "BEFORE_NUMBER",
    "MAY_END",
    "ORDINAL_BEFORE",
    "SENTENCE_STARTERS",
]

_LIST = """
    al approx apr aug ca capt cf ch col corp dec dept dr ed eds eq eqs esp est etc exp feb ff fig
    figs gen gov hon inc incl jan jr jul jun lt ltd messrs mr mrs ms mt mt nov oct op pp
    prof resp rev s sec sen sep sept sgt sr st str supt tab tel vol vols vs
    abb abs bd bde bzgl bzw dipl ev evtl geb ggf gr hrsg inkl jh kap max min nr sog tgl usw
    verl vgl zzgl
    av boul chap éd env mgr mlle mme mmes
    atte avda dª dra dras drs ee ej excmo gral lic núm pág págs ppal prol prov sra sras sres srta
    ud uds
    cap dott dott.ssa egr ecc pag pagg par sig sigg spett
    pça profa
    blz bijv dhr enz excl jhr jl mevr mej mw nl
    dyr inż np płk św tj tys tzn ul zob
    др им гг гл ул просп пер стр рис см ср тел руб млн млрд тыс проф акад
    κ κα πχ σελ
"""
ABBREVIATIONS: Final = frozenset(_LIST.split())

MAY_END: Final = frozenset(
    ("etc", "usw", "enz", "ecc", "inc", "ltd", "corp", "др", "руб", "млн", "jh")
)
"""These end a sentence as well as a phrase: a capital letter decides."""

BEFORE_NUMBER: Final = frozenset(("no", "nos", "art", "par", "p", "pp", "vol", "n"))
"""Words too common to be abbreviations, except before a number."""

_STARTERS = """
    he she it they we you the this that these those there here his her its their but and so then
    nobody everyone what when where who why how if in on at for
"""
SENTENCE_STARTERS: Final = frozenset(_STARTERS.split())
"""Words that, with a capital, tell that what was before them had ended: "in the U.S. She left"."""

_ARTICLES = "am im der die das dem den des vom zum zur beim bis ab ein eine einem einer"
ORDINAL_BEFORE: Final = frozenset(_ARTICLES.split())
"""German words after which a short number with a full stop is an ordinal: "am 3. Oktober"."""
