"""EPUB files as they are met: EPUB 2 and 3, odd mark-up, and those that nobody should open."""

import struct

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from generation.exceptions import ImportRefused
from generation.importing.files import ZIP_MARK, read_file
from tests.factories.epubs import (
    CONTAINER,
    SENTENCE,
    archive,
    document,
    files_of_epub2,
    files_of_epub3,
    item,
    package,
)

LOOMINGS = {
    "Loomings": f"<h1>Loomings</h1><p>Call me Ishmael.</p><p>{SENTENCE}</p>",
    "The Carpet-Bag": "<p>I stuffed.</p>",
}


def read(files):
    return read_file(archive(files), "whale.epub")


def chapters(files):
    return [(chapter.title, chapter.paragraphs) for chapter in read(files).chapters]


def paragraphs(body):
    return list(read(files_of_epub3({"One": body})).chapters[0].paragraphs)


def test_an_epub_3_has_its_chapters_from_its_nav():
    book = read(files_of_epub3(LOOMINGS, cover=b"picture"))
    assert (book.title, book.author, book.language, book.cover) == ("The Whale", "Herman Melville", "en", b"picture")
    assert chapters(files_of_epub3(LOOMINGS)) == [
        ("Loomings", ("Call me Ishmael.", SENTENCE.strip())),
        ("The Carpet-Bag", ("I stuffed.",)),
    ]


def test_an_epub_2_has_its_chapters_from_places_in_one_document():
    body = '<p>Before.</p><h2 id="a">One</h2><p>First.</p><p>Still.</p><div id="b"><h2>Two</h2><p>Second.</p></div>'
    assert chapters(files_of_epub2(body, {"One": "a", "Two": "b"})) == [
        ("", ("Before.",)),
        ("One", ("First.", "Still.")),
        ("Two", ("Second.",)),
    ]


def test_a_document_after_a_chapter_belongs_to_it():
    files = files_of_epub3({"One": "<p>a</p>", "Two": "<p>b</p>"})
    files["OEBPS/nav.xhtml"] = document('<nav epub:type="toc"><ol><li><a href="c1.xhtml">One</a></li></ol></nav>')
    assert chapters(files) == [("One", ("a", "b"))]


def test_without_a_table_of_contents_every_document_is_a_chapter_with_its_heading():
    files = files_of_epub3({"One": "<h1>The first</h1><p>a</p>", "Two": "<p>b</p>"})
    del files["OEBPS/nav.xhtml"]
    assert chapters(files) == [("The first", ("a",)), ("", ("b",))]


def test_a_part_without_text_of_its_own_is_no_chapter():
    files = files_of_epub3({"Part I": "<h1>Part I</h1>", "One": "<p>a</p>"})
    assert chapters(files) == [("One", ("a",))]


@pytest.mark.parametrize(
    ("body", "read_as"),
    [
        ("<p>One <i>soft</i> word.</p>", ["One soft word."]),
        ("<div>Loose<p>Inner</p>tail</div>", ["Loose", "Inner", "tail"]),
        ("<p>A line<br/>and another</p>", ["A line and another"]),
        ("<p>caf\u00e9 &eacute;t\u00e9&nbsp;&mdash; end &amp; more</p>", ["café été — end & more"]),
        (
            "<p>Text<sup><a href='#n'>12</a></sup> with a note<sup><a epub:type='noteref'>*</a></sup>.</p>",
            ["Text with a note."],
        ),
        ("<p>m<sup>e</sup></p>", ["me"]),
        ("<p>10<sup>6</sup> is read</p>", ["106 is read"]),
        ("<p>a<o:p>&nbsp;</o:p>b</p>", ["a b"]),
        ("<p foo:bar='x'>text</p>", ["text"]),
        ("<p>a&#xD800;b&#x110000;c&#0;d&#9;e</p>", ["abcd e"]),
        (f"{'<div>' * 280}deep{'</div>' * 280}<p>after</p>", ["deep", "after"]),
        ("<aside epub:type='footnote'><p>A note.</p></aside><p>Text.</p>", ["Text."]),
        ("<p>Page<span epub:type='pagebreak' id='p1'>17</span> text.</p>", ["Page text."]),
        ("<script>alert(1)</script><style>p{}</style><p>Text.</p>", ["Text."]),
        ("<p>hy\u00adphen</p>", ["hyphen"]),
        ("<table><tr><td>a</td><td>b</td></tr></table>", ["a", "b"]),
        ("<ruby>漢<rt>kan</rt></ruby>", ["漢"]),
        ("<p>Unclosed<p>tags", ["Unclosed", "tags"]),
    ],
)
def test_what_is_read_aloud_is_kept_and_the_rest_is_not(body, read_as):
    assert paragraphs(body) == read_as


def test_title_pages_and_what_is_beside_the_text_are_left_out():
    files = files_of_epub3({"One": "<p>a</p>"})
    items = item("nav.xhtml", properties="nav") + item("c1.xhtml") + item("title.xhtml") + item("notes.xhtml")
    spine = '<itemref idref="title"/><itemref idref="c1"/><itemref idref="notes" linear="no"/>'
    files["OEBPS/content.opf"] = package(items, spine)
    files["OEBPS/title.xhtml"] = document('<section epub:type="titlepage"><p>The Whale</p></section>')
    files["OEBPS/notes.xhtml"] = document("<p>A note.</p>")
    assert chapters(files) == [("One", ("a",))]


def test_other_encodings_are_read():
    files = files_of_epub3({"One": "<p>x</p>"})
    text = document("<p>Тихий океан</p>").replace("utf-8", "windows-1251")
    files["OEBPS/c1.xhtml"] = text.encode("cp1251")
    assert chapters(files) == [("One", ("Тихий океан",))]
    files["OEBPS/c1.xhtml"] = document("<p>Тихий</p>").replace("utf-8", "utf-16").encode("utf-16")
    assert chapters(files) == [("One", ("Тихий",))]


def without(name):
    files = files_of_epub3(LOOMINGS)
    del files[name]
    return files


def with_(name, content):
    return {**files_of_epub3(LOOMINGS), name: content}


ENCRYPTED = (
    '<encryption xmlns:enc="http://www.w3.org/2001/04/xmlenc#"><enc:EncryptedData>'
    '<enc:EncryptionMethod Algorithm="{}"/></enc:EncryptedData></encryption>'
)
XXE = '<?xml version="1.0"?><!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]><html><body><p>&e;</p></body></html>'
AES = "http://www.w3.org/2001/04/xmlenc#aes128-cbc"
REFUSED = {
    "no container": (without("META-INF/container.xml"), "is no EPUB"),
    "no package": (without("OEBPS/content.opf"), "does not hold"),
    "a document is missing": (without("OEBPS/c1.xhtml"), "does not hold"),
    "no spine": (with_("OEBPS/content.opf", package(item("c1.xhtml"), "")), "no spine"),
    "protected": (
        with_("META-INF/encryption.xml", ENCRYPTED.format(AES)),
        "DRM",
    ),
    "rights": (with_("META-INF/rights.xml", "<rights/>"), "DRM"),
    "entities": (with_("OEBPS/c1.xhtml", XXE), "entities of its own"),
    "a name that leads out": (with_("../../etc/cron.d/evil", "x"), "leads out"),
    "an absolute name": (with_("/etc/passwd", "x"), "leads out"),
    "a package that leads out": (with_("META-INF/container.xml", CONTAINER.replace("OEBPS/", "../../")), "leads out"),
    "a document that leads out": (
        with_("OEBPS/content.opf", package(item("../../../c1.xhtml"), '<itemref idref=""/>')),
        "leads out",
    ),
    "no text": (files_of_epub3({"One": "<h1>One</h1>"}), "contains no text"),
    "no mark-up": (with_("OEBPS/content.opf", ""), "cannot be read|holds no mark-up"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_imported_is_refused_with_the_reason(name):
    files, reason = REFUSED[name]
    with pytest.raises(ImportRefused, match=reason):
        read(files)


def test_fonts_that_are_obscured_hide_no_text():
    assert read(with_("META-INF/encryption.xml", ENCRYPTED.format("http://www.idpf.org/2008/embedding"))).chapters


def test_a_bomb_is_refused_before_it_is_unpacked():
    with pytest.raises(ImportRefused, match="unpacks to 200 times its size"):
        read(with_("OEBPS/huge.xhtml", b"0" * 20_000_000))


def test_too_many_entries_are_refused():
    with pytest.raises(ImportRefused, match="would unpack to"):
        read_file(archive({f"f{number}": "" for number in range(10_001)}), "x.epub")


def test_a_lie_about_the_size_is_found_out():
    data = bytearray(archive(files_of_epub3(LOOMINGS)))
    # The sizes of the last entry in the central directory say one byte.
    place = data.rfind(b"PK\x01\x02")
    data[place + 24 : place + 28] = struct.pack("<L", 1)
    with pytest.raises(ImportRefused):
        read_file(bytes(data), "x.epub")


def test_a_locked_archive_is_refused():
    data = bytearray(archive(files_of_epub3(LOOMINGS)))
    for mark, offset in ((b"PK\x01\x02", 8), (b"PK\x03\x04", 6)):
        place = data.find(mark)
        while place >= 0:
            data[place + offset] |= 1
            place = data.find(mark, place + 1)
    with pytest.raises(ImportRefused, match="locked with a password"):
        read_file(bytes(data), "x.epub")


@given(st.binary(max_size=300))
def test_what_only_begins_like_a_zip_is_refused_in_words(data):
    with pytest.raises(ImportRefused, match="is no EPUB"):
        read_file(ZIP_MARK + data, "x.epub")


@given(st.integers(0, 5000), st.integers(0, 255))
@example(3292, 0)
def test_a_damaged_file_is_read_or_refused_and_nothing_else(place, value):
    data = bytearray(archive(files_of_epub3(LOOMINGS)))
    data[place % len(data)] = value
    try:
        assert read_file(bytes(data), "x.epub").chapters
    except ImportRefused as refused:
        assert str(refused)


def test_depth_is_no_way_to_stop_it():
    deep = "<div>" * 5000 + "<p>Deep.</p>" + "</div>" * 5000
    try:
        assert paragraphs(deep)
    except ImportRefused as refused:
        assert str(refused)
