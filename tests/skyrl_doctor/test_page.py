"""A check's page: sections, and lines for a screen."""

from hypothesis import given
from hypothesis import strategies as st

from skyrl_doctor.page import Page, parse, wrap_markdown

DOCSTRING = """A GPU is named
by its UUID.

## What it does
Looks.

Twice.

## Example
    ValueError: x
"""


def test_sections() -> None:
    assert parse(DOCSTRING) == Page(
        "A GPU is named by its UUID.", (("What it does", "Looks.\n\nTwice."), ("Example", "    ValueError: x"))
    )


def test_without_headings_it_is_all_summary() -> None:
    assert parse("One line.") == Page("One line.", ())
    assert parse("") == Page("", ())


def test_fills_paragraphs_and_leaves_code_alone() -> None:
    markdown = "one two\nthree four\n\n1. first item\n   goes on\n2. second\n\n    code   as it\n      stands\nafter code\n    run on"
    assert list(wrap_markdown(markdown, 14)) == [
        "one two three",
        "four",
        "",
        "1. first item",
        "   goes on",
        "2. second",
        "",
        "    code   as it",
        "      stands",
        "after code run",
        "on",
        "",
    ]


@given(st.text())
def test_no_docstring_crashes_it(docstring: str) -> None:
    page = parse(docstring)
    words = [word for _, body in page.sections for word in body.split()]
    lines = [line for _, body in page.sections for line in wrap_markdown(body, 40)]
    assert [word for line in lines for word in line.split()] == words
