"""POD003 and POD008 against real podman: a user without subordinate ids, and a node without podman's helpers."""

import io
import os
import pwd
import shutil
import subprocess
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from lanes.podman.conftest import LANE_USER, NewLab, change_users
from lanes.podman.lab import IMAGE, Lab, User
from skyrl_doctor.core.model import Outcome, RemedyKind, Severity, Status
from skyrl_doctor.facts.host import Roles
from skyrl_doctor.facts.podman.program import podman
from skyrl_doctor.machine.local import LocalMachine
from skyrl_doctor.plan.model import Plan

pytestmark = pytest.mark.podman
NO_RANGE_USER = f"{LANE_USER}-bare"
IDS_CLEAN = Outcome(id="POD003", slug="no-subuid-range", status=Status.PASS)
HELPERS_CLEAN = Outcome(id="POD008", slug="network-helper-missing", status=Status.PASS)


@pytest.fixture
def bare(new_lab: NewLab) -> Iterator[Lab]:
    """A store of a user that has no subordinate ids, as users of a directory service have none."""
    if os.getuid() != 0:
        pytest.skip("needs root, to make a user without subordinate ids")
    change_users("useradd", "--create-home", NO_RANGE_USER)
    entry = pwd.getpwnam(NO_RANGE_USER)
    for option, file in (("--del-subuids", Path("/etc/subuid")), ("--del-subgids", Path("/etc/subgid"))):
        for first, count in (map(int, line.split(":")[1:]) for line in lines_of(NO_RANGE_USER, file)):
            change_users(
                "usermod", option, f"{first}-{first + count - 1}", NO_RANGE_USER
            )  # others read these files now
        assert lines_of(NO_RANGE_USER, file) == []
    lab = new_lab(user=User(entry.pw_name, entry.pw_uid, entry.pw_gid))
    yield lab
    lab.close()
    change_users("userdel", "--remove", NO_RANGE_USER)


def lines_of(user: str, file: Path) -> list[str]:
    return [line for line in file.read_text().splitlines() if line.startswith(f"{user}:")]


def image_of_another_user(path: Path) -> Path:
    """A root file system with one file of uid 10001, as agent images have."""
    with tarfile.open(path, "w") as archive:
        entry = tarfile.TarInfo("home/agent")
        entry.uid = entry.gid = 10001
        archive.addfile(entry, io.BytesIO())
    path.chmod(0o644)
    return path


def test_a_user_without_subordinate_ids_cannot_unpack_images(bare: Lab) -> None:
    archive = str(image_of_another_user(bare.base / "rootfs.tar"))
    found = bare.doctor("POD003")
    assert [(finding.message, finding.severity) for finding in found.findings] == [
        (f"{file} gives {NO_RANGE_USER!r} no range; expected 65536 ids", Severity.ERROR)
        for file in ("/etc/subuid", "/etc/subgid")
    ]
    refused = bare.podman("import", archive, "agent")
    assert (refused.returncode != 0, "insufficient UIDs or GIDs" in refused.stdout) == (True, True)
    remedies = {finding.remedy.commands for finding in found.findings if finding.remedy}
    assert len(remedies) == 1
    (command,) = remedies.pop()
    subprocess.run(["bash", "-c", command], check=True)
    bare.kill_all()
    accepted = bare.podman("import", archive, "agent")
    assert (accepted.returncode, bare.doctor("POD003")) == (0, IDS_CLEAN)


def with_path(lab: Lab, *commands: str) -> Lab:
    """A node that has these commands and no others."""
    directory = lab.base / "bin"
    directory.mkdir(mode=0o755)
    for name in commands:
        path = shutil.which(name, path=lab.env["PATH"])
        assert path is not None, name
        (directory / name).symlink_to(path)
    return lab.but(PATH=str(directory))


def network_program(lab: Lab) -> str:
    found = lab.child(lambda: podman(LocalMachine(lab.env), Plan(), Roles(frozenset(), asked=False)))
    return "pasta" if found.major >= 5 else "slirp4netns"


def test_a_node_without_the_network_program_starts_no_container(lab: Lab) -> None:
    if 'netns = "host"' in (lab.base / "containers.conf").read_text():
        pytest.skip("/dev/net/tun cannot be used here")
    program = network_program(lab)
    node = with_path(lab, "podman", "newuidmap", "newgidmap")
    (finding,) = node.doctor("POD008").findings
    assert finding.message.startswith(f"{program} was not found (looked in ")
    assert (finding.severity, finding.remedy and finding.remedy.kind) == (Severity.ERROR, RemedyKind.ASK_ADMIN)
    refused = node.podman("run", "--rm", "--pull=never", IMAGE, "true")
    assert (refused.returncode != 0, f"could not find {program}" in refused.stdout) == (True, True)
    (lab.base / "bin" / program).symlink_to(shutil.which(program) or "")
    assert (node.podman("run", "--rm", "--pull=never", IMAGE, "true").returncode, node.doctor("POD008")) == (
        0,
        HELPERS_CLEAN,
    )


def test_a_mount_program_that_is_not_there_is_found(lab: Lab) -> None:
    user_conf = Path(lab.env["XDG_CONFIG_HOME"]) / "containers" / "storage.conf"
    user_conf.parent.mkdir(exist_ok=True)
    whole = lab.storage_conf.read_text()
    user_conf.write_text(f'{whole}[storage.options.overlay]\nmount_program = "/nowhere/fuse-overlayfs"\n')
    node = lab.but(CONTAINERS_STORAGE_CONF=None)
    assert [finding.message for finding in node.doctor("POD008").findings] == [
        f"mount_program = '/nowhere/fuse-overlayfs' in {user_conf} is not a program; expected one, or no such key"
    ]
    assert node.sandbox().returncode == 125
    user_conf.write_text(whole)
    assert (node.sandbox().returncode, node.doctor("POD008")) == (0, HELPERS_CLEAN)


def test_an_oci_runtime_that_is_not_there_is_found(lab: Lab) -> None:
    conf = lab.base / "containers.conf"
    whole = conf.read_text()
    lines = [line for line in whole.splitlines() if not line.startswith("runtime")]
    conf.write_text("\n".join([*lines, 'runtime = "/nowhere/crun"', ""]))
    assert [finding.message for finding in lab.doctor("POD008").findings] == [
        "/nowhere/crun was not found; expected it, because it starts the container"
    ]
    assert lab.sandbox().returncode != 0
    conf.write_text(whole)
    assert (lab.sandbox().returncode, lab.doctor("POD008")) == (0, HELPERS_CLEAN)
