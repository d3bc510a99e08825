"""Finds our scripts and their settings, and checks the programs, logs and filter that they name."""

import fnmatch
import posixpath
import re
from collections.abc import Iterator, Sequence

from skyrl_doctor.core.errors import CouldNotLook
from skyrl_doctor.core.record import record
from skyrl_doctor.machine.base import Machine
from skyrl_doctor.site.reach import blocked, directories, exists
from skyrl_doctor.site.result import Result, failed, passed, skipped, unknown
from skyrl_doctor.site.slurm_config import HOOKS, SlurmConfig

LUA = "job_submit.lua"
_SETTINGS = (
    "DOCTOR",
    "TRAIN",
    "LOG_DIR",
    "STATE_DIR",
    "GPU_PARTITIONS",
    "RUNTIME_PARTITIONS",
    "GPU_ACCOUNTS",
    "RUNTIME_ACCOUNTS",
    "PROLOG_LIMIT_S",
    "EPILOG_LIMIT_S",
)
_PRINT = 'here=$1; . "$here/common.sh"; printf "%s\\n" ' + " ".join(f'"${name}"' for name in _SETTINGS)
_DOCTOR = re.compile(r'^local DOCTOR = "([^"\n]+)"', re.MULTILINE)
_LOADED = re.compile(rf'^[ \t]*dofile[ \t]*\([ \t]*"(/[^"\n]+/{re.escape(LUA)})"', re.MULTILINE)
_LIMIT_S = 10.0
INSTALL = "install the doctor there, or set the path in site.sh; docs/slurm-site.md, Install, has the lines"
_MOST_PROGRAMS = 100


@record
class Settings:
    """The settings of common.sh and site.sh."""

    doctor: str
    train: str
    log_dir: str
    state_dir: str
    gpu_partitions: str
    runtime_partitions: str
    gpu_accounts: str
    runtime_accounts: str
    prolog_limit_s: str
    epilog_limit_s: str


@record
class Installed:
    """The scripts that slurm.conf names, by hook, and their settings."""

    scripts: dict[str, str]
    settings: Settings | None
    has_filter: bool

    @property
    def has_task_prolog(self) -> bool:
        return "TaskProlog" in self.scripts


def find_scripts(machine: Machine, config: SlurmConfig) -> dict[str, str]:
    """Our script of each hook, by its name: a site may have others too, and one of those may call ours."""
    found = {}
    for hook, name in HOOKS.items():
        path = next(_candidates(machine, config.paths(hook), name), None)
        if path:
            found[hook] = path
    return found


def _candidates(machine: Machine, paths: Sequence[str], name: str) -> Iterator[str]:
    """The paths with this name that are ours, then those that a script of the site calls."""
    programs = [program for path in paths for program in _programs(machine, path)]
    yield from (path for path in programs if posixpath.basename(path) == name and _may_be_ours(machine, path))
    for program in programs:
        called = re.search(rf"^[^#\n]*?(/[\w./-]+/{re.escape(name)})\b", _text(machine, program), re.MULTILINE)
        if called:
            yield called[1]


def _may_be_ours(machine: Machine, path: str) -> bool:
    """Not a site's own script under the same name: ours read common.sh."""
    text = _text(machine, path)
    return not text or "common.sh" in text


def _programs(machine: Machine, path: str) -> list[str]:
    """The files that a pattern such as `/etc/slurm/prolog.d/*` matches, or the path itself."""
    if not any(letter in path for letter in "*?["):
        return [path]
    folder, pattern = posixpath.split(path)
    try:
        names = machine.listdir(folder)
    except CouldNotLook:
        return []
    return [f"{folder}/{name}" for name in sorted(names) if fnmatch.fnmatchcase(name, pattern)][:_MOST_PROGRAMS]


def _text(machine: Machine, path: str) -> str:
    """The file's text; "" if it cannot be read."""
    try:
        return machine.read(path)
    except CouldNotLook:
        return ""


def read_settings(machine: Machine, scripts: dict[str, str]) -> Settings | Result | None:
    """The settings, as the scripts read them; None where there is no directory of scripts."""
    directory = next(iter(directories(machine, scripts)), None)
    if directory is None:
        return None
    done = machine.run(("sh", "-c", _PRINT, "sh", directory), limit_s=_LIMIT_S)
    values = done.out.splitlines()
    if not done.ok or len(values) != len(_SETTINGS):
        return failed("settings", f"{directory}/common.sh or site.sh fails: {done.why}", "correct site.sh")
    return Settings(*values)


def check_programs(machine: Machine, settings: Settings, as_user: tuple[str, ...]) -> Iterator[Result]:
    """Whether a user can start the doctor and the trainer, with their Python."""
    for subject, path in (("DOCTOR", settings.doctor), ("TRAIN", settings.train)):
        if _is_absent(machine, path):
            yield failed(subject, f"{path} does not exist", INSTALL)
            continue
        done = machine.run((*as_user, path, "--version"), limit_s=_LIMIT_S)
        if done.ok:
            yield passed(subject, f"{path} is {done.out.strip()}")
        elif done.timed_out:
            yield unknown(subject, done.why)
        else:
            yield failed(
                subject,
                f"a user cannot start it: {done.why}",
                "install into a directory that every user may read, with a Python that every user may read; set the path in site.sh",
            )


def _is_absent(machine: Machine, path: str) -> bool:
    try:
        return not machine.exists(path)
    except CouldNotLook:
        return False


def check_names(scripts: dict[str, str], settings: Settings) -> Iterator[Result]:
    """Which jobs the Prolog checks."""
    if "Prolog" in scripts and not settings.gpu_partitions.strip() and not settings.gpu_accounts.strip():
        yield skipped("GPU_PARTITIONS", "site.sh sets no GPU_PARTITIONS or GPU_ACCOUNTS, so the Prolog checks no job")


def check_accounts(config: SlurmConfig, settings: Settings) -> Iterator[Result]:
    """Whether jobs have the accounts that the site names."""
    accounts = f"{settings.gpu_accounts} {settings.runtime_accounts}".split()
    if accounts and config.text("AccountingStorageType") in ("", "accounting_storage/none"):
        yield failed(
            "accounts",
            f"site.sh names {' '.join(accounts)}, but Slurm has no accounting: a job has an account only if its user passes one",
            "name partitions instead (GPU_PARTITIONS, RUNTIME_PARTITIONS), or set AccountingStorageType in slurm.conf",
        )


def check_logs(machine: Machine, settings: Settings) -> Iterator[Result]:
    """Whether root can write the logs. Other users cannot tell."""
    if machine.identity().uid != 0:
        yield skipped("LOG_DIR", "only root can test it; run site-check as root too")
        return
    for subject, path in (("LOG_DIR", settings.log_dir), ("STATE_DIR", settings.state_dir)):
        if not path.startswith("/"):
            yield failed(subject, f"{path!r} is not an absolute path", "correct it in site.sh")
            continue
        try:
            yield _logs(machine, subject, path)
        except CouldNotLook as error:
            yield unknown(subject, str(error))


def _logs(machine: Machine, subject: str, path: str) -> Result:
    nearest = path
    while nearest != "/" and not machine.exists(nearest):
        nearest = posixpath.dirname(nearest)
    if machine.stat(nearest).kind != "dir":
        return failed(subject, f"{nearest} is not a directory", "name another directory in site.sh")
    if not machine.writable(nearest):
        return failed(subject, f"root cannot write {nearest}", "name another directory in site.sh, or make it writable")
    return passed(subject, f"{path} can be written" if nearest == path else f"{path} is made by the first job")


def check_filter(machine: Machine, config: SlurmConfig) -> Iterator[Result]:
    """job_submit.lua beside slurm.conf, the plugin that runs it, and the doctor that it names."""
    if "lua" not in config.words("JobSubmitPlugins"):
        yield skipped(LUA, "JobSubmitPlugins in slurm.conf does not name lua")
        return
    path = f"{posixpath.dirname(config.text('SLURM_CONF'))}/{LUA}"
    try:
        text = machine.read(path)
    except CouldNotLook as error:
        yield failed(LUA, str(error), f"copy {LUA} into the directory of slurm.conf on the controller")
        return
    called = _LOADED.search(text)
    if called:
        path = called[1]
        text = _text(machine, path)
        if not text:
            yield failed(LUA, f"{path} cannot be read, but the site's own {LUA} loads it", f"install {path}")
            return
    found = _DOCTOR.search(text)
    if found is None:
        yield skipped(LUA, f"{path} is not the file of contrib/slurm")
        return
    fault = blocked(machine, found[1], executable=True)
    if fault:
        yield failed(
            LUA, f"DOCTOR in {path}: {fault.reason}", "set DOCTOR at the head of the file to the installed doctor"
        )
    else:
        yield passed(LUA, f"{path} names {found[1]}")
    if not config.text("PluginDir"):
        yield unknown(LUA, "only Slurm itself can tell where job_submit_lua.so must be")
        return
    for folder in config.text("PluginDir").split(":"):
        if folder and exists(machine, f"{folder}/job_submit_lua.so"):
            return
    yield failed(
        LUA,
        f"job_submit_lua.so is not in PluginDir ({config.text('PluginDir')})",
        "install Slurm's Lua plugin (Debian: slurm-wlm-basic-plugins)",
    )
