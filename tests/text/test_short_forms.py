from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from localrag.text.short_form import ShortForm
from localrag.text.short_forms import find_short_forms


def pairs(text: str) -> list[tuple[str, str]]:
    return [(pair.short, pair.long) for pair in find_short_forms(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The World Health Organization (WHO) met.", ("WHO", "World Health Organization")),
        ("We used PCR (polymerase chain reaction) here.", ("PCR", "polymerase chain reaction")),
        (
            "We train conditional random fields (CRFs; see below).",
            ("CRF", "conditional random fields"),
        ),
        (
            "A heat shock transcription factor (HSF) binds.",
            ("HSF", "heat shock transcription factor"),
        ),
        ("Deoxyribonucleic acid (DNA) is long.", ("DNA", "Deoxyribonucleic acid")),
        ("messenger RNA (mRNA) is short", ("mRNA", "messenger RNA")),
        ("the graft-versus-host disease (GVHD)", ("GVHD", "graft-versus-host disease")),
        ("interleukin 6 (IL-6) rises", ("IL-6", "interleukin 6")),
        # The paper's own match would begin at the second E.
        ("eastern equine encephalitis virus (EEEV)", ("EEEV", "eastern equine encephalitis virus")),
        ("the **Domain Name System** (DNS)", ("DNS", "Domain Name System")),
        ("a confidence\ninterval [CI] of", ("CI", "confidence interval")),
        ("the _Transmission Control Protocol_ _(TCP)_", ("TCP", "Transmission Control Protocol")),
        ("the World Health Organization's (WHO) plan", ("WHO", "World Health Organization")),
        ("größte gemeinsame Teiler (ggT)", ("ggT", "größte gemeinsame Teiler")),
        ("die Europäische Union （ＥＵ）", ("EU", "Europäische Union")),
        # The sentence is the limit, and "approx." ends none.
        ("Art. Text. American Medical Association (AMA)", ("AMA", "American Medical Association")),
    ],
)
def test_what_a_text_in_latin_script_explains(text: str, expected: tuple[str, str]) -> None:
    assert pairs(text) == [expected]


@pytest.mark.parametrize(
    "text",
    [
        "as shown before (see Figure 1)",
        "the House of Lords (Lords)",
        "call Server::new(SN) with server name",
        "a link to [Some Great Text](SGT)",
        "Smith and others (Smith)",
        "in the second war (II)",
        "a word (a)",
        "world health organization (who)",
        "it is (very) simple",
        "The first is red. Second (TFS)",
        "a Weak (Weak<Node> references are printed as such)",
        "adeno-associated virus: AAV (AAV9 and others)",
        "the coronaviruses CoV (consists of alpha, beta and deltacoronaviruses)",
        "of the office (OTO)",
        "was small (P<0.05, probably less than 0.05)",
        "HDVAg (HDV encodes a protein, the delta antigen)",
        "in the HIV-positive (HIV) group",
        "using BLAST (blastp algorithm)",
        "",
        "(((",
    ],
)
def test_what_is_no_abbreviation(text: str) -> None:
    assert pairs(text) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("それは国際連合（国連）である。", ("国連", "国際連合")),
        ("彼は国連(国際連合)に行った。", ("国連", "国際連合")),
        ("本書は世界保健機関（ＷＨＯ）による。", ("WHO", "世界保健機関")),
        ("系列には条件付き確率場（CRF）を使う。", ("CRF", "条件付き確率場")),
        ("系列にはCRF（条件付き確率場）を使う。", ("CRF", "条件付き確率場")),
        (
            "個人情報の保護に関する法律（以下「個人情報保護法」という。）は、",
            ("個人情報保護法", "個人情報の保護に関する法律"),
        ),
        ("日本放送協会（略称：NHK）の番組", ("NHK", "日本放送協会")),
        ("日本放送協会（略称はNHK、1926年設立）の番組", ("NHK", "日本放送協会")),
        ("「情報処理推進機構」（以下、IPA）が", ("IPA", "情報処理推進機構")),
        ("標準作業手順書（以下、手順書と略す）に従う。", ("手順書", "標準作業手順書")),
        ("これはパーソナルコンピュータ（パソコン）です。", ("パソコン", "パーソナルコンピュータ")),
        ("ターナー・ブロードキャスティング（TBS）は", ("TBS", "ターナー・ブロードキャスティング")),
        ("大韓帝国（韓国）の時代", ("韓国", "大韓帝国")),
        ("这是北京大学（简称“北大”）的", ("北大", "北京大学")),
        ("中国第一汽车集团有限公司（以下简称中国一汽）", ("中国一汽", "中国第一汽车集团有限公司")),
    ],
)
def test_what_a_japanese_or_chinese_text_explains(text: str, expected: tuple[str, str]) -> None:
    assert expected in pairs(text)


def test_japanese_brackets_may_hold_an_english_name_as_well() -> None:
    text = "これは世界保健機関（英: World Health Organization、略称: WHO）である。"
    assert ("WHO", "世界保健機関") in pairs(text)
    text = "これは自由貿易協定（Free Trade Agreement、FTA）である。"
    assert pairs(text) == [("FTA", "Free Trade Agreement"), ("FTA", "自由貿易協定")]
    text = "これがWHO（World Health Organization）である。"
    assert pairs(text) == [("WHO", "World Health Organization")]


@pytest.mark.parametrize(
    "text",
    [
        "東京大学（1877年）は古い。",
        "東京都（とうきょうと）である。",
        "作家の山田太郎（歌手）が来た。",
        "株式会社山田商店（以下「当社」という。）は",
        "ソフトウェア（以下同じ）を",
        "桑名（桑名市）に住む。",
        "シラー（シラーズ）の栽培",
        "ガウチョ（GAUCHO）は",
        "シュヴェーベル（NSDAP）の家",
        "初代バルフォア伯爵アーサー（DL）は",
        "初代男爵ホワイト（KG、PC、FRS）は",
        "航空母艦サラトガ（CV-3）は",
        "世界卫生组织（日内瓦）的",
        "三（以下、四）の例",
    ],
)
def test_what_a_japanese_or_chinese_bracket_holds_besides(text: str) -> None:
    assert pairs(text) == []


def test_a_pair_is_told_once_and_in_the_order_of_the_text() -> None:
    first, second = "Polymerase chain reaction (PCR).", "A body mass index (BMI)."
    text = f"{first}\n\n{second} {first}"
    assert find_short_forms(text) == [
        ShortForm("PCR", "Polymerase chain reaction"),
        ShortForm("BMI", "body mass index"),
    ]


def test_a_pair_does_not_reach_over_a_paragraph_or_a_list_item() -> None:
    assert pairs("World Health\n\nOrganization (WHO)") == []
    assert pairs("- World Health\n- Organization (WHO)") == []


@given(st.text(alphabet="ABCab c()（）「」[]以下略称、,;.\n国連際合ァパーI"))
def test_any_text_can_be_looked_through(text: str) -> None:
    for pair in find_short_forms(text):
        assert len(pair.short) >= 2
        assert pair.long.strip()
        assert pair.short != pair.long
