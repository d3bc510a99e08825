"""The variables that Slurm sets in a job, as far as the job's own #SBATCH lines give them as one plain number."""

import re
import shlex
from collections.abc import Iterator, Sequence
from itertools import islice, zip_longest

from skyrl_doctor.plan.syntax.sbatch import COMMAND, LINE, options
from skyrl_doctor.plan.syntax.shell_script import Job
from skyrl_doctor.plan.syntax.shell_values import Word

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
TASK = "SLURM_ARRAY_TASK_ID"
_ARRAY = re.compile(r"(?P<first>\d{1,9})(?:-(?P<last>\d{1,9})(?::(?P<step>[1-9]\d{0,8}))?)?", re.ASCII)
MOST_RUNS = 16
"""Tasks of an array, and iterations of a loop, that are judged."""


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
    made = {variable: number for name, number in numbers.items() for variable in _NAMES.get(name, ())}
    tasks = array_tasks(text)
    return {**made, TASK: tasks[0]} if tasks else made


def array_tasks(text: str) -> tuple[str, ...]:
    """The numbers of the first tasks that `--array` starts: `0-5`, `1,3,9`, `0-15:4%2`."""
    listed = ""
    for line in _lines(text):
        for name, value in options(line):
            if name in ("--array", "-a"):
                listed = value.partition("%")[0]
    made: list[str] = []
    for part in listed.split(",") if listed else ():
        numbers = _ARRAY.fullmatch(part)
        if numbers is None:
            return ()
        first = int(numbers["first"])
        made.extend(
            map(str, islice(range(first, int(numbers["last"] or first) + 1, int(numbers["step"] or 1)), MOST_RUNS))
        )
    return tuple(made[:MOST_RUNS])


def job_of(words: Sequence[Word], script: str, line: int, file: str) -> Job:
    """What sbatch reads of a job: the #SBATCH lines of its script, which begins at `line`, then the words before it."""
    last = sum(1 for _ in _head(script))
    lines = [(line + number, text) for number, text in enumerate(script.splitlines()[:last]) if text.startswith(LINE)]
    return Job((*lines, *_as_lines(words)), file)


def _as_lines(words: Sequence[Word]) -> Iterator[tuple[int, str]]:
    """Each option of sbatch's own command line, as a line of its own."""
    for word, after in zip_longest(words, words[1:]):
        if word.text.startswith("-"):
            has_value = "=" not in word.text and after is not None and not after.text.startswith("-")
            texts = [word.text, after.text] if has_value and after is not None else [word.text]
            yield word.line, f"{COMMAND} {shlex.join(texts)}"


def _head(text: str) -> Iterator[str]:
    """The lines above the first command."""
    for line in text.splitlines():
        if line.strip() and not line.lstrip().startswith("#"):
            return
        yield line


def _lines(text: str) -> Iterator[str]:
    """The options that sbatch reads: its own, and those above the first command."""
    return (line.rstrip() for line in _head(text) if line.startswith((LINE, COMMAND)))
