"""What a machine is taken for."""

import pytest

from skyrl_doctor.core.model import Role
from skyrl_doctor.facts.host import Roles
from skyrl_doctor.machine.recorded import RecordedMachine
from skyrl_doctor.roles import guess_roles, roles_of

ABSENT = {
    "stat /dev/nvidiactl": {"absent": "/dev/nvidiactl"},
    "stat /proc/driver/nvidia/version": {"absent": "/proc/driver/nvidia/version"},
}
PODMAN = {"which podman": "/usr/bin/podman"}
NO_PODMAN = {"which podman": {"value": None}}


@pytest.mark.parametrize(
    ("environ", "has_gpu", "has_podman", "roles"),
    [
        ({}, False, False, {Role.LOGIN}),
        ({}, False, True, {Role.LOGIN, Role.RUNTIME}),
        ({}, True, False, {Role.LOGIN, Role.GPU}),
        ({"SLURM_JOB_ID": "1"}, True, True, {Role.GPU}),
        ({"SLURM_JOB_ID": "1"}, False, True, {Role.RUNTIME}),
        ({"SLURM_JOB_ID": "1"}, False, False, {Role.RUNTIME}),
        ({"SLURM_JOB_ID": ""}, False, False, {Role.LOGIN}),
    ],
)
def test_by_what_is_there(environ: dict[str, str], has_gpu: bool, has_podman: bool, roles: set[Role]) -> None:
    assert roles_of(environ, has_gpu=has_gpu, has_podman=has_podman) == roles


@pytest.mark.parametrize("sign", ["/dev/nvidiactl", "/proc/driver/nvidia/version"])
def test_a_driver_makes_a_gpu_node(sign: str) -> None:
    stat = {"kind": "char", "mode": 438, "uid": 0, "gid": 0, "size": 0, "mtime": 0.0, "device": 1, "inode": 1}
    machine = RecordedMachine(
        {"environ": {"SLURM_JOB_ID": "1"}, **ABSENT, f"stat {sign}": stat, **NO_PODMAN}, strict=True
    )
    assert guess_roles(machine) == Roles(frozenset({Role.GPU}), asked=False)


def test_a_list_of_devices_makes_a_gpu_node_even_where_no_driver_is() -> None:
    machine = RecordedMachine(
        {"environ": {"CUDA_VISIBLE_DEVICES": "", "SLURM_JOB_ID": "1"}, **ABSENT, **PODMAN}, strict=True
    )
    assert guess_roles(machine).roles == {Role.GPU}


def test_nothing_makes_a_place_to_launch_from() -> None:
    assert guess_roles(RecordedMachine({"environ": {}, **ABSENT, **NO_PODMAN}, strict=True)).roles == {Role.LOGIN}
