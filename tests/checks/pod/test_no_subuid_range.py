"""POD003."""

from dataclasses import replace

import pytest

from checks.pod.no_subuid_range import no_subuid_range
from skyrl_doctor.core.errors import CouldNotLook
from skyrl_doctor.core.model import Finding, Location, Outcome, Remedy, RemedyKind, Role, Severity, Status
from skyrl_doctor.facts.podman.subids import IdFile, MapTool, Range, SubIds
from skyrl_doctor.machine.queries import Stat
from support import judge

SET_ID = Stat(kind="file", mode=0o4755, uid=0, gid=0, size=1, mtime=0.0, device=1, inode=1)
PLAIN = replace(SET_ID, mode=0o755)
TOOLS = tuple(MapTool(name=name, path=f"/usr/bin/{name}", stat=SET_ID) for name in ("newuidmap", "newgidmap"))
RANGE = (Range(200000, 65536),)
IDS = SubIds(
    user="me",
    uid=1000,
    gid=100,
    looked_up="me",
    uids=IdFile(source="/etc/subuid", ranges=RANGE),
    gids=IdFile(source="/etc/subgid", ranges=RANGE),
    tools=TOOLS,
    ignore_chown_errors=False,
)


def ask(first: int = 100000, user: str = "me") -> Remedy:
    span = f"{first}-{first + 65535}"
    return Remedy(
        kind=RemedyKind.ASK_ADMIN,
        summary="ask for a range on every sandbox node; as root, and podman system migrate as the user",
        commands=(f"usermod --add-subuids {span} --add-subgids {span} {user}",),
    )


def package() -> Remedy:
    return Remedy(kind=RemedyKind.ASK_ADMIN, summary="ask for the package: uidmap on Debian, shadow-utils on Red Hat")


def judged(ids: SubIds) -> list[Finding]:
    return list(no_subuid_range(ids))


def test_is_silent_with_ranges_and_tools() -> None:
    assert judged(IDS) == []
    capable = tuple(replace(tool, stat=PLAIN, capable=True) for tool in TOOLS)
    assert judged(replace(IDS, tools=capable)) == []


def test_finds_a_user_without_a_range() -> None:
    none = replace(IDS, uids=IdFile(source="/etc/subuid", free_from=300000))
    assert judged(none) == [
        Finding(
            message="/etc/subuid gives 'me' no range; wanted 65536 ids",
            location=Location("/etc/subuid"),
            remedy=ask(300000),
        )
    ]
    (lenient,) = judged(replace(none, ignore_chown_errors=True))
    assert lenient.severity is Severity.WARNING
    (missing,) = judged(replace(IDS, gids=IdFile(source="/etc/subgid", exists=False)))
    assert missing.message == "/etc/subgid does not exist; wanted 65536 ids"


def test_finds_a_range_that_is_too_small() -> None:
    assert judged(replace(IDS, uids=IdFile(source="/etc/subuid", ranges=(Range(200000, 1000), Range(1, 5))))) == [
        Finding(
            message="/etc/subuid gives 'me' 1005 ids; wanted 65536 ids",
            location=Location("/etc/subuid"),
            severity=Severity.WARNING,
            remedy=ask(),
        )
    ]


def test_says_that_podman_looks_for_another_name() -> None:
    wrong = replace(IDS, looked_up="root", uids=IdFile(source="getsubids root (sss)"))
    (found,) = judged(wrong)
    assert (found.message, found.location) == (
        "getsubids root (sss) gives 'root' ($USER; the user is 'me') no range; wanted 65536 ids",
        None,
    )


def test_finds_a_line_that_spoils_the_file() -> None:
    spoilt = replace(IDS, uids=IdFile(source="/etc/subuid", ranges=RANGE, broken_lines=("me:1",)))
    assert judged(spoilt) == [
        Finding(
            message=(
                "/etc/subuid has a line 'me:1'; wanted name:first:count: some builds of Podman refuse the whole file"
            ),
            location=Location("/etc/subuid"),
            severity=Severity.WARNING,
            remedy=Remedy(kind=RemedyKind.ASK_ADMIN, summary="have the line mended"),
        )
    ]


def test_finds_a_range_that_holds_the_user_himself() -> None:
    (found,) = judged(replace(IDS, gids=IdFile(source="/etc/subgid", ranges=(Range(0, 70000),))))
    assert found.message == "/etc/subgid gives 'me' a range that holds his own id 100; wanted one without it"


def test_finds_tools_that_cannot_map() -> None:
    absent = MapTool(name="newuidmap", path=None)
    weak = MapTool(name="newgidmap", path="/usr/bin/newgidmap", stat=PLAIN, capable=False)
    nosuid = replace(TOOLS[0], nosuid=True)
    assert judged(replace(IDS, tools=(absent, weak, nosuid))) == [
        Finding(message="newuidmap is not on PATH; wanted: it maps the ids", remedy=package()),
        Finding(
            message=(
                "/usr/bin/newgidmap is neither setuid root (mode 0755) nor has its file capability; wanted one of them"
            ),
            remedy=package(),
        ),
        Finding(
            message=(
                "/usr/bin/newuidmap is on a file system that is mounted nosuid; wanted one where it may change its user"
            ),
            remedy=package(),
        ),
    ]


def test_a_capability_that_nobody_tells_is_unknown() -> None:
    unsure = replace(IDS, tools=(replace(TOOLS[0], stat=PLAIN),))
    with pytest.raises(CouldNotLook) as reason:
        judged(unsure)
    assert str(reason.value) == (
        "/usr/bin/newuidmap is not setuid root; whether it has a file capability instead only getcap tells, "
        "and getcap is not here"
    )
    assert len(judged(replace(unsure, uids=IdFile(source="/etc/subuid")))) == 1


def test_finds_a_kernel_without_user_namespaces() -> None:
    assert judged(replace(IDS, forbidden="/proc/sys/user/max_user_namespaces is 0")) == [
        Finding(
            message=(
                "/proc/sys/user/max_user_namespaces is 0, so no user can make a user namespace; wanted a number above 0"
            ),
            remedy=Remedy(kind=RemedyKind.ASK_ADMIN, summary="ask for user namespaces on the sandbox nodes"),
        )
    ]


def test_reproduces_on_a_recording() -> None:
    assert judge("POD003", "no_subuid_range", role=Role.RUNTIME) == Outcome(
        id="POD003",
        slug="no-subuid-range",
        status=Status.FAIL,
        findings=tuple(
            Finding(
                message=f"{file} gives 'trainer' no range; wanted 65536 ids",
                location=Location(file),
                remedy=ask(165536, "trainer"),
            )
            for file in ("/etc/subuid", "/etc/subgid")
        ),
    )


def test_silent_on_the_clean_machine() -> None:
    assert judge("POD003", "clean_runtime_node", role=Role.RUNTIME) == Outcome(
        id="POD003", slug="no-subuid-range", status=Status.PASS
    )
