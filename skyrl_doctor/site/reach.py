"""Checks whether every user can read and start the scripts, and whether sh can read their settings."""

import posixpath
from collections.abc import Iterator

from skyrl_doctor.core.errors import CouldNotLook
from skyrl_doctor.core.record import record
from skyrl_doctor.machine.base import Absent, Machine
from skyrl_doctor.site.result import Result, failed, passed, skipped, unknown
from skyrl_doctor.site.slurm_config import HOOKS, SlurmConfig

SITE_SH = "site.sh"
_DRAIN = ("Prolog", "Epilog")
_LIMIT_S = 10.0


@record
class Blocked:
    """Why not every user can use a file, and what the administrator does about it. `cure` is "" for an absent file."""

    reason: str
    cure: str = ""


def check_scripts(machine: Machine, scripts: dict[str, str], missing: dict[str, list[str]]) -> Iterator[Result]:
    """The scripts by hook, and the files beside them that they read. `missing` are the programs that do not exist."""
    for hook, name in HOOKS.items():
        absent = [path for path in missing.get(hook, []) if path != scripts.get(hook)]
        yield from (_absent(hook, path, name) for path in absent)
        if hook not in scripts and absent:
            continue
        if hook not in scripts:
            yield skipped(hook, f"slurm.conf does not name our {name}")
            continue
        yield _reachable(
            machine, hook, scripts[hook], absent=f"correct {hook}= in slurm.conf, or install the script there"
        )
    for directory in directories(machine, scripts):
        yield _read_by_sh(machine, f"{directory}/common.sh")
        if exists(machine, f"{directory}/{SITE_SH}"):
            yield _read_by_sh(machine, f"{directory}/{SITE_SH}")
    if ("TaskProlog" in scripts) != ("Epilog" in scripts):
        yield failed(
            "Epilog",
            "the TaskProlog makes directories for a job and the Epilog removes them, but only one of them is installed",
            "name both in slurm.conf, or neither",
        )


def missing_programs(machine: Machine, config: SlurmConfig) -> dict[str, list[str]]:
    """The programs that slurm.conf names and that do not exist here, by hook. A pattern may match none."""
    found = {hook: _missing_of(machine, config, hook) for hook in HOOKS}
    return {hook: paths for hook, paths in found.items() if paths}


def _missing_of(machine: Machine, config: SlurmConfig, hook: str) -> list[str]:
    named = (
        path for path in config.paths(hook) if path.startswith("/") and not any(letter in path for letter in "*?[")
    )
    return [path for path in dict.fromkeys(named) if _is_missing(machine, path)]


def _is_missing(machine: Machine, path: str) -> bool:
    try:
        return not machine.exists(path)
    except CouldNotLook:
        return False  # not every path can be seen by every user


def _absent(hook: str, path: str, name: str) -> Result:
    effect = "; Slurm drains each node on which the " + hook + " fails" if hook in _DRAIN else ""
    return failed(
        hook,
        f"{path} does not exist on this machine{effect}",
        f"correct {hook}= in slurm.conf (ours is {name}), or install the script on every node",
    )


def directories(machine: Machine, scripts: dict[str, str]) -> list[str]:
    """The directories of the scripts. Of one that is absent, the missing script is the finding."""
    found = dict.fromkeys(posixpath.dirname(path) for path in scripts.values())
    return [directory for directory in found if exists(machine, directory)]


def exists(machine: Machine, path: str) -> bool:
    """Whether the path exists and can be seen from here."""
    try:
        return machine.exists(path)
    except CouldNotLook:
        return False


def _reachable(machine: Machine, subject: str, path: str, *, absent: str, executable: bool = True) -> Result:
    """Whether every user can read the file, and start it."""
    fault = blocked(machine, path, executable=executable)
    if fault is None:
        return passed(subject, f"{path} can be {'started' if executable else 'read'} by every user")
    return failed(subject, fault.reason, fault.cure or absent)


def _read_by_sh(machine: Machine, path: str) -> Result:
    """Whether every user can read the file, and sh can parse it. `sh -n` runs none of its commands."""
    name = posixpath.basename(path)
    result = _reachable(
        machine,
        name,
        path,
        absent=f"install {name} of contrib/slurm into the directory of the scripts",
        executable=False,
    )
    if result.cure:
        return result
    done = machine.run(("sh", "-n", path), limit_s=_LIMIT_S)
    if done.ok:
        return result
    if done.rc is None:
        return unknown(name, f"its syntax could not be checked: {done.why}")
    return failed(name, f"{path} is an invalid shell script: {done.why}", f"correct {path}; `sh -n {path}` checks it")


def blocked(machine: Machine, path: str, *, executable: bool) -> Blocked | None:
    """Why not every user can use the file; None if every user can."""
    parts = path.strip("/").split("/")
    folders = ["/" + "/".join(parts[:count]) for count in range(1, len(parts))]
    try:
        closed = next((folder for folder in folders if not machine.stat(folder).mode & 0o001), None)
        if closed:
            way = f"let every user enter it: chmod a+x {closed}; or install into another directory"
            return Blocked(f"{path}: not every user may enter {closed}", way)
        found = machine.stat(path)
    except Absent as error:
        return Blocked(str(error))
    except CouldNotLook as error:
        return Blocked(f"{path} cannot be examined: {error}", "run site-check as root")
    what = "read and execute" if executable else "read"
    needed = 0o005 if executable else 0o004
    if found.kind != "file":
        return Blocked(f"{path} is not a file", f"install the file of contrib/slurm as {path}")
    if found.mode & needed != needed:
        reason = f"{path} has mode {found.mode & 0o7777:o}; expected a file that every user may {what}"
        return Blocked(reason, f"let every user {what} it: chmod a+r{'x' if executable else ''} {path}")
    return None
