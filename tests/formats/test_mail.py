from __future__ import annotations

from email.message import EmailMessage

import pytest
from reading import blocks, outline, read

from localrag.errors import ReadError
from localrag.formats.known import FORMATS

HAS_HTML = any(known.media_type == "text/html" for known in FORMATS)


def message(body: str = "Hello.", **headers: str) -> EmailMessage:
    made = EmailMessage()
    made["From"] = headers.get("sender", "Ann <ann@example.com>")
    made["Subject"] = headers.get("subject", "Keys")
    made["To"] = "bob@example.com"
    made["Date"] = "Mon, 01 Jan 2024 10:00:00 +0100"
    made.set_content(body)
    return made


def test_a_message() -> None:
    document = read(message().as_bytes(), "a.eml")
    assert document.title == "Keys"
    assert document.metadata == {
        "subject": "Keys",
        "from": "Ann <ann@example.com>",
        "to": "bob@example.com",
        "date": "2024-01-01T10:00:00+01:00",
    }
    assert blocks(message().as_bytes(), "a.eml") == [
        ("heading", "# Keys"),
        (
            "paragraph",
            (
                "From: Ann <ann@example.com>\nTo: bob@example.com\n"
                "Date: Mon, 01 Jan 2024 10:00:00 +0100"
            ),
        ),
        ("paragraph", "Hello."),
    ]


def test_quotes_are_marked_and_what_is_quoted_often_is_dropped() -> None:
    body = "Yes.\n\n> Do we?\n>> Shall we?\n>>> Should we?\n>\n> Ann\n\n-- \nBob\n"
    assert blocks(message(body).as_bytes(), "a.eml")[2:] == [
        ("paragraph", "Yes."),
        ("quote", "> Do we?\n>> Shall we?"),
        ("quote", "> Ann"),
        ("paragraph", "-- \nBob"),
    ]


def test_a_long_quotation_is_cut() -> None:
    body = "\n".join(f"> line {number}" for number in range(100))
    [(kind, text)] = blocks(message(body).as_bytes(), "a.eml")[2:]
    assert kind == "quote"
    assert text.endswith("> line 59\n> …")


def test_signatures_of_cryptography_are_dropped() -> None:
    body = (
        "-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA256\n\nText.\n"
        "-----BEGIN PGP SIGNATURE-----\n\niQEz\n-----END PGP SIGNATURE-----\n"
    )
    assert blocks(message(body).as_bytes(), "a.eml")[2:] == [("paragraph", "Text.")]


@pytest.mark.parametrize(
    ("header", "subject"),
    [
        (b"=?utf-8?q?Gr=C3=BC=C3=9Fe?= =?iso-8859-1?q?_an_S=F8ren?=", "Grüße an Søren"),
        (b"=?gb2312?b?w7vOyszi?=", "没问题"),
        (b"=?nonsense?q?Gr=C3=BC=C3=9Fe?=", "Grüße"),
        ("Grüße".encode(), "Grüße"),
        ("Grüße aus Köln".encode("cp1252"), "Grüße aus Köln"),
        (b"folded\r\n  over lines", "folded over lines"),
        (b"(no end of =?utf-8?q?", "(no end of =?utf-8?q?"),
    ],
)
def test_headers(header: bytes, subject: str) -> None:
    source = b"From: a@b.c\r\nDate: some day\r\nSubject: " + header + b"\r\n\r\nText\r\n"
    document = read(source, "a.eml")
    assert document.title == subject
    assert document.metadata["date"] == "some day"


@pytest.mark.parametrize(
    ("charset", "encoding", "text"),
    [
        ("iso-2022-jp", "iso2022_jp", "すみません。"),
        ("shift_jis", "cp932", "①髙橋です。"),
        ("gb2312", "gb18030", "镕基是人名。"),
        ("iso-8859-1", "cp1252", "“Grüße” – 5 €"),
        ("us-ascii", "utf-8", "Grüße"),
        ("utf-8", "cp1252", "Grüße aus Köln"),
        ("x-unknown", "euc_jp", "これは日本語の文章です。"),
    ],
)
def test_bodies_in_odd_charsets(charset: str, encoding: str, text: str) -> None:
    head = f"From: a@b.c\nSubject: x\nContent-Type: text/plain; charset={charset}\n"
    source = head.encode() + b"Content-Transfer-Encoding: 8bit\n\n" + text.encode(encoding)
    assert blocks(source, "a.eml")[-1] == ("paragraph", text)


def test_a_body_that_is_no_text_is_replaced() -> None:
    source = (
        b"From: a@b.c\nSubject: x\nContent-Type: text/plain; charset=utf-8\n\n"
        + bytes(range(128, 256)) * 3
        + b"\x00\x01\x02 text"
    )
    assert "text" in blocks(source, "a.eml")[-1][1]


def test_the_text_part_is_read_and_not_the_html_part() -> None:
    made = message("The text.")
    made.add_alternative("<p>The page.</p>", subtype="html")
    document = read(made.as_bytes(), "a.eml")
    assert "The text." in document.text
    assert "page" not in document.text


@pytest.mark.skipif(not HAS_HTML, reason="there is no reader for HTML yet")
def test_the_html_part_is_read_where_there_is_no_text() -> None:
    made = message(" ")
    made.add_alternative("<p>The <b>Grüße</b> page.</p>", subtype="html")
    assert "The Grüße page." in " ".join(read(made.as_bytes(), "a.eml").text.split())


def test_attachments_are_read_by_their_readers() -> None:
    made = message("See there.")
    made.add_attachment("# Title\n\nA *note*.\n", subtype="markdown", filename="C:\\x\\nöte.md")
    made.add_attachment(b"\x89PNG\r\n\x1a\n", "image", "png", filename="p.png")
    document = read(made.as_bytes(), "a.eml")
    assert document.metadata["attachments"] == ["nöte.md", "p.png"]
    assert outline(document) == [
        (1, "Keys", None),
        (2, "nöte.md", None),
        (3, "Title", None),
        (2, "p.png", None),
    ]
    assert document.text.endswith("A *note*.\n\n## Attachment: p.png\n\n(not read: unsupported)")


def test_a_forwarded_message_is_an_attachment() -> None:
    outer = message("See below.", subject="Fwd")
    outer.add_attachment(message("The inner text.", subject="Inner"))
    document = read(outer.as_bytes(), "a.eml")
    assert [heading for _, heading, _ in outline(document)] == ["Fwd", "message.eml", "Inner"]
    assert "The inner text." in document.text


def test_messages_are_not_opened_without_end() -> None:
    made = message("The innermost.")
    for _ in range(6):
        outer = message("Around.")
        outer.add_attachment(made)
        made = outer
    document = read(made.as_bytes(), "a.eml")
    assert document.text.count("Around.") == 3
    assert document.text.endswith("(not read: too large)")
    # The count begins anew with the next file.
    assert "Hello." in read(message().as_bytes(), "a.eml").text


def test_only_the_signed_part_of_a_signed_message_is_read() -> None:
    source = (
        b"From: a@b.c\nSubject: x\nContent-Type: multipart/signed; boundary=b\n\n"
        b"--b\n\nSigned.\n--b\nContent-Type: application/pgp-signature; name=s.asc\n\nxyz\n--b--\n"
    )
    document = read(source, "a.eml")
    assert "attachments" not in document.metadata
    assert document.text.endswith("Signed.")


def test_alternatives_of_which_none_is_text() -> None:
    source = (
        b"From: a@b.c\nSubject: x\nContent-Type: multipart/alternative; boundary=b\n\n"
        b"--b\nContent-Type: application/x-a\n\n1\n--b\nContent-Type: text/calendar; name=c.txt\n\n"
        b"Meeting at ten.\n--b--\n"
    )
    assert read(source, "a.eml").text.endswith("## Attachment: c.txt\n\nMeeting at ten.")


def test_a_message_of_apple_mail() -> None:
    data = message().as_bytes()
    document = read(str(len(data)).encode() + b"\n" + data + b"<?xml version='1.0'?>", "a.emlx")
    assert document.text.endswith("Hello.")


def test_a_mailbox() -> None:
    first = message("One.\n>From here on\n", subject="A").as_bytes()
    second = message("Two.", subject="B").as_bytes()
    mark = b"From ann@example.com Mon Jan  1 10:00:00 2024\n"
    data = mark + first + b"\n" + mark + second
    document = read(data, "box.mbox")
    assert document.title == "box"
    assert document.metadata == {"messages": 2}
    assert [heading for _, heading, _ in outline(document)] == ["A", "B"]
    assert "One.\nFrom here on" in document.text
    # One message that a mailbox held is still a message, and a mailbox needs no suffix.
    assert read(mark + first, "a.eml").title == "A"
    assert read(data, "inbox").media_type == "application/mbox"
    assert read(first, "1704099600.M1P2.host,S=500").media_type == "message/rfc822"


@pytest.mark.parametrize(
    ("data", "uri"),
    [(b"just text\n", "a.eml"), (b"just text\n", "a.mbox"), (b"\n\n", "a.eml")],
)
def test_what_is_no_message(data: bytes, uri: str) -> None:
    with pytest.raises(ReadError) as caught:
        read(data, uri)
    assert caught.value.reason == "damaged"


def test_parts_that_are_nested_too_deeply() -> None:
    parts = b"".join(
        b"Content-Type: multipart/mixed; boundary=%d\n\n--%d\n" % (i, i) for i in range(2000)
    )
    with pytest.raises(ReadError, match="nested too deeply"):
        read(b"From: a\nSubject: b\n" + parts, "a.eml")
