"""The `#SBATCH` lines ask for less than the run uses, start it more than once, or end it too early.

## What it does
Compares the nodes, tasks and GPUs of the script's `#SBATCH` lines with those that the command in the script uses, and `--mem` with the host memory that `skyrl-doctor budget` estimates (ENV007).
Reports a driver that `srun` starts once for each task, which is once on each node where no number of tasks is set, and a `--signal` that ends the run early. Notes a time limit in a
run that never saves a checkpoint.

## Why it breaks training
Ray waits for GPUs that the job does not have, or verl stops: "Total available GPUs is less than total desired GPUs".
With fewer tasks than nodes, Slurm takes away the other nodes. A driver that starts twice trains twice on the same GPUs. A
shell without a trap ends at the signal, long before the limit. At the limit, a run without checkpoints loses everything.

## How to fix
Ask for as many nodes and GPUs as the run uses, or set the run's own numbers to those of the job. Start the driver with
`srun --ntasks=1`, or without `srun`. Handle the signal with `trap`, or remove `--signal`.

## Example
    ValueError: Total available GPUs 4 is less than total desired GPUs 8
"""

import math
from collections.abc import Iterator

from skyrl_doctor.core.check import check
from skyrl_doctor.core.errors import NotApplicable
from skyrl_doctor.core.model import Finding, Location, Severity
from skyrl_doctor.facts.model_files import ModelFiles
from skyrl_doctor.host_need import host_need
from skyrl_doctor.plan.findings import config_finding, required
from skyrl_doctor.plan.model import Plan, Value
from skyrl_doctor.plan.names.skyrl import DIALECT as SKYRL
from skyrl_doctor.plan.parallel import own_integer, own_value
from skyrl_train.config.job_size import gpus_of_job
from skyrl_train.config.walltime import minutes, parse_signal
from skyrl_train.node.host_memory import memory_to_ask_gib

PREFIX = "#SBATCH "
MIB_PER_GIB = 1024
NODES, GPUS, ROLLOUT_GPUS = "slurm.nodes", "slurm.gpus_per_node", "deployment.inference_gpus"
_PER_NODE = ("--gpus-per-node", "--gres")
_NODES = ("--nodes", "-N")
TASKS, SIGNAL = f"{PREFIX}--ntasks", f"{PREFIX}--signal"
_IGNORED = ("CHLD", "CONT", "URG", "WINCH")
"""Signals that end no program."""


@check("SLM005", fix="skyrl_train/config/job_size.py")
def job_asks_for_less(plan: Plan, model: ModelFiles | None = None) -> Iterator[Finding]:
    if not any(key.startswith(PREFIX) for key in required(plan).own):
        raise NotApplicable("no #SBATCH lines of this run were found")
    nodes, gpus = plan.integer(NODES) or 1, plan.integer(GPUS)
    asked_nodes = _first(plan, _NODES)
    if asked_nodes is not None and asked_nodes[1] < nodes and not _is_sbatch(plan, NODES):
        option, count = asked_nodes
        instead = f"{plan.name(NODES)} = {count}"
        yield _less(plan, option, f"{count} node{_s(count)}", f"{nodes} ({plan.name(NODES)})", str(nodes), instead)
        return
    if gpus is not None and not _is_sbatch(plan, GPUS):
        yield from _fewer_gpus(plan, asked_nodes[1] if asked_nodes else nodes, nodes * gpus)
    yield from _less_memory(plan, model)
    yield from _fewer_tasks(plan, asked_nodes, nodes)
    yield from _started_twice(plan, asked_nodes, nodes)
    yield from _signalled(plan)
    yield from _unsaved(plan)


def _fewer_gpus(plan: Plan, job_nodes: int, trained: int) -> Iterator[Finding]:
    """Fewer GPUs than those of the trainer, and of rollouts that have their own."""
    own = plan.values.get(ROLLOUT_GPUS) if plan.is_of("verl") else None
    rollout = plan.integer(ROLLOUT_GPUS) or 0 if own is not None else 0
    takes_any_node = rollout or plan.is_of(SKYRL)  # SkyRL places its GPUs one by one, on all nodes of the job
    nodes = max(job_nodes, 1) if takes_any_node else plan.integer(NODES) or 1
    per_node, total = _first(plan, _PER_NODE), own_integer(plan, f"{PREFIX}--gpus")
    asked = gpus_of_job(nodes=nodes, per_node=per_node[1] if per_node else None, total=total)
    used = trained + rollout
    if asked is None or asked >= used:
        return
    option, expected = (per_node[0], math.ceil(used / nodes)) if per_node else ("--gpus", used)
    keys = f"{plan.name(GPUS)}, {own.name}" if own is not None and rollout else plan.name(GPUS)
    each, left = divmod(asked, plan.integer(NODES) or 1)
    instead = f"{plan.name(GPUS)} = {each}" if each and not left and not rollout else ""
    yield _less(plan, option, f"{asked} GPU{_s(asked)}", f"{used} ({keys})", str(expected), instead)


def _less_memory(plan: Plan, model: ModelFiles | None) -> Iterator[Finding]:
    """Less than `budget` estimates. It is an error if not even what is offloaded fits."""
    asked = plan.values.get("slurm.trainer_memory_mib")
    if asked is None or asked.unknown or not asked.own.startswith(PREFIX):
        return
    need, gib = host_need(plan, model), asked.value / MIB_PER_GIB
    if need is None or gib >= need.gib:
        return
    yield config_finding(
        f"the job asks for {gib:g} GiB of host memory on each node; expected {need}",
        asked.location,
        {_where(asked.location): f"{memory_to_ask_gib(need.gib)}G"},
        severity=Severity.ERROR if gib < need.resident_gib else Severity.WARNING,
        evidence=tuple(f"{name}: {size:.1f} GiB" for name, size in need.terms.items()),
    )


def _fewer_tasks(plan: Plan, asked: tuple[str, int] | None, nodes: int) -> Iterator[Finding]:
    """With fewer tasks than nodes, sbatch makes as many nodes of them as there are tasks."""
    tasks = own_integer(plan, TASKS)
    if asked is not None and tasks is not None and 0 < tasks < min(asked[1], nodes) and not _is_sbatch(plan, NODES):
        location = plan.own[TASKS].location
        name = _where(location)
        message = (
            f"Slurm gives the job {tasks} node{_s(tasks)}, because {name} = {tasks}, "
            f"but the run uses {nodes} ({plan.name(NODES)}); expected {nodes} in {name}"
        )
        yield config_finding(message, location, {name: str(nodes)})


def _started_twice(plan: Plan, asked: tuple[str, int] | None, nodes: int) -> Iterator[Finding]:
    """A driver, or torchrun, that srun starts more often than it should."""
    own, program = own_integer(plan, "srun"), own_value(plan, "srun.starts")
    if own is None or program is None:
        return
    tasks, expected = _tasks(plan, own, asked, nodes), nodes if program.value == "torchrun" else 1
    if tasks > expected:
        message = f"srun starts {program.value} {tasks} times; expected {expected}: `srun --ntasks={expected}`"
        yield config_finding(message, program.location, summary="start it once")


def _tasks(plan: Plan, own: int, asked: tuple[str, int] | None, nodes: int) -> int:
    """How often srun starts its program: by its own number or the job's, else once on each node of the job."""
    of_job, per_node = own_integer(plan, TASKS), own_integer(plan, f"{TASKS}-per-node")
    if own or of_job:
        return own or of_job or 0
    if per_node:
        return per_node * (asked[1] if asked else nodes)
    return asked[1] if asked else 1


def _signalled(plan: Plan) -> Iterator[Finding]:
    written = own_value(plan, SIGNAL)
    signal = None if written is None else parse_signal(str(written.value))
    if written is None or signal is None:
        return
    limit, traps = _limit(plan), plan.own.get("trap")
    whole = None if limit is None else minutes(str(limit.value))
    if limit is not None and whole and signal.seconds >= whole * 60:
        message = f"{_where(written.location)} = {written.value} is sent when the job starts: {signal.seconds} s before the end of a job of {limit.value}"
        yield config_finding(message, written.location, severity=Severity.WARNING, summary="lower the seconds after @")
    elif signal.is_for_shell and signal.name not in _IGNORED and _is_unhandled(signal.name, traps):
        message = f"{_where(written.location)} = {written.value} ends the script {signal.seconds} s before the limit, because it has no trap for {signal.name}"
        yield config_finding(
            message, written.location, severity=Severity.WARNING, summary=f"add `trap … {signal.name}`"
        )


def _is_unhandled(signal: str, traps: Value | None) -> bool:
    """Whether the script surely has no trap for a signal that has a name."""
    return traps is not None and not traps.unknown and signal not in traps.value and not signal.isdigit()


def _limit(plan: Plan) -> Value | None:
    return own_value(plan, f"{PREFIX}--time") or own_value(plan, f"{PREFIX}-t")


def _first(plan: Plan, options: tuple[str, ...]) -> tuple[str, int] | None:
    found = ((option, own_integer(plan, f"{PREFIX}{option}")) for option in options)
    return next(((option, count) for option, count in found if count is not None), None)


def _is_sbatch(plan: Plan, key: str) -> bool:
    """Whether the number itself is that of the #SBATCH line."""
    return plan.values[key].own.startswith(PREFIX) if key in plan.values else True


def _less(plan: Plan, option: str, asked: str, used: str, expected: str, instead: str) -> Finding:
    """Only the user knows whether the nodes have more, so the options of the job are never written."""
    location = plan.own[f"{PREFIX}{option}"].location
    name = _where(location)
    more = f"{name}={_with_type(plan, option, expected)}"
    message = f"the job asks for {asked}, but the run uses {used}; expected {expected} in {name}"
    summary = f"set {more}, or {instead}" if instead else f"set {more}, or use fewer"
    return config_finding(message, location, summary=summary)


def _where(location: Location | None) -> str:
    """The option as it stands: `#SBATCH --gres`, or `sbatch --gres` on a command line."""
    return (location and location.key) or ""


def _with_type(plan: Plan, option: str, count: str) -> str:
    """The new value of an option: `--gres` and the number of GPUs may hold their type."""
    kind = plan.values.get("slurm.gpu_type")
    typed = f"{kind.value}:{count}" if kind is not None and kind.own == f"{PREFIX}{option}" else count
    return f"gpu:{typed}" if option == "--gres" else typed


def _unsaved(plan: Plan) -> Iterator[Finding]:
    limit = _limit(plan)
    every = plan.values.get("trainer.save_every_steps")
    if limit is None or every is None or every.unknown or not isinstance(every.value, int) or every.value > 0:
        return
    message = (
        f"the job ends after {limit.value}, and {every.assignment} saves no checkpoint: at the limit everything is lost"
    )
    yield config_finding(message, plan.place(every.key), severity=Severity.INFO, summary="save checkpoints")


def _s(count: int) -> str:
    return "" if count == 1 else "s"
