"""The version, as podman and the package managers write it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skyrl_doctor.facts.podman.program import Podman, Version, parse_package, parse_version


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("podman version 4.3.1\n", (4, 3, 1)),
        ("podman version 5.8.0-dev\n", (5, 8, 0)),
        ("podman version 6.0\n", (6, 0, 0)),
        ("podman-remote version 5.4.2", (5, 4, 2)),
        ("Docker version 24.0.5, build ced0996", None),
        ("podman version ", None),
        ("", None),
    ],
)
def test_reads_what_podman_prints(text: str, version: Version | None) -> None:
    assert parse_version(text) == version


@pytest.mark.parametrize(
    ("text", "version"),
    [("4.3.1+ds1-8+deb12u1+b3", (4, 3, 1)), ("4:4.9.4\n", (4, 9, 4)), ("5.4.2", (5, 4, 2)), ("not installed", None)],
)
def test_reads_what_package_managers_print(text: str, version: Version | None) -> None:
    assert parse_package(text) == version


@given(st.text())
def test_no_text_crashes(text: str) -> None:
    assert parse_version(text) is None or "version" in text
    parse_package(text)


def test_is_shown_with_its_version() -> None:
    assert (Podman("/usr/bin/podman", (4, 3, 1)).shown, Podman("/p", None).shown) == (
        "Podman 4.3.1",
        "Podman of an unknown version",
    )
