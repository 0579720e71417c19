import pytest

from localrag.formats.html import read_html
from localrag.formats.registry import read_document
from localrag.records import Document


def page(body: str, head: str = "") -> Document:
    source = f"<!DOCTYPE html><html lang='en'><head>{head}</head><body>{body}</body></html>"
    return read_html(source.encode(), "folder/page.html")


def text_of(body: str) -> str:
    return page(body).text


PROSE = "<p>" + "The content of the page is a text of some length. " * 5 + "</p>"
CONTENT = "The content of the page is a text of some length. " * 4 + (
    "The content of the page is a text of some length."
)


def test_blocks() -> None:
    body = """
        <h1>Keys</h1><p>Some <b>bold</b>
        text.<br>Next line</p>
        <ul><li>one<li>two<ol start="3"><li>deep</ol></ul>
        <pre><code class="language-python">def <span>f</span>():
    return 1</code></pre>
        <blockquote><p>Quoted</p></blockquote>
        <figure><img alt="A red house"><figcaption>Figure 1</figcaption></figure>
        <dl><dt>Term</dt><dd>Meaning</dd></dl>
    """
    document = page(body)
    assert document.text == (
        "# Keys\n\nSome bold text.\nNext line\n\n- one\n- two\n  3. deep\n\n"
        "```python\ndef f():\n    return 1\n```\n\nQuoted\n\n[A red house]\n\nFigure 1\n\n"
        "- Term\n  - Meaning"
    )
    kinds = [block.kind for block in document.blocks]
    assert kinds[-5:] == ["quote", "paragraph", "caption", "list_item", "list_item"]


def test_title_and_metadata() -> None:
    head = """
        <title>Keys | The site</title><meta name="author" content="Ann">
        <meta property="article:published_time" content="2024-02-29">
        <meta name="description" content=" About  keys "><link rel="canonical" href="https://a/b">
    """
    document = page(f"<h1>Keys</h1>{PROSE}", head)
    assert document.title == "Keys"
    assert document.metadata == {
        "author": "Ann",
        "date": "2024-02-29",
        "description": "About keys",
        "url": "https://a/b",
        "language": "en",
    }


def test_a_title_that_no_heading_says_is_one() -> None:
    document = page(PROSE, "<title>All about keys</title>")
    assert document.title == "All about keys"
    assert document.text.startswith("# All about keys\n\nThe content")
    assert page(PROSE, "<title>Untitled</title>").title == "page"


def test_date_of_the_article() -> None:
    body = f"<article><time datetime='2024-01-02'>today</time>{PROSE}</article>"
    assert page(body).metadata["date"] == "2024-01-02"


@pytest.mark.parametrize(
    "noise",
    [
        "<nav><a href='/'>Home</a></nav>",
        "<footer>Imprint</footer>",
        "<aside>Other news</aside>",
        "<script>var x</script><style>p {}</style><noscript>Enable it</noscript>",
        "<template><p>Hidden</p></template><svg><text>Logo</text></svg>",
        "<div class='cookie-banner'>We value your privacy</div>",
        "<div id='Breadcrumb'><a>Home</a></div>",
        "<div role='navigation'>Menu</div>",
        "<div hidden>Hidden</div><p style='display: none'>Hidden</p><p aria-hidden=true>Icon</p>",
        "<div class='menu'><a>One</a> <a>Two</a></div>",
        "<ul class='toc'><li><a>One</a></ul>",
        "<button>Click</button><select><option>Germany</select><input value='x'>",
        "<header><a>Logo</a><nav>Menu</nav></header>",
    ],
)
def test_what_is_no_content(noise: str) -> None:
    without = noise.replace("<header>", "<header class='site-header'>")
    assert text_of(f"{without}{PROSE}") == CONTENT
    assert text_of(f"<main>{without}{PROSE}</main>".replace("<footer>", "<nav>")).endswith(CONTENT)


@pytest.mark.parametrize(
    "body",
    [
        "<div>Other</div><main>{}</main>",
        "<div>Other</div><div role=main>{}</div>",
        "<p>Other</p><article>{}</article>",
        "<p>Other</p><div id=content>{}</div>",
    ],
)
def test_the_main_content(body: str) -> None:
    assert text_of(body.format(PROSE)) == CONTENT


def test_small_or_several_mains_are_not_trusted() -> None:
    assert CONTENT in text_of(f"<main>x</main>{PROSE}")
    assert text_of("<article>one</article><article>two</article>") == "one\n\ntwo"


def test_names_that_may_be_content() -> None:
    assert "Soup of the day" in text_of(f"<div class=menu><p>Soup of the day</p></div>{PROSE}")
    wrapper = f"<div class='page noprint'>{PROSE}</div>"
    assert text_of(wrapper) == CONTENT


def test_a_footer_in_the_content_stays() -> None:
    assert "A note" in text_of(f"<main>{PROSE}<footer>A note</footer></main>")


def test_a_heading_in_the_header_of_a_page_stays() -> None:
    text = text_of(f"<header class='site-header'><h1>Keys</h1></header>{PROSE}")
    assert text.startswith("# Keys")


def test_a_page_of_nothing_but_links_is_kept() -> None:
    assert text_of("<nav><a href='a'>All there is</a></nav>") == "All there is"
    assert text_of("") == ""


def test_permalinks_are_no_part_of_headings() -> None:
    assert text_of("<h2>C# <a href='#c'>#</a></h2><h2>F<a class=headerlink>¶</a></h2>") == (
        "## C#\n\n## F"
    )


def test_tables() -> None:
    body = """
        <table><caption>Sales</caption><thead><tr><th>name<th>sum</thead>
        <tr><td>a<br>b<td>1<tr><td>c|d<td><ul><li>2<li>3</ul></table>
    """
    assert text_of(body) == ("Sales\n\n| name | sum |\n| --- | --- |\n| a b | 1 |\n| c\\|d | 2 3 |")


def test_spans_of_cells() -> None:
    body = """
        <table><tr><th colspan=2>wide<th rowspan=2>tall<tr><th>a<th>b
        <tr><td>1<td>2<td>3<tr><td rowspan=2>x<td>4<td>5<tr><td>6<td>7</table>
    """
    assert text_of(body) == (
        "| wide a | b | tall |\n| --- | --- | --- |\n| 1 | 2 | 3 |\n| x | 4 | 5 |\n|  | 6 | 7 |"
    )


def test_tables_for_layout_are_none() -> None:
    assert text_of("<table><tr><td><h2>A</h2>text<td>b</table>") == "## A\n\ntext\n\nb"
    assert text_of("<table role=presentation><tr><td>a<td>b</table>") == "a\n\nb"
    assert text_of("<table><tr><td>a<tr><td>b</table>") == "a\n\nb"


def test_cells_hold_formulas_and_pictures() -> None:
    cells = "<td><math alttext='x^2'></math><td>a<wbr>b<img alt='house'><script>no</script>"
    assert text_of(f"<table><tr>{cells}<tr><td>1<td>2</table>").startswith("| x^2 | ab [house] |")


def test_formulas() -> None:
    tex = "<annotation encoding='application/x-tex'>{\\displaystyle y}</annotation>"
    image = "<img class='mwe-math-fallback-image-inline' alt='{\\displaystyle x}'>"
    hidden = (
        f"<span style='display:none'><math alttext='{{\\displaystyle x}}'></math></span>{image}"
    )
    assert text_of(f"<p>Let <math><mi>y</mi>{tex}</math></p>") == "Let y"
    assert text_of(f"<p>Let <span>{hidden}</span></p>") == "Let x"
    assert text_of("<p><math><mi>a</mi><mo>+</mo><mi>b</mi></math></p>") == "a+b"
    assert text_of("<p><img class='tex' alt='{\\textstyle z}'></p>") == "z"


def test_pictures_without_words() -> None:
    assert text_of("<p>a<img alt='photo.jpg'><img alt='icon'><img alt=''>b</p>") == "ab"


def test_ruby_is_left_out() -> None:
    assert text_of("<p><ruby>山<rp>(</rp><rt>やま</rt><rp>)</rp></ruby>路</p>") == "山路"


def test_line_breaks_between_ideographs_are_none() -> None:
    assert text_of("<p>山路を\n  登り\nながら a\nb</p>") == "山路を登りながら a b"


def test_code_without_line_numbers() -> None:
    body = "<pre class='highlight-source-c'><span class=linenos>1</span>int x;<br>int y;</pre>"
    assert text_of(body) == "```c\nint x;\nint y;\n```"


def test_lists_with_paragraphs() -> None:
    body = "<ul><li><p>one</p><p>more</p></li><p>stray</p></ul><li>alone</li>"
    assert text_of(body) == "- one\n\nmore\n\nstray\n\n- alone"
    assert text_of("<ul><li class=pagination>x</ul>" + PROSE) == CONTENT


def test_definitions_without_terms_are_indentation() -> None:
    assert text_of("<dl><dd>x = 1</dd></dl>") == "x = 1"


@pytest.mark.parametrize("element", ["div", "b", "ul><li", "table><tr><td", "pre><b", "blockquote"])
def test_endless_nesting(element: str) -> None:
    assert "deep" in text_of(f"<{element}>" * 3_000 + "deep")


def test_endless_nesting_in_a_cell() -> None:
    deep = "<b>" * 3_000 + "deep"
    assert text_of(f"<table><tr><td>a<td>{deep}</table>").startswith("| a | deep |")


@pytest.mark.parametrize(
    ("declared", "encoding"),
    [
        ("<meta charset=shift_jis>", "cp932"),
        ("<meta http-equiv=x content='text/html; charset=EUC-JP'>", "euc_jp"),
        ("<meta charset=utf-8>", "utf-16"),
        ("<meta charset=ascii>", "utf-8"),
        ("<meta charset=nonsense>", "utf-8"),
        ("", "utf-8-sig"),
    ],
)
def test_encodings(declared: str, encoding: str) -> None:
    source = (
        f"<html><head>{declared}</head><body><p>山路を登りながら、こう考えた。</p></body></html>"
    )
    assert read_html(source.encode(encoding), "a.html").text == "山路を登りながら、こう考えた。"


def test_xhtml_elements_that_close_themselves() -> None:
    head = "<head><title/><script src='a'/></head>"
    source = f"<?xml version='1.0'?><html>{head}<body><p>a<br/>b</p></body></html>"
    assert read_document(source.encode(), "a.xhtml").text == "a\nb"
