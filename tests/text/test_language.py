from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from localrag.text.language import LEAST_LETTERS, SAMPLE, detect_language

if TYPE_CHECKING:
    from pathlib import Path

SENTENCES = {
    "en": "The keys are kept in the drawer and they are changed every month.",
    "de": "Die Schlüssel liegen in der Schublade und werden jeden Monat ausgetauscht.",
    "fr": "Les clés sont dans le tiroir et elles sont changées tous les mois.",
    "es": "Las llaves están en el cajón y se cambian todos los meses.",
    "it": "Le chiavi sono nel cassetto e vengono cambiate ogni mese.",
    "pt": "As chaves estão na gaveta e são trocadas todos os meses.",
    "nl": "De sleutels liggen in de lade en worden elke maand vervangen.",
    "pl": "Klucze są w szufladzie i nie są wymieniane co miesiąc, ale się zużywają.",
    "sv": "Nycklarna ligger i lådan och de byts ut varje månad för att inte slitas.",
    "tr": "Anahtarlar çekmecede ve her ay için bir kez değiştirilir, çok önemli.",
    "vi": "Chìa khóa được để trong ngăn kéo và được thay mỗi tháng cho mọi người.",
    "ru": "Ключи лежат в ящике, и их меняют каждый месяц.",
    "uk": "Ключі лежать у шухляді, і їх міняють щомісяця.",
    "ar": "المفاتيح موجودة في الدرج وهذا هو المكان الذي يتم تغييرها فيه",
    "fa": "کلیدها در کشو هستند و هر ماه عوض می شود که این را باید گفت",
    "el": "Τα κλειδιά είναι στο συρτάρι.",
    "he": "המפתחות נמצאים במגירה.",
    "hi": "चाबियाँ दराज में हैं और हर महीने बदली जाती हैं।",
    "th": "กุญแจอยู่ในลิ้นชักและเปลี่ยนทุกเดือน",
    "ko": "열쇠는 서랍에 있으며 매달 교체합니다.",
    "ja": "鍵は引き出しにあり、毎月交換します。",
    "zh": "钥匙放在抽屉里，每个月更换一次，请记得归还。",
}


@pytest.mark.parametrize("language", SENTENCES)
def test_a_sentence_tells_its_language(language: str) -> None:
    assert detect_language(SENTENCES[language]) == language


@pytest.mark.parametrize("text", ["", "1234567890123 + 44", "KX-1234", "a" * (LEAST_LETTERS - 1)])
def test_too_little_tells_none(text: str) -> None:
    assert detect_language(text) is None


def test_words_without_small_words_tell_none() -> None:
    assert detect_language("foo bar baz qux quux corge grault garply waldo fred plugh " * 3) is None


def test_a_quotation_does_not_change_the_language() -> None:
    assert detect_language(f"{SENTENCES['ja'] * 3} The keys.") == "ja"
    assert detect_language(f"{SENTENCES['zh'] * 3} の") == "zh"
    assert detect_language(f"{SENTENCES['en'] * 3} 鍵") == "en"


def test_the_middle_of_a_long_text_counts_as_well() -> None:
    text = SENTENCES["en"] * 10 + (SENTENCES["de"] + " ") * (SAMPLE // 20)
    assert detect_language(text) == "de"


@given(st.text())
def test_any_text_has_a_language_or_none(text: str) -> None:
    found = detect_language(text)
    assert found is None or (len(found) == 2 and found.islower())


@pytest.mark.parametrize(
    ("name", "language", "least"),
    [
        ("xquad/ar", "ar", 0.98),
        ("xquad/de", "de", 0.99),
        ("xquad/en", "en", 0.99),
        ("xquad/es", "es", 0.99),
        ("xquad/ru", "ru", 0.99),
        ("xquad/zh", "zh", 0.99),
        ("jaquad", "ja", 0.99),
        ("drcd", "zh", 0.99),
    ],
)
def test_passages_are_told_right(shared: Path, name: str, language: str, least: float) -> None:
    with gzip.open(shared / "data" / name / "corpus.jsonl.gz", "rt", encoding="utf-8") as lines:
        texts = [json.loads(line)["text"] for _, line in zip(range(240), lines, strict=False)]
    right = sum(detect_language(text) == language for text in texts)
    assert right >= least * len(texts)
