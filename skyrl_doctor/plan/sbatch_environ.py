"""The variables that Slurm sets in a job, as far as the job's own #SBATCH lines give them as one plain number."""

import re
from collections.abc import Iterator

from skyrl_doctor.plan.syntax.sbatch import options

_NODES, _TASKS, _TASKS_PER_NODE, _GPUS_PER_NODE = "--nodes", "--ntasks", "--ntasks-per-node", "--gpus-per-node"
_LONG = {"-N": _NODES, "-n": _TASKS, "-c": "--cpus-per-task"}
_NAMES = {
    _NODES: ("SLURM_NNODES", "SLURM_JOB_NUM_NODES"),
    _TASKS: ("SLURM_NTASKS", "SLURM_NPROCS"),
    _TASKS_PER_NODE: ("SLURM_NTASKS_PER_NODE",),
    _GPUS_PER_NODE: ("SLURM_GPUS_PER_NODE", "SLURM_GPUS_ON_NODE"),
    "--cpus-per-task": ("SLURM_CPUS_PER_TASK",),
    "--gres": ("SLURM_GPUS_ON_NODE",),
}
_NUMBER = re.compile(r"(?:gpu:)?(?P<count>[1-9]\d{0,8})", re.ASCII)


def sbatch_environ(text: str) -> dict[str, str]:
    """The variables of the job that sbatch makes of this script; none of several jobs in one."""
    numbers: dict[str, str] = {}
    for line in _lines(text):
        if line.split()[1:2] == ["hetjob"]:
            return {}
        for given, value in options(line):
            name = _LONG.get(given, given)
            number = _NUMBER.fullmatch(value)
            numbers.pop(name, None)  # of two Slurm takes the later one
            if number is not None and number.group().startswith("gpu:") is (name == "--gres"):
                numbers[name] = number["count"]
    if _TASKS not in numbers and _NODES in numbers and _TASKS_PER_NODE in numbers:
        numbers[_TASKS] = str(int(numbers[_NODES]) * int(numbers[_TASKS_PER_NODE]))
    return {variable: number for name, number in numbers.items() for variable in _NAMES.get(name, ())}


def _lines(text: str) -> Iterator[str]:
    """The #SBATCH lines that sbatch reads: above the first command."""
    for line in text.splitlines():
        if line.startswith("#SBATCH"):
            yield line.rstrip()
        elif line.strip() and not line.lstrip().startswith("#"):
            return
