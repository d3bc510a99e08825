"""The version, as podman and the package managers write it."""

from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skyrl_doctor.core.errors import NotApplicable
from skyrl_doctor.core.model import Role
from skyrl_doctor.facts.host import Roles
from skyrl_doctor.facts.podman.program import CLEAN_ENVIRON, Podman, Version, parse_package, parse_version, podman
from skyrl_doctor.machine import queries as q
from skyrl_doctor.machine.recorded import RecordedMachine
from skyrl_doctor.plan.model import Plan


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
    assert (Podman("/usr/bin/podman", (4, 3, 1)).label, Podman("/p", None).label) == (
        "Podman 4.3.1",
        "Podman of an unknown version",
    )


DPKG = "run dpkg-query --show --showformat '${Version}' podman"
RPM = "run rpm --query --queryformat '%{VERSION}' podman"
LOGIN = Roles(frozenset({Role.LOGIN}), asked=True)
RUNTIME = Roles(frozenset({Role.LOGIN, Role.RUNTIME}), asked=False)
PLAIN = Plan(("run.sh",), "verl")
FOUND = {"which podman": "/usr/bin/podman"}


def answered(**fields: object) -> dict[str, object]:
    return {"command": "podman", "rc": 0, "out": [], "err": [], **fields}


def asked(answers: dict[str, object]) -> Podman:
    found = podman(RecordedMachine(answers, strict=True), Plan(), LOGIN)
    assert isinstance(found, Podman)
    return found


def test_without_podman_nothing_applies() -> None:
    with pytest.raises(NotApplicable, match=r"^podman is not installed here$"):
        asked({"which podman": {"value": None}})


def test_a_run_without_sandboxes_needs_podman_only_where_it_is_asked_for() -> None:
    machine = RecordedMachine({"which podman": {"value": None}}, strict=True)
    with pytest.raises(NotApplicable, match=r"^the configuration has no agent with tasks in sandboxes$"):
        podman(machine, PLAIN, RUNTIME)
    with pytest.raises(NotApplicable, match=r"^podman is not installed here$"):
        podman(machine, PLAIN, Roles(frozenset({Role.RUNTIME}), asked=True))


def test_podman_tells_its_version() -> None:
    said = {"run podman --version": answered(out=["podman version 4.3.1", ""])}
    assert asked({**FOUND, **said}) == Podman("/usr/bin/podman", (4, 3, 1))


def test_the_package_manager_tells_where_podman_does_not() -> None:
    hung = {"run podman --version": answered(rc=None, timed_out=True)}
    absent = answered(command="dpkg-query", found=False)
    why = "podman: timed out after 2 s"
    assert asked({**FOUND, **hung, DPKG: answered(out="5.4.2+ds1-2")}) == Podman("/usr/bin/podman", (5, 4, 2), why)
    assert asked({**FOUND, **hung, DPKG: absent, RPM: answered(out="4:4.9.4")}).version == (4, 9, 4)
    assert asked({**FOUND, **hung, DPKG: absent, RPM: answered(rc=1)}) == Podman("/usr/bin/podman", None, why)


def test_of_another_podman_the_package_manager_knows_nothing() -> None:
    garbage = {"which podman": "/opt/podman", "run podman --version": answered(out=["who knows"])}
    assert asked(garbage) == Podman("/opt/podman", None, "podman --version printed 'who knows'")


class Environments(RecordedMachine):
    """Keeps the environments that commands are given."""

    def __init__(self) -> None:
        super().__init__({**FOUND, "run podman --version": answered(out="podman version 4.3.1")}, strict=True)
        self.given: list[object] = []

    def run(self, argv: Sequence[str], *, limit_s: float, env: Mapping[str, str | None] | None = None) -> q.Completed:
        self.given.append(env)
        return super().run(argv, limit_s=limit_s, env=env)


def test_it_is_asked_in_an_environment_in_which_it_leaves_no_trace() -> None:
    """Seen of podman 4.3.1: else it makes and changes directories below XDG_RUNTIME_DIR."""
    machine = Environments()
    podman(machine, Plan(), LOGIN)
    assert machine.given == [CLEAN_ENVIRON]
    assert (CLEAN_ENVIRON["XDG_RUNTIME_DIR"], CLEAN_ENVIRON["_CONTAINERS_ROOTLESS_UID"]) == (None, "0")
