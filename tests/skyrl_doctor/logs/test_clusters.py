"""Lines that say the same of different things."""

from hypothesis import given
from hypothesis import strategies as st

from skyrl_doctor.logs.clusters import Cluster, Clusters, split


def of(*lines: str) -> list[Cluster]:
    clusters = Clusters()
    for number, line in enumerate(lines, 1):
        clusters.add(line, number)
    return list(clusters)


def test_what_changes_is_a_star() -> None:
    assert of(
        "ERROR 03-02 09:14:03 worker: sandbox 7f3a2c0e5bc09911 of alice has no answer for [1, 2, 3] at /tmp/a/b.json",
        "ERROR 03-02 09:14:04 worker: sandbox 0011223344556677 of bob has no answer for [4] at /scratch/c",
    ) == [Cluster("ERROR * * worker: sandbox * of * has no answer for * at *", 2, 1, 2)]


def test_lines_of_few_words_differ_by_one() -> None:
    assert of("ERROR: no rows", "ERROR: no columns", "ERROR: no rows") == [
        Cluster("ERROR: no rows", 2, 1, 3),
        Cluster("ERROR: no columns", 1, 2, 2),
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
