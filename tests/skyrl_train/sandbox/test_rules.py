"""The small rules of the sandboxes: the C library, the time to be ready, bash, the user, and where images come from."""

import pytest

from skyrl_train.contracts.sandbox.glibc import AGENT_SERVER_BUILDER, MUSL, System, render_glibc, runs_on, system_of
from skyrl_train.contracts.sandbox.image_user import Owner, may_write, user_of
from skyrl_train.contracts.sandbox.ready import ready_violations
from skyrl_train.contracts.sandbox.references import parse_reference
from skyrl_train.contracts.sandbox.shell import bash_only, in_bash
from skyrl_train.contracts.sandbox.supply import archive_of, pulls_beyond_quota
from skyrl_train.contracts.violation import Violation


@pytest.mark.parametrize(
    ("text", "system", "runs"),
    [
        (
            'PRETTY_NAME="Ubuntu 22.04.4 LTS"\nID=ubuntu\nVERSION_ID="22.04"\n',
            System(name="Ubuntu 22.04.4 LTS", glibc=(2, 35)),
            False,
        ),
        ('ID=debian\nVERSION_ID="12"\n', System(name="debian 12", glibc=(2, 36)), True),
        ("ID='rocky'\nVERSION_ID='9.4'\n", System(name="rocky 9.4", glibc=(2, 34)), False),
        ("ID=alpine\nVERSION_ID=3.20.1\n", System(name="alpine 3.20.1", glibc=MUSL), False),
        ("ID=debian\nVERSION_ID=99\n", System(name="debian 99", glibc=None), None),
        ("", System(name="an unnamed system", glibc=None), None),
    ],
)
def test_the_c_library_of_an_image(text: str, system: System, runs: bool | None) -> None:
    assert (system_of(text), runs_on(AGENT_SERVER_BUILDER, system)) == (system, runs)


def test_libraries_in_words() -> None:
    assert [render_glibc(MUSL), render_glibc((2, 31))] == ["musl, and no glibc", "glibc 2.31"]


def test_time_to_be_ready() -> None:
    assert list(ready_violations(limit_s=600, absent=True, built=True)) == []
    assert list(ready_violations(limit_s=30, absent=False, built=False)) == []
    assert list(ready_violations(limit_s=60, absent=True, built=True)) == [
        Violation(
            key="sandbox.ready_timeout_s",
            message=(
                "sandboxes get 60 s to start; expected at least 450 s (30 s to start, 120 s to pull, 300 s to build)"
            ),
            settings={"sandbox.ready_timeout_s": "450"},
        )
    ]
    assert [found.fatal for found in ready_violations(limit_s=100, absent=True, built=False)] == [False]
    assert [found.fatal for found in ready_violations(limit_s=29, absent=False, built=False)] == [True]


@pytest.mark.parametrize(
    ("script", "found"),
    [
        ("source /root/.venv/bin/activate && pytest", ("source",)),
        ("cd /testbed; if true; then source x; fi", ("source",)),
        ("[[ -d /r2e_tests ]] && ls", ("[[ ]]",)),
        ("files=(a b)\necho ${files[@]}", ("an array",)),
        ('echo "${files[0]}"', ("an array",)),
        ("diff <(ls a) <(ls b)", ("<( )",)),
        ("set -euo pipefail", ("pipefail",)),
        ("make &> log", ("&>",)),
        ("cat <<< x", ("<<<",)),
        ("function f { :; }", ("function NAME",)),
        ("for i in {1..9}; do :; done", ("{1..9}",)),
        ("printf $'a\\n'", ("$'…'",)),
        (". /root/.venv/bin/activate && [ -d x ] && ls 2>&1", ()),
        ("echo 'source x' \"[[ a ]]\" # source y", ()),
        ("grep -r source src; ls open-source", ()),
        ("cat <<EOF\nsource x\nEOF\n", ()),
        ("#!/bin/bash\nsource x", ()),
        ("/bin/bash script.sh", ()),
        ("bash -c 'source x'", ()),
        ("python -c 'a[[0]]'", ()),
        ("", ()),
    ],
)
def test_what_only_bash_understands(script: str, found: tuple[str, ...]) -> None:
    assert bash_only(script) == found


def test_a_script_goes_to_bash_whole() -> None:
    assert in_bash("source x; echo 'a b'") == "/bin/bash -c 'source x; echo '\"'\"'a b'\"'\"''"
    assert bash_only(in_bash("source x")) == ()


def test_who_may_write() -> None:
    roots, its_own = Owner(path="/testbed", uid=0, gid=0, mode=0o755), Owner(path="/w", uid=10001, gid=1, mode=0o700)
    open_ = Owner(path="/tmp", uid=0, gid=0, mode=0o1777)
    group = Owner(path="/g", uid=0, gid=10001, mode=0o775)
    assert [may_write(10001, owner) for owner in (roots, its_own, open_, group)] == [False, True, True, True]
    assert may_write(0, its_own)
    assert [user_of(name, as_root=False) for name in ("", "root", "0:0", "openhands", "10001:10001")] == [
        *("0", "0", "0"),
        *("openhands", "10001"),
    ]
    assert user_of("openhands", as_root=True) == "0"


def test_archives_are_found_by_the_reference() -> None:
    names = {"docker.io_a_bc_1.tar", "library_ubuntu_latest.tar.gz", "x.tar"}
    found = [archive_of(parse_reference(name), names) for name in ("a/bc:1", "ubuntu", "a/bc:2")]
    assert found == ["docker.io_a_bc_1.tar", "library_ubuntu_latest.tar.gz", None]


def test_the_quota_of_a_registry() -> None:
    hub = [parse_reference(f"a/image{number}:1") for number in range(105)]
    elsewhere = [parse_reference(f"ghcr.io/a/image{number}:1") for number in range(105)]
    assert pulls_beyond_quota([*hub, *hub, *elsewhere], logins=()) == 5
    assert pulls_beyond_quota(hub, logins=("https://index.docker.io/v1/",)) == 0
    assert pulls_beyond_quota(hub[:100], logins=()) == 0
