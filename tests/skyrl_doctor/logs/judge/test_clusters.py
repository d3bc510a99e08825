"""Lines that say the same of different things."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skyrl_doctor.logs.judge.clusters import Cluster, Clusters, form, split


def of(*lines: str) -> list[Cluster]:
    clusters = Clusters()
    for number, line in enumerate(lines, 1):
        clusters.add(line, number)
    return list(clusters)


FIRST = "ERROR 03-02 09:14:03 worker: sandbox 7f3a2c0e5bc09911 of alice has no answer for [1, 2, 3] at /tmp/a/b.json"


def test_what_changes_is_a_star() -> None:
    assert of(
        FIRST,
        "ERROR 03-02 09:14:04 worker: sandbox 0011223344556677 of bob has no answer for [4] at /scratch/c",
    ) == [Cluster("ERROR * * worker: sandbox * of * has no answer for * at *", 2, 1, 2, FIRST)]


def test_lines_of_few_words_differ_by_one() -> None:
    assert of("ERROR: no rows", "ERROR: no columns", "ERROR: no rows") == [
        Cluster("ERROR: no rows", 2, 1, 3, "ERROR: no rows"),
        Cluster("ERROR: no columns", 1, 2, 2, "ERROR: no columns"),
    ]


def test_the_number_of_an_error_says_what_it_is() -> None:
    assert [cluster.template for cluster in of("OSError: [Errno 5] a: 'x'", "OSError: [Errno 28] a: 'y'")] == [
        "OSError: [Errno 5] a: *",
        "OSError: [Errno 28] a: *",
    ]


def test_other_first_words_are_another_error() -> None:
    assert len(of("KeyError: 'a'", "ValueError: 'a'")) == 2


def test_there_is_an_end_to_what_is_kept() -> None:
    clusters = Clusters()
    kept = [clusters.add(f"{'x' * (at + 1)} failed", at) for at in range(300)]
    assert (kept[199], kept[200], len(list(clusters))) == (199, None, 200)


@given(st.text(max_size=600))
def test_any_text_is_like_itself(text: str) -> None:
    clusters = Clusters()
    assert clusters.add(text, 1) == clusters.add(text, 2) == 0
    assert len(split(text)) <= 60


PARTS = [
    "ab",
    "x",
    "7",
    "12",
    "b7",
    "deadbeef00",
    "0123456789ab",
    "7f3a2c0e5bc09911",
    "[",
    "]",
    "'",
    '"',
    "/",
    "://",
    " ",
    " ",
    ".",
    ":",
    "-",
    "code ",
    "exit",
    ", ",
]
LINES = st.lists(st.sampled_from(PARTS), max_size=12).map("".join)


@settings(max_examples=300, deadline=None)
@given(LINES, LINES)
def test_lines_of_one_form_have_the_same_words(one: str, other: str) -> None:
    assert form(one.encode()) != form(other.encode()) or split(one) == split(other)


@settings(max_examples=300, deadline=None)
@given(LINES, st.lists(st.sampled_from(["1", "23", "b7", "0a1b2c3d4e5f"]), min_size=24, max_size=24))
def test_other_numbers_make_the_same_words_where_they_make_the_same_form(line: str, numbers: list[str]) -> None:
    spaced = line.replace("7", " {} ").replace("12", "{}")
    one, other = spaced.format(*numbers), spaced.format(*reversed(numbers))
    assert form(one.encode()) != form(other.encode()) or split(one) == split(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (
            "tools: sandbox b78ee852 failed [repeated 87x across cluster]",
            "tools: sandbox 07ff failed [repeated 9x across cluster]",
        ),
        ("at 09:14:03,120 x", "at 10:00:00,1 x"),
        ("no status", "no status"),
    ],
)
def test_numbers_are_left_out_of_the_form(one: str, other: str) -> None:
    assert form(one.encode()) == form(other.encode())


def test_a_number_that_tells_stays_in_the_form() -> None:
    assert form(b"exit code 1") != form(b"exit code 2")
