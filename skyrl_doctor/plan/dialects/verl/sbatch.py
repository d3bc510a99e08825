"""Reads #SBATCH lines of a script as settings of the trainer job, and what else its job depends on: srun and traps."""

import re
import signal
from collections.abc import Iterator, Sequence

from skyrl_doctor.core.model import Location
from skyrl_doctor.plan.model import Value
from skyrl_doctor.plan.syntax.sbatch import COMMAND, LINE, options
from skyrl_doctor.plan.syntax.shell import Script
from skyrl_doctor.plan.syntax.shell_script import Job

TRAPS = "trap"
"""The signals that the script handles, as its own value of the plan."""
_TEXTS = {
    "--partition": "slurm.gpu_partition",
    "-p": "slurm.gpu_partition",
    "--time": "slurm.trainer_time_limit",
    "-t": "slurm.trainer_time_limit",
    "--account": "slurm.account",
    "-A": "slurm.account",
    "--qos": "slurm.qos",
    "-q": "slurm.qos",
}
_NUMBERS = {
    "--nodes": "slurm.nodes",
    "-N": "slurm.nodes",
    "--cpus-per-task": "slurm.trainer_cpus",
    "-c": "slurm.trainer_cpus",
}
_LISTS = {"--exclude": "slurm.exclude", "-x": "slurm.exclude"}
GPU_TYPE = "slurm.gpu_type"
_FEATURES = ("--constraint", "-C")
_FEATURE = re.compile(r"(?:nvidia[_-])?(?:gh200|[abh][12]00|a10|a6000|v100|l4|l40s)(?:[_.-]?\w+){0,4}", re.IGNORECASE)
"""A feature that names a GPU; features are the site's own words, and most name something else."""
_GPUS = ("--gpus-per-node", "--gres", "--gpus", "-G")
_NAMES = dict.fromkeys(("--gpus", "-G"), ("--gpus", "-G"))
"""The names of an option that sets two values, number and type; of the others each name sets the same one."""
_TASKS = {"--ntasks": "--ntasks", "-n": "--ntasks", "--ntasks-per-node": "--ntasks-per-node"}
_SUBMITS = re.compile(r"(?:^|[\s/])ray job submit\b")
_STARTS_RAY = re.compile(r"(?:^|[\s/;&|'\"])ray start\b")
_MEMORY = re.compile(r"(?P<number>\d+)(?P<unit>[KMGT]?)B?", re.IGNORECASE)
_MIB = {"K": 1 / 1024, "M": 1, "": 1, "G": 1024, "T": 1024 * 1024}


def directives(script: Script, file: str, job: Job | None = None) -> Iterator[Value]:
    """The values of the options that the plan has a key for; other options are ignored.

    `job` is the job that the script itself submits, if the run is part of one.
    """
    file = job.file or file if job is not None else file
    found: dict[str, Value] = {}
    features: Value | None = None
    for line, name, text, begins in job_lines(script, job):
        own = f"#SBATCH {name}"
        location = Location(file, line, f"{begins} {name}")
        same = [f"#SBATCH {one}" for one in _NAMES.get(name, (name,))]
        found = {
            key: value for key, value in found.items() if value.own not in same
        }  # Slurm takes the later line whole
        found.update((key, Value(key, made, location, own=own)) for key, made in _values(name, text))
        if name in _FEATURES:
            features = Value(GPU_TYPE, text, location, own=own) if _FEATURE.fullmatch(text) else None
    named = found.get(GPU_TYPE)
    if features is not None and (named is None or str(features.value).lower().startswith(str(named.value).lower())):
        found[GPU_TYPE] = features  # `--gres=gpu:a100:4 --constraint=a100_80gb`
    yield from reversed(found.values())  # of an option with two values, the number has its name


def job_values(script: Script, file: str, job: Job | None = None) -> Iterator[Value]:
    """What else decides how often and how long the program runs: tasks, the signal before the limit, srun and traps."""
    place = job.file or file if job is not None else file
    for line, name, text, begins in job_lines(script, job):
        key, shown = (f"{one} {_TASKS.get(name, name)}" for one in (LINE, begins))
        if name in _TASKS and text.isdigit() and len(text) < 10:
            yield Value(key, int(text), Location(place, line, shown), own=key)
        elif name == "--signal" and text:
            yield Value(key, text, Location(place, line, shown), own=key)
    traps = [command for command in script.commands if command.name == "trap"]
    words = [word for command in traps for word in command.words[2:]]
    unread = next((f"{name} is not read" for name in script.sourced), "")
    unknown = next((word.unknown for word in words if word.unknown), unread)
    handled = [_signal_name(word.text) for word in words]
    yield Value(TRAPS, handled, Location(file, None, TRAPS), written=False, own=TRAPS, unknown=unknown)


def _signal_name(text: str) -> str:
    """`SIGUSR1`, `usr1` and `10` are one signal."""
    if text.isdigit() and int(text) in {one.value for one in signal.Signals}:
        return signal.Signals(int(text)).name.removeprefix("SIG")
    return text.upper().removeprefix("SIG")


def job_lines(script: Script, job: Job | None) -> Iterator[tuple[int, str, str, str]]:
    """Line, name and text of each option that sbatch reads, and `#SBATCH` or `sbatch`, where it stands. None of several jobs in one.

    None either of a job that hands the run to a Ray cluster elsewhere: the options are not the run's.
    """
    read = [
        (line, text)
        for line, text in script.comments
        if text.startswith(LINE) and (not script.body_line or line < script.body_line)
    ]
    if job is not None:
        read = list(job.lines)
    if any(text.split()[1:2] == ["hetjob"] for _, text in read) or _submits_elsewhere(script):
        return
    for line, comment in read:
        for name, text in options(comment):
            yield line, name, text, "sbatch" if comment.startswith(COMMAND) else LINE


def _submits_elsewhere(script: Script) -> bool:
    """Whether the script submits to a Ray cluster that it does not start itself."""
    commands = [" ".join(word.text for word in command.words) for command in script.commands]
    return any(map(_SUBMITS.search, commands)) and not any(map(_STARTS_RAY.search, commands))


def mebibytes(text: str) -> int | None:
    """`64G` -> 65536; a number without a unit is in MiB."""
    found = _MEMORY.fullmatch(text.strip())
    return None if found is None else int(int(found["number"]) * _MIB[found["unit"].upper()])


def _values(name: str, text: str) -> Iterator[tuple[str, object]]:
    if name in _TEXTS and text:
        yield _TEXTS[name], text
    elif name in _NUMBERS and text.isdigit() and len(text) < 10:
        yield _NUMBERS[name], int(text)
    elif name in _LISTS and text:
        yield _LISTS[name], text.split(",")
    elif name == "--mem" and (size := mebibytes(text)):
        yield "slurm.trainer_memory_mib", size
    elif name in _GPUS:
        parts = _gpu_parts(text, is_list=name == "--gres")
        if count := _count(parts):
            yield "slurm.gpus_per_node", count
        kinds = {kind for part in parts if (kind := _kind(part))}
        if len(kinds) == 1 and len(parts) == 1:
            yield GPU_TYPE, kinds.pop()


def _gpu_parts(text: str, *, is_list: bool) -> list[str]:
    """`gpu:h100:4,nvme:1` -> h100:4; `gpu` is one."""
    parts = text.split(",")
    if not is_list:
        return parts
    named = (part.partition(":") for part in parts)
    return [value if colon else "1" for name, colon, value in named if name == "gpu"]


def _count(parts: Sequence[str]) -> int | None:
    """The sum of several kinds of GPUs. None if a part has no number."""
    counts = [part.rpartition(":")[2] for part in parts]
    if not counts or not all(count.isdigit() and len(count) < 10 for count in counts):
        return None
    return sum(map(int, counts))


def _kind(part: str) -> str:
    """`h100:4` and `h100` -> h100; nothing of `4`"""
    kind = part.partition(":")[0]
    return "" if kind.isdigit() else kind
