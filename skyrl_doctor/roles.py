"""Guesses the role of a machine: GPU node, runtime node or login node."""

from collections.abc import Mapping

from skyrl_doctor.core.model import Role
from skyrl_doctor.facts.host import Roles
from skyrl_doctor.machine.base import Machine

_GPU_SIGNS = ("/dev/nvidiactl", "/proc/driver/nvidia/version")


def guess_roles(machine: Machine) -> Roles:
    """Guesses from GPUs, the Slurm job and Podman. A machine may have several roles."""
    environ = machine.environ()
    has_gpu = "CUDA_VISIBLE_DEVICES" in environ or any(machine.exists(path) for path in _GPU_SIGNS)
    has_podman = machine.which("podman") is not None
    return Roles(frozenset(roles_of(environ, has_gpu=has_gpu, has_podman=has_podman)), asked=False)


def roles_of(environ: Mapping[str, str], *, has_gpu: bool, has_podman: bool) -> set[Role]:
    """Inside a job: gpu or runtime. Outside: login, plus gpu with a GPU, plus runtime with Podman."""
    if environ.get("SLURM_JOB_ID"):
        return {Role.GPU} if has_gpu else {Role.RUNTIME}
    found = {Role.LOGIN}
    if has_gpu:
        found.add(Role.GPU)
    if has_podman:
        found.add(Role.RUNTIME)
    return found
