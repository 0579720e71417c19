# ruff: noqa: RUF001 - characters of many scripts are the subject
"""The language of a document: its script first, then its commonest small words.

A script that one language alone uses in practice says it all; Han beside kana is Japanese. Latin
and Cyrillic are shared, so there the words decide that hardly a sentence does without. Measured by
``benchmarks/language.py`` on whole passages.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Final

from localrag.text.folding import normalise
from localrag.text.stop_words import STOP_WORDS

__all__ = ["detect_language"]

SAMPLE: Final = 20_000
"""Characters that are looked at: more would not change the answer."""
LEAST_LETTERS: Final = 12
"""A shorter text has no language that could be told."""
LEAST_SHARE: Final = 0.04
"""Share of a text's words that must speak for its language: less is code or a list."""
LETTER_VOTE: Final = 0.5
"""Weight of a letter that hardly another language has, beside a small word of one's own."""

_SCRIPTS: Final = {
    "kana": "ぁ-ゖァ-ヺｦ-ﾟ",
    "ko": "가-힣\u1100-\u11ff",
    "han": "\u3400-\u4dbf\u4e00-\u9fff",
    "th": "\u0e01-\u0e5b",
    "lo": "\u0e81-\u0edf",
    "my": "\u1000-\u109f",
    "km": "\u1780-\u17ff",
    "he": "\u05d0-\u05ea",
    "arabic": "\u0620-\u06ff",
    "el": "\u0370-\u03ff",
    "hi": "\u0900-\u097f",
    "bn": "\u0980-\u09ff",
    "pa": "\u0a00-\u0a7f",
    "gu": "\u0a80-\u0aff",
    "ta": "\u0b80-\u0bff",
    "te": "\u0c00-\u0c7f",
    "kn": "\u0c80-\u0cff",
    "ml": "\u0d00-\u0d7f",
    "si": "\u0d80-\u0dff",
    "hy": "\u0531-\u058f",
    "ka": "\u10a0-\u10ff",
    "am": "\u1200-\u137f",
    "cyrillic": "\u0400-\u04ff",
    "latin": "A-Za-zÀ-ÖØ-öø-\u024f\u1e00-\u1eff",
}
_CHARACTERS = {name: re.compile(f"[{characters}]") for name, characters in _SCRIPTS.items()}

# A character of these scripts says about as much as this many letters of an alphabet.
_WEIGHT: Final = {"han": 3, "kana": 2, "ko": 2}

# In a Japanese text at least this share of kana and Han is kana; Chinese quotes single words.
_KANA_SHARE: Final = 0.1

_SMALL_WORDS: Final = {
    "latin": {
        "en": "the of and to in is that for was on are with as it by be this from at you not have "
        "or an they which",
        "de": "der die und das den von ist des mit dem sich auf für nicht ein eine als auch wird "
        "im zu zur zum bei oder",
        "fr": "le la les de des du et en un une est que qui dans pour par sur au aux pas ce cette "
        "avec sont il elle",
        "es": "el la los las de del y en que un una es por con se para como su al más lo fue son "
        "entre sus no",
        "it": "il la di che e un una per è non del della con le si da nel sono alla gli anche dei "
        "come più i",
        "pt": "o a os as de do da dos das e em que um uma para com não por no na é se mais ao foi "
        "como são",
        "nl": "de het een van en in is dat op te zijn met voor niet aan er die ook als bij door "
        "maar wordt uit",
        "pl": "w i na z się do nie jest to że o jak po od za przez oraz dla są być ale lub tym",
        "sv": "och i att det som en på är av för med till den har de inte om ett var från kan",
        "da": "og i at det en på er af for med til den har de ikke der et som fra kan blev også",
        "nb": "og i å det en på er av for med til den har de ikke som et fra kan ble også etter",
        "fi": "ja on ei että se oli hän myös joka ovat mutta kun tai sekä jotka vuonna mukaan",
        "cs": "a v se na je že s z do o i to jako za pro po podle od které byl jsou nebo ale",
        "hu": "a az és hogy nem is egy meg van volt ez de csak mint már vagy még ha amely",
        "ro": "și în de la a cu pe din care este un o să nu mai sau prin pentru au fost sunt",
        "tr": "ve bir bu da de için ile olarak çok daha olan gibi en ne var kadar sonra ancak",
        "vi": "và của là các có được trong cho không một người với những để từ này khi đã về",
        "id": "yang dan di dengan untuk dari ini pada itu dalam tidak adalah ke akan oleh juga "
        "sebagai atau",
        "ca": "el la els les de del i en que un una és per amb es als com més al són seva dels",
    },
    "cyrillic": {
        "ru": "и в не на что с он как это по но из у к от за для был его она или также они бы",
        "uk": "і в на що не з та до у як за це для від але його який також було про є або",
        "bg": "и на в за се от да с не е по са като до че това при след но или един които",
        "sr": "и у је на да се за од су са не као што до који али или по био из своје",
    },
    "arabic": {
        "ar": "في من على إلى أن عن التي مع هذا هذه الذي ما لا كان هو بين بعد كما أو كانت هي متى كم "
        "ماذا أي التى أين كيف لم تم",
        "fa": "و در به از که این را با است برای آن یک خود تا بر هم نیز شد شده می",
        "ur": "کے کی میں ہے اور سے کا کو نے پر ہیں اس کہ یہ تھا جو بھی ایک گیا",
    },
}
_NAMES: Final = {
    "en": "english", "de": "german", "fr": "french", "es": "spanish", "it": "italian",
    "pt": "portuguese", "nl": "dutch", "ru": "russian",
}  # fmt: skip
_ELIDED: Final = frozenset("cdjlmnst")
"""Letters before an apostrophe in French; alone they name things in any language."""
_BY_WORD: Final = {
    script: {
        language: frozenset(words.split())
        | (STOP_WORDS.get(_NAMES.get(language, ""), frozenset()) - _ELIDED)
        for language, words in languages.items()
    }
    for script, languages in _SMALL_WORDS.items()
}
_LETTERS: Final = {
    "ru": "ыэё", "uk": "іїєґ", "sr": "ђјљњћџ", "bg": "ъ", "fa": "پچژگ", "ur": "ٹڈڑںےہ",
    "de": "ß", "fr": "œê", "es": "ñ¿¡", "pt": "ãõ", "pl": "ąęłńśźż", "cs": "ěřů", "hu": "őű",
    "ro": "ășşțţ", "tr": "ğış", "vi": "ơưđạảấếệộớ", "sv": "ä", "da": "æ", "nb": "ø",
}  # fmt: skip
_WORD = re.compile(r"[^\W\d_]+")


def detect_language(text: str) -> str | None:
    """Return the ISO 639-1 code of the language that most of `text` is in; None if none shows."""
    sample = normalise(_sample(text))
    counts = {
        name: len(characters.findall(sample)) * _WEIGHT.get(name, 1)
        for name, characters in _CHARACTERS.items()
    }
    kana, han = counts.pop("kana"), counts.pop("han")
    counts["ja" if kana > (kana + han) * _KANA_SHARE else "zh"] = kana + han
    script = max(counts, key=lambda name: counts[name])
    if counts[script] < LEAST_LETTERS:
        return None
    return _by_words(sample, _BY_WORD[script]) if script in _BY_WORD else script


def _sample(text: str) -> str:
    """Return the beginning and the middle of a long text: covers and contents may deceive."""
    if len(text) <= SAMPLE:
        return text
    half, middle = SAMPLE // 2, len(text) // 2
    return f"{text[:half]}\n{text[middle : middle + half]}"


def _by_words(sample: str, languages: dict[str, frozenset[str]]) -> str | None:
    lower = sample.lower()
    words = Counter(_WORD.findall(lower))
    letters = Counter(lower)
    # A word that several languages share counts less for each, so that "de" alone decides nothing.
    owners = Counter(word for own in languages.values() for word in own)
    own_letters = {
        language: LETTER_VOTE * sum(letters[letter] for letter in _LETTERS.get(language, ""))
        for language in languages
    }
    votes = {
        language: own_letters[language] + sum(words[word] / owners[word] for word in own)
        for language, own in languages.items()
    }
    best = max(votes, key=lambda language: votes[language])
    hits = own_letters[best] + sum(words[word] for word in languages[best])
    return best if hits >= max(1, LEAST_SHARE * words.total()) else None
