import pytest
from hypothesis import given
from hypothesis import strategies as st

from localrag.errors import ReadError
from localrag.formats.encoding import decode

JAPANESE = "これは日本語の短い文です。\n会議は10時からです。\n"
SAMPLES = [
    (JAPANESE, "cp932"),
    (JAPANESE, "euc_jp"),
    (JAPANESE, "iso2022_jp"),
    (JAPANESE, "utf-8-sig"),
    (JAPANESE, "utf-16"),
    (JAPANESE, "utf-16-le"),
    (JAPANESE, "utf-16-be"),
    (JAPANESE, "utf-32"),
    (JAPANESE, "utf-32-le"),
    (JAPANESE, "utf-32-be"),
    ("Plain words, nothing else.\n", "utf-16-le"),
    ("Plain words, nothing else.\n", "utf-16-be"),
    ("Das schöne Mädchen aus Köln fährt zurück.", "cp1252"),
    ("Le café était fermé à midi, où aller ?", "cp1252"),
    ("¿Dónde está el niño? ¡Aquí!", "cp1252"),
    ("It’s “quoted” – text…", "cp1252"),
    ("Zażółć gęślą jaźń, proszę bardzo.", "cp1250"),
    ("Příliš žluťoučký kůň úpěl ďábelské ódy.", "cp1250"),
    ("Bütün insanlar hür, haysiyet ve haklar bakımından eşit doğarlar.", "cp1254"),
    ("Быстрая коричневая лиса прыгает через ленивую собаку.", "cp1251"),
    ("Быстрая коричневая лиса прыгает через ленивую собаку.", "koi8_r"),
    ("这是一个简短的中文句子，用于测试编码检测。", "gb18030"),
    ("이것은 인코딩 감지를 테스트하기 위한 짧은 문장입니다.", "cp949"),
]


@pytest.mark.parametrize(("text", "name"), SAMPLES)
@pytest.mark.parametrize("repeats", [1, 30])
def test_encodings(text: str, name: str, repeats: int) -> None:
    assert decode((text * repeats).encode(name)) == text * repeats


@pytest.mark.parametrize("breaks", ["\n", "\r\n", "\r"])
def test_line_breaks(breaks: str) -> None:
    assert decode(f"a{breaks}b{breaks}{breaks}c".encode()) == "a\nb\n\nc"


def test_blank_and_empty_files_are_text() -> None:
    assert decode(b"") == ""
    assert decode(b"\xef\xbb\xbf") == ""
    assert decode(b" \r\n") == " \n"


def test_a_second_mark_is_dropped() -> None:
    assert decode(b"\xef\xbb\xbf\xef\xbb\xbfa") == "a"


def test_stray_zero_bytes_become_blanks() -> None:
    assert decode(b"before" * 50 + b"\0\0after") == "before" * 50 + "  after"
    assert decode(b"a\0b" + b"c" * 10) == "a b" + "c" * 10


def test_utf_8_that_was_cut() -> None:
    text = decode(JAPANESE.encode()[:-2])
    assert text.startswith("これは")
    assert text.endswith("\ufffd")


def test_escape_sequences_of_a_terminal_are_no_encoding() -> None:
    assert decode("\x1b(Bé ok".encode()) == "\x1b(Bé ok"
    assert decode(b"\x1b$B\xe3\x81\x82").endswith("あ")


@pytest.mark.parametrize(
    "data",
    [
        bytes(range(256)) * 8,
        b"\x00\x01\x02\x03" * 100,
        b"\x00" * 1_000,
        b"\x01\x02\x03\x04",
        b"\x7fELF\x00\x00\x01" + bytes(range(128)),
        bytes((number * 37) % 256 for number in range(1_000)),
    ],
)
def test_binary(data: bytes) -> None:
    with pytest.raises(ReadError) as caught:
        decode(data)
    assert caught.value.reason == "binary"


def test_unknown_encoding(monkeypatch: pytest.MonkeyPatch) -> None:
    class Nothing:
        def best(self) -> None:
            return None

    monkeypatch.setattr("charset_normalizer.from_bytes", lambda _: Nothing())
    with pytest.raises(ReadError, match="UTF-8") as caught:
        decode("Быстрая лиса".encode("cp1251"))
    assert caught.value.reason == "unreadable"


@given(st.text(st.characters(exclude_categories=("Cs", "Cc", "Cn"), exclude_characters="\ufeff")))
def test_utf_8_is_read_as_written(text: str) -> None:
    assert decode(text.encode()) == text


@given(st.binary())
def test_any_bytes_are_text_or_an_error(data: bytes) -> None:
    try:
        text = decode(data)
    except ReadError:
        return
    assert "\0" not in text
    assert "\r" not in text
    text.encode()
