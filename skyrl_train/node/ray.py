"""Variables that decide which Ray cluster a driver joins, and how Ray starts its workers."""

import os
from collections.abc import Mapping, Sequence

from skyrl_train.node.ray_tmp import RAY_VARIABLE, ray_socket, short_directory
from skyrl_train.node.settings import Directory, Preparation, Setting

ADDRESS = "RAY_ADDRESS"
OWN_CLUSTER = "local"
"""As an address: Ray looks for no cluster and starts a new one."""
UV_SWITCH = "RAY_ENABLE_UV_RUN_RUNTIME_ENV"
HOOK = "RAY_RUNTIME_ENV_HOOK"
UV_HOOK = "uv_runtime_env_hook"
"""Ray's module that does the same if HOOK names it, even if UV_SWITCH is off."""
DEFAULT_PORT = 6379
"""The port of `ray start --head` without --port."""
CLIENT_PORT = 10001
"""The port of Ray's client server. If that server ends, `ray start --block` ends the whole head."""
_FIRST_PORT = 20000
_PORTS = 10000


def starts_own_cluster(environ: Mapping[str, str]) -> bool:
    """Whether RAY_ADDRESS keeps ray.init() from looking for a cluster to join."""
    return environ.get(ADDRESS) == OWN_CLUSTER


def address_file(environ: Mapping[str, str]) -> str:
    """The file to which `ray start` writes its address and from which ray.init() reads one."""
    return os.path.join(ray_socket(environ).base, "ray", "ray_current_cluster")


def head_port(job_id: str) -> int:
    """A port for `ray start --head --port` that another job on this node is unlikely to use.

    It is below Linux's ephemeral ports and above the ports of Ray's workers.
    """
    return _FIRST_PORT + int("".join(filter(str.isdecimal, job_id)) or "0") % _PORTS


def uv_hook_is_on(environ: Mapping[str, str]) -> bool:
    """Whether the hook is on, as Ray 2.47 and later read it: unset is on; otherwise only 1 and true are on."""
    value = environ.get(UV_SWITCH)
    return value is None or is_true(value) or UV_HOOK in environ.get(HOOK, "")


def is_true(value: str) -> bool:
    return value.lower() in ("1", "true")


def is_uv_run(argv: Sequence[str]) -> bool:
    """Whether Ray recognises a command as `uv run`: the program is uv and its first argument is run."""
    return len(argv) > 1 and os.path.basename(argv[0]) == "uv" and argv[1] == "run"


def ray_settings(environ: Mapping[str, str], *, uid: int, job_id: str | None) -> Preparation:
    """Settings for a private cluster of this job, whose workers use the driver's interpreter unchanged."""
    return _own_cluster(environ) + _own_directory(environ, uid=uid, job_id=job_id) + _without_uv(environ)


def _own_cluster(environ: Mapping[str, str]) -> Preparation:
    if not environ.get(ADDRESS) or starts_own_cluster(environ):
        return Preparation()
    why = "ray.init() would join that cluster instead of starting a new one for this job"
    return Preparation(settings=(Setting(name=ADDRESS, value=None, cures="ENV009", why=why),))  # FIX(ENV009)


def _own_directory(environ: Mapping[str, str], *, uid: int, job_id: str | None) -> Preparation:
    """The setting of a private directory, since a shared one may hold the address of another job's cluster."""
    if not job_id or environ.get(RAY_VARIABLE) or job_id in ray_socket(environ).base:
        return Preparation()
    directory = short_directory(uid=uid, job_id=job_id)
    why = f"{address_file(environ)} may name the cluster of another job"
    return Preparation(
        settings=(Setting(name=RAY_VARIABLE, value=directory, cures="ENV009", why=why),),  # FIX(ENV009)
        directories=(Directory(path=directory),),
    )


def _without_uv(environ: Mapping[str, str]) -> Preparation:
    if not uv_hook_is_on(environ):
        return Preparation()
    why = "under `uv run`, Ray would build the environment again for every worker"
    settings = [Setting(name=UV_SWITCH, value="0", cures="ENV003", why=why)]  # FIX(ENV003)
    if UV_HOOK in environ.get(HOOK, ""):
        settings.append(Setting(name=HOOK, value=None, cures="ENV003", why="it turns on the same hook"))
    return Preparation(settings=tuple(settings))
