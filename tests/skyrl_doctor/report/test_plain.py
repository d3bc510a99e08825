"""Foreign text made fit to print."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skyrl_doctor.report.plain import encodable, plain


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("CUDA out of memory", "CUDA out of memory"),
        ("a\tb\nc", "a\tb\nc"),
        ("a\r\nb\rc", "a\nb\nc"),
        ("\x1b[1;31mred\x1b[0m", "red"),
        ("\x1b[2K\x1b[1Gprogress", "progress"),
        ("\x1b]0;title\x07x\x1b]8;;u\x1b\\y", "xy"),
        ("\x1b]52;c;unended", "\\x1b]52;c;unended"),
        ("\x1b", "\\x1b"),
        ("nul\x00 bell\x07 csi\x9b", "nul\\x00 bell\\x07 csi\\x9b"),
        (b"caf\xe9".decode("utf-8", "surrogateescape"), "caf\\xe9"),
        ("\ud800 \uffff", "\\ud800 \\uffff"),
        ("a\u202eb", "a\\u202eb"),
        ("naïve 日本 🔥", "naïve 日本 🔥"),
    ],
)
def test_prints(text: str, printed: str) -> None:
    assert plain(text) == printed


@given(st.text(st.characters(exclude_categories=[])))
def test_leaves_nothing_that_a_terminal_or_xml_stumbles_on(text: str) -> None:
    printed = plain(text)
    printed.encode("utf-8")
    assert {character for character in printed if unicodedata.category(character) == "Cc"} <= {"\n", "\t"}
    assert plain(printed) == printed


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_encodable_text_is_left_alone(text: str) -> None:
    assert encodable(text) == text
