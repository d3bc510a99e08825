"""Which command finds a failure without a check, and its page."""

import pytest

from skyrl_doctor.catalogue import catalogue
from skyrl_doctor.found_by import finders, found_by, page


@pytest.mark.parametrize(
    ("id_", "commands", "sentence"),
    [
        ("GPU001", (), "Not built yet."),
        ("TRN002", ("skyrl-doctor diagnose",), "Found by skyrl-doctor diagnose."),
        ("AGT019", ("skyrl-doctor watch",), "Found by skyrl-doctor watch."),
        (
            "TRN006",
            ("skyrl-doctor watch", "skyrl-doctor diagnose"),
            "Found by skyrl-doctor watch and skyrl-doctor diagnose.",
        ),
    ],
)
def test_the_commands_that_find_a_failure_without_a_check(id_: str, commands: tuple[str, ...], sentence: str) -> None:
    entry = catalogue().find(id_)
    assert entry is not None
    assert (finders(entry), found_by(entry)) == (commands, sentence)


def test_the_page_is_the_docstring_of_the_failures_file() -> None:
    entry = catalogue().find("TRN002")
    assert page(entry, None).splitlines()[0] == "verl's metrics tracker is used as a logger."
    assert page(None, None) == ""
