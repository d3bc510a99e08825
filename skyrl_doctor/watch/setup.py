"""Builds a watch from its settings: places, samplers, journal."""

import contextlib
import fcntl
import functools
import glob
import os
import re
from collections.abc import Callable, Iterator

from skyrl_doctor.core.errors import CouldNotLook
from skyrl_doctor.facts.mounts import parse_mountinfo
from skyrl_doctor.machine.base import Machine
from skyrl_doctor.machine.redact import Redactor
from skyrl_doctor.watch import actions
from skyrl_doctor.watch.changes import read_plan
from skyrl_doctor.watch.files import LOCK
from skyrl_doctor.watch.follow import ray
from skyrl_doctor.watch.follow.follower import Follower, inotify_of
from skyrl_doctor.watch.hang.look import stacks
from skyrl_doctor.watch.journal import Journal
from skyrl_doctor.watch.loop import Watch
from skyrl_doctor.watch.rules.wall import RUNTIME, TRAINER
from skyrl_doctor.watch.sample import node, servers, slurm
from skyrl_doctor.watch.sample.base import Sampler, Samplers
from skyrl_doctor.watch.sample.checkpoints import checkpoints
from skyrl_doctor.watch.sample.configuration import configuration, targets_of
from skyrl_doctor.watch.sample.rechecks import rechecks
from skyrl_doctor.watch.settings import Settings
from skyrl_doctor.watch.sink.joblog import JobLog
from skyrl_doctor.watch.sink.webhook import Webhook

_RUNTIME_LOG = re.compile(r"runtime_(\d+)\.(?:out|err)$")


def build(settings: Settings, machine: Machine, tell: Callable[[str], None]) -> Watch:
    places = (settings.place, *settings.logs)
    journal = _journal(settings, machine, tell)
    follower = Follower(
        places,
        inotify=inotify_of(places, on_network=_on_network(machine, places)),
        marks=journal.memory.marks,
        more=ray.sessions_of(machine.environ()),
    )
    named = {**machine.environ(), "SKYRL_JOB_DIR": settings.job_dir}
    if settings.job:
        named["SLURM_JOB_ID"] = settings.job
    marks = tuple(f"{name}={named[name]}" for name in ray.MARKS if named.get(name))
    return Watch(
        settings,
        machine,
        journal=journal,
        follower=follower,
        samplers=Samplers(samplers(settings, machine) if settings.samplers else (), machine),
        target=actions.target(machine, settings.pids, settings.job, settings.policy),
        plan=lambda: read_plan(machine, targets_of(settings.job_dir, settings.config)),
        stacks=functools.partial(stacks, marks, settings.pids) if settings.samplers and settings.writes else None,
    )


def samplers(settings: Settings, machine: Machine) -> list[Sampler]:
    """The samplers and their intervals. Together they cost less than a percent of a core."""
    saved = settings.checkpoints or os.path.join(settings.job_dir, "checkpoints")
    return [
        *(Sampler(f"vLLM at {url}", 10.0, servers.inference(url)) for url in settings.vllm),
        Sampler("the runtime", 15.0, servers.Runtime(settings.job_dir).look),
        Sampler("GPU memory", 60.0, node.gpus),
        Sampler("GPU use", 60.0, node.gpu_use),
        Sampler("host memory", 15.0, node.host_memory),
        Sampler("disk of the job", 30.0, node.disk(settings.job_dir)),
        Sampler("disk of checkpoints", 30.0, node.disk(saved, "checkpoints")),
        Sampler("checkpoints", 30.0, checkpoints(saved)),
        Sampler("the configuration", 3600.0, configuration(settings.job_dir, settings.config)),
        Sampler("checks of the node", 300.0, rechecks),
        Sampler("Slurm", 60.0, slurm.jobs(_jobs(settings, machine))),
    ]


@contextlib.contextmanager
def locked(job_dir: str) -> Iterator[bool]:
    """Takes the lock of the one watch that writes. Yields False where another holds it or the directory is read-only."""
    try:
        handle = os.open(os.path.join(job_dir, LOCK), os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644)
    except OSError:
        yield False
        return
    try:
        yield _is_free(handle)
    finally:
        os.close(handle)


def _is_free(handle: int) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _journal(settings: Settings, machine: Machine, tell: Callable[[str], None]) -> Journal:
    redact = Redactor.of(machine.environ())
    if not settings.writes:
        return Journal(
            settings.job_dir, tell=tell, redact=redact, job_log=None, announces=not settings.once, writes=False
        )
    return Journal(
        settings.job_dir,
        tell=tell,
        redact=redact,
        job_log=JobLog(settings.job_dir, settings.job_log),
        webhook=Webhook(settings.webhook, redact) if settings.webhook else None,
        announces=not settings.once,
    )


def _on_network(machine: Machine, places: tuple[str, ...]) -> bool:
    try:
        mounts = parse_mountinfo(machine.read("/proc/self/mountinfo"))
    except CouldNotLook:
        return True
    held = [mounts.of(os.path.realpath(place)) for place in places]
    return any(mount is None or mount.is_network for mount in held)


def _jobs(settings: Settings, machine: Machine) -> dict[str, str]:
    """The numbers of the two jobs. The trainer's is the one that the watch runs in, unless the user names another."""
    trainer = settings.job or machine.environ().get("SLURM_JOB_ID", "")
    names = glob.glob(f"{glob.escape(settings.job_dir)}/runtime_*")
    numbers = sorted(found[1] for name in names if (found := _RUNTIME_LOG.search(name)))
    runtime = settings.runtime_job or (numbers[-1] if numbers else "")
    named = {TRAINER: trainer, RUNTIME: runtime if runtime != trainer else ""}
    return {part: number for part, number in named.items() if number}
