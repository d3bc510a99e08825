"""POD008."""

from dataclasses import replace
from typing import Any

import pytest

from checks.pod.network_helper_missing import network_helper_missing
from fakes.podman_store import store
from skyrl_doctor.core.errors import CouldNotLook
from skyrl_doctor.core.model import Finding, Outcome, Remedy, RemedyKind, Role, Severity, Status
from skyrl_doctor.facts.podman.helpers import HELPER_DIRS, Device, PodmanHelpers
from skyrl_doctor.facts.podman.program import Podman
from skyrl_doctor.facts.podman.settings import EngineConf, StorageConf
from support import judge

FOUR, FIVE = Podman("/usr/bin/podman", (4, 3, 1)), Podman("/usr/bin/podman", (5, 4, 2))
UNKNOWN = Podman("/usr/bin/podman", None, "podman: timed out after 2 s")
ALL = ("pasta", "slirp4netns", "netavark", "aardvark-dns", "fuse-overlayfs", "conmon", "runtime")
TUN, FUSE = (Device(path=path, kind="char", writable=True) for path in ("/dev/net/tun", "/dev/fuse"))
LOOKED = f" (looked in {', '.join(HELPER_DIRS)} and on PATH)"


def helpers(*missing: str, kernel: str = "6.1.0", **changes: Any) -> PodmanHelpers:
    whole = PodmanHelpers(
        found={name: None if name in missing else f"/usr/bin/{name}" for name in ALL},
        searched=HELPER_DIRS,
        tun=TUN,
        fuse=FUSE,
        mount_program_found=True,
        kernel=kernel,
    )
    return replace(whole, **changes)


def judged(podman: Podman, found: PodmanHelpers, **changes: Any) -> list[Finding]:
    return list(network_helper_missing(podman, store(**changes), found))


def ask(package: str) -> Remedy:
    return Remedy(kind=RemedyKind.ASK_ADMIN, summary=f"ask for the package {package} on every sandbox node")


def network(podman: Podman, program: str) -> str:
    return f"{program} was not found{LOOKED}; expected it, because {podman.label} uses it for the network of rootless containers"


@pytest.mark.parametrize("podman", [FOUR, FIVE])
def test_is_silent_where_all_is_there(podman: Podman) -> None:
    assert judged(podman, helpers()) == []


def test_each_version_wants_its_own_network_program() -> None:
    assert judged(FOUR, helpers("slirp4netns")) == [
        Finding(message=network(FOUR, "slirp4netns"), remedy=ask("slirp4netns"))
    ]
    assert judged(FOUR, helpers("pasta", "netavark")) == []
    assert judged(FIVE, helpers("pasta", "slirp4netns")) == [
        Finding(message=network(FIVE, "pasta"), remedy=ask("passt"))
    ]


def test_podman_5_takes_the_other_program_where_it_is_told() -> None:
    assert judged(FIVE, helpers("pasta")) == [
        Finding(
            message=f"{network(FIVE, 'pasta')}; slirp4netns is installed",
            remedy=Remedy(
                kind=RemedyKind.FIX_CONFIG,
                summary="let Podman use slirp4netns: in containers.conf, under [network]",
                settings={"default_rootless_network_cmd": "slirp4netns"},
            ),
        )
    ]
    told = EngineConf(rootless_network_cmd="slirp4netns")
    assert judged(FIVE, helpers("pasta"), engine=told) == []
    assert [finding.message for finding in judged(FIVE, helpers("slirp4netns"), engine=told)] == [
        f"{network(FIVE, 'slirp4netns')}; pasta is installed"
    ]


def test_a_container_in_the_host_s_network_needs_none() -> None:
    for netns in ("host", "none"):
        assert judged(FIVE, helpers("pasta"), engine=EngineConf(netns=netns)) == []
    assert len(judged(FIVE, helpers("slirp4netns"), engine=EngineConf(netns="slirp4netns:mtu=1500"))) == 1


def test_finds_what_every_container_needs() -> None:
    assert judged(FIVE, helpers("conmon", "runtime", "netavark")) == [
        Finding(message="conmon was not found; expected it, because it monitors each container", remedy=ask("conmon")),
        Finding(
            message="neither crun nor runc was found; expected one of them, because it starts the container",
            remedy=ask("crun"),
        ),
        Finding(
            message=f"netavark was not found{LOOKED}; expected it, because Podman 5.4.2 has no other network backend",
            remedy=ask("netavark"),
        ),
    ]
    (found,) = judged(FOUR, helpers("runtime"), engine=EngineConf(runtime="/opt/crun"))
    assert found.message == "/opt/crun was not found; expected it, because it starts the container"


@pytest.mark.parametrize(
    ("kind", "seen", "commands"),
    [
        ("", "does not exist", ()),
        ("file", "is a file", ()),
        ("char", "cannot be opened for writing", ("chmod 666 /dev/net/tun",)),
    ],
)
def test_finds_a_tun_device_that_cannot_be_used(kind: str, seen: str, commands: tuple[str, ...]) -> None:
    broken = helpers(tun=Device(path="/dev/net/tun", kind=kind, writable=kind == "file"))
    assert judged(FOUR, broken) == [
        Finding(
            message=f"/dev/net/tun {seen}; expected a device that every user can open, because slirp4netns opens it",
            remedy=Remedy(
                kind=RemedyKind.ASK_ADMIN,
                summary="ask for the device on every sandbox node"
                + ("; root can run this command" if commands else ""),
                commands=commands,
            ),
        )
    ]


def test_finds_a_mount_program_that_is_none() -> None:
    conf = StorageConf(path="/s.conf", driver="overlay", mount_program="/nowhere")
    assert judged(FOUR, helpers(mount_program_found=False), storage=conf) == [
        Finding(
            message="mount_program = '/nowhere' in /s.conf is not a program; expected one, or no such key",
            remedy=Remedy(kind=RemedyKind.FIX_CONFIG, summary="remove the key if the kernel is 5.11 or later"),
        )
    ]
    closed = helpers(fuse=Device(path="/dev/fuse", kind="", writable=False))
    assert [finding.message for finding in judged(FOUR, closed, storage=conf)] == [
        "/dev/fuse does not exist; expected a device that every user can open, because fuse-overlayfs opens it"
    ]
    assert judged(FOUR, closed) == []


@pytest.mark.parametrize("uid", [0, 1000])
def test_crun_starts_nothing_where_both_versions_of_control_groups_have_controllers(uid: int) -> None:
    both = helpers(second_controllers=("hugetlb", "misc"))
    assert judged(FOUR, both, uid=uid) == []  # /usr/bin/runtime is not crun
    crun = replace(both, found={**both.found, "runtime": "/usr/bin/crun"})
    assert judged(FOUR, crun, uid=uid) == [
        Finding(
            message="version 2 of the control groups has the controllers hugetlb, misc, and version 1 has others; expected none, because crun then starts no container",
            remedy=Remedy(
                kind=RemedyKind.FIX_CONFIG,
                summary="let Podman use runc, if it is installed: in containers.conf, under [engine]; otherwise use another node",
                settings={"runtime": "runc"},
            ),
            severity=Severity.WARNING,
        )
    ]
    assert judged(FOUR, replace(crun, second_controllers=()), uid=uid) == []


def test_an_old_kernel_needs_fuse_overlayfs() -> None:
    old = "4.18.0-305.el8.x86_64"
    assert judged(FOUR, helpers(kernel=old)) == []
    assert judged(FOUR, helpers("fuse-overlayfs", kernel=old)) == [
        Finding(
            message=f"fuse-overlayfs was not found; expected it, because Linux {old} mounts no overlay for an ordinary user",
            remedy=ask("fuse-overlayfs"),
        )
    ]
    assert judged(FOUR, helpers("fuse-overlayfs", kernel=old), uid=0) == []


def test_an_unknown_version_is_unknown_unless_something_is_missing_for_sure() -> None:
    with pytest.raises(CouldNotLook) as reason:
        judged(UNKNOWN, helpers())
    assert str(reason.value) == ("Podman's version decides which helpers it needs, and podman: timed out after 2 s")
    assert len(judged(UNKNOWN, helpers("conmon"))) == 1


def test_reproduces_on_a_recording() -> None:
    assert judge("POD008", "no_network_program", role=Role.RUNTIME) == Outcome(
        id="POD008",
        slug="network-helper-missing",
        status=Status.FAIL,
        findings=(Finding(message=network(FOUR, "slirp4netns"), remedy=ask("slirp4netns")),),
    )


def test_silent_on_the_clean_machine() -> None:
    assert judge("POD008", "clean_runtime_node", role=Role.RUNTIME) == Outcome(
        id="POD008", slug="network-helper-missing", status=Status.PASS
    )
