"""Reads targets into one Plan. A dialect's module is imported when it is needed."""

import dataclasses
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from skyrl_doctor.core.errors import UsageError
from skyrl_doctor.machine.base import Machine
from skyrl_doctor.plan.detect import READABLE, detect_format
from skyrl_doctor.plan.dialects.reading import Reading
from skyrl_doctor.plan.groups import group_runs
from skyrl_doctor.plan.model import Plan, Problem, Value
from skyrl_doctor.plan.placeholders import placeholders
from skyrl_doctor.plan.source import Source, read_source

if TYPE_CHECKING:
    from skyrl_doctor.plan.launches import Launch
    from skyrl_doctor.plan.syntax.leaf import Leaf
    from skyrl_doctor.plan.syntax.shell import Script
    from skyrl_doctor.plan.syntax.shell_script import PassedOver


OUR_LAUNCHER = "skyrl-train"
_EQUAL = re.compile(r"\$\{?(?P<name>[A-Za-z_]\w*)(?::?-\w*)?\}?[\"']? *(?:==?|-eq) *[\"']?(?P<value>[\w.-]+)")
_MOST_SHOWN = 200
"""Letters of a condition or a command in a message."""


def load(machine: Machine, targets: Sequence[str], *, verl_version: str | None = None) -> Plan:
    """The plan of one run. Raises UsageError if the targets are several runs."""
    plans = load_runs(machine, targets, verl_version=verl_version)
    if len(plans) > 1:
        names = ", ".join(plan.targets[0] for plan in plans)
        raise UsageError(f"the targets are {len(plans)} runs ({names}); pass one")
    return plans[0]


def load_runs(machine: Machine, targets: Sequence[str], *, verl_version: str | None = None) -> tuple[Plan, ...]:
    """The plan of each run that the targets describe; one empty plan without a target."""
    readings = [(target, read_target(machine, target, verl_version=verl_version)) for target in targets]
    return runs_of(readings) or (Plan(),)


def read_target(machine: Machine, target: str, *, verl_version: str | None = None) -> Reading:
    """Reads a file, or a command line that is the target itself. Raises UsageError."""
    return read(machine, read_source(machine, target), verl_version=verl_version)


def runs_of(readings: Sequence[tuple[str, Reading]]) -> tuple[Plan, ...]:
    """The plan of each run. Raises UsageError if the targets may be combined in more than one way."""
    return tuple(
        combine([target for target, _ in group], [reading for _, reading in group]) for group in group_runs(readings)
    )


def combine(targets: Sequence[str], readings: Sequence[Reading]) -> Plan:
    """One plan of files that complete each other. A later file overrides an earlier one, a default overrides nothing."""
    values: dict[str, Value] = {}
    own: dict[str, Value] = {}
    problems: list[Problem] = []
    for reading in readings:
        _merge(values, reading.values)
        _merge(own, reading.own)
        problems.extend(reading.problems)
    dialects = list(dict.fromkeys(reading.dialect for reading in readings))
    problems.extend(placeholders(values))
    remaining = tuple(problem for problem in problems if not _is_set_elsewhere(problem, values))
    skipped = tuple(dict.fromkeys(reading.skipped for reading in readings))
    if not all(skipped):
        skipped = ()
    unchecked = tuple(dict.fromkeys(reading.unchecked for reading in readings if reading.unchecked))
    schema = ", ".join(dict.fromkeys(reading.schema for reading in readings if reading.schema))
    release = next((reading.release for reading in readings if reading.release is not None), None)
    others = readings[0].others if len(readings) == 1 else ()
    return Plan(
        tuple(targets),
        "+".join(dialects) or "none",
        values,
        own,
        remaining,
        skipped,
        unchecked,
        schema,
        release,
        tuple(combine(targets, [other]) for other in others),
    )


def read(machine: Machine, source: Source, *, verl_version: str | None = None) -> Reading:
    """Reads one target in its dialect. Raises UsageError if it is no configuration, or none that the doctor knows."""
    match detect_format(source):
        case "toml":
            reading = _read_toml(machine, source)
        case "yaml":
            reading = _read_yaml(machine, source, verl_version)
        case "shell":
            reading = _read_shell(machine, source, verl_version)
        case _:
            raise UsageError(
                f"target {source.file}: a Python program, which the doctor does not read; it reads {READABLE}"
            )
    if not reading.is_examined:
        raise UsageError(f"target {source.file}: holds no setting that the doctor checks; it reads {READABLE}")
    return reading


def _read_toml(machine: Machine, source: Source) -> Reading:
    from skyrl_doctor.plan.dialects import prime, run_config
    from skyrl_doctor.plan.syntax.toml import leaves, parse
    from skyrl_train.config.dialect import prime_schema

    table, found = parse(source), leaves(source)
    is_ours, is_prime = run_config.is_run_config(table), prime_schema(table) is not None
    unknown = run_config.unknown_keys(found)
    if is_ours and not is_prime and (not unknown or any(leaf.key == "model.path" for leaf in found)):
        return run_config.read(source)
    program = prime.program_of(machine, source, found) or (prime.RL if is_prime else None)
    if program is not None:
        reading = prime.read(machine, source, program)
        if is_prime or not is_ours or len(reading.problems) < unknown:
            return reading
    if is_ours:
        return run_config.read(source)
    raise UsageError(f"target {source.file}: unknown TOML; expected a RunConfig or a configuration of prime-rl")


def _read_yaml(machine: Machine, source: Source, verl_version: str | None) -> Reading:
    from skyrl_doctor.plan.dialects import skyrl
    from skyrl_doctor.plan.syntax.yaml import leaves

    found = leaves(source)
    first = {str(leaf.path[0]) for leaf in found}
    if skyrl.is_task({leaf.key for leaf in found}):
        return skyrl.read_task(source)
    if "actor_rollout_ref" in first or any(_names_verl_trainer(leaf) for leaf in found):
        from skyrl_doctor.plan.dialects.verl.read import read_yaml

        return dataclasses.replace(read_yaml(machine, source, verl_version), part="verl YAML")
    raise UsageError(f"target {source.file}: unknown YAML; expected SkyRL-agent's task YAML or verl's configuration")


def _names_verl_trainer(leaf: "Leaf") -> bool:
    """Whether this is a `defaults` list that names one of verl's trainers."""
    return leaf.path[0] == "defaults" and re.search(r"\bppo_(?:\w+_)?trainer\b", str(leaf.value)) is not None


def _read_shell(machine: Machine, source: Source, verl_version: str | None) -> Reading:
    """Reads a script, once for each task of a job array."""
    from skyrl_doctor.plan.sbatch_environ import MOST_RUNS, array_tasks

    first, *others = (_read_task(machine, source, verl_version, task) for task in array_tasks(source.text) or (None,))
    same = [one for other in others if other.dialect == first.dialect for one in (other, *other.others)]
    return dataclasses.replace(first, others=(*first.others, *same)[: MOST_RUNS - 1])


def _read_task(machine: Machine, source: Source, verl_version: str | None, task: str | None) -> Reading:
    """Reads a script by the program that it starts."""
    from skyrl_doctor.plan.dialects.verl.command import calls
    from skyrl_doctor.plan.scripts import read_shell, syntax_problem

    script = read_shell(machine, source, task)
    broken = syntax_problem(machine, source, script)
    of_verl = calls(script, source.file)
    if of_verl:
        from skyrl_doctor.plan.dialects.verl.read import read_command

        return read_command(machine, source, script, of_verl, broken, verl_version)
    return _read_other(machine, source, script, broken, verl_version)


def _read_other(
    machine: Machine, source: Source, script: "Script", broken: Problem | None, verl_version: str | None
) -> Reading:
    """Reads a script that starts no verl; one that starts no program may be a dev.conf."""
    from skyrl_doctor.plan.dialects import prime_command, skyrl, skyrl_trainer
    from skyrl_doctor.plan.launches import launches
    from skyrl_doctor.plan.sbatch_environ import MOST_RUNS

    if broken is not None and not skyrl.is_conf(script):
        raise UsageError(f"target {source.file}: line {broken.location.line}: {broken.message}")
    started = launches(script)
    of_skyrl = [launch for launch in started if skyrl_trainer.program_of(launch)]
    if of_skyrl:
        *others, last = [
            skyrl_trainer.read(machine, source, script, launch)
            for launch in of_skyrl[-MOST_RUNS:]
            if (launch.file, launch.line) == (of_skyrl[-1].file, of_skyrl[-1].line)
        ]
        return dataclasses.replace(last, others=tuple(others))
    of_prime = [(launch, program) for launch in started if (program := prime_command.program_of(launch))]
    if of_prime:
        return prime_command.read(machine, source, script, *of_prime[-1])
    of_ours = [found for launch in started if (found := _launched_file(launch)) is not None]
    if of_ours:
        return read(machine, _beside(machine, source, of_ours[-1]), verl_version=verl_version)
    if script.passed_over and not skyrl.is_conf(script) and not any(launch.is_python for launch in started):
        raise UsageError(_passed_over(source.file, script.passed_over[-1]))
    if started:
        raise UsageError(_unknown_program(source.file, started))
    if not skyrl.is_conf(script):
        raise UsageError(
            f"target {source.file}: starts no program, and sets no variable of a dev.conf; the doctor reads {READABLE}"
        )
    return skyrl.read_conf(source, script, broken)


def _launched_file(launch: "Launch") -> str | None:
    """The configuration of `skyrl-train launch run.toml`."""
    if launch.name.rpartition("/")[2] != OUR_LAUNCHER or not launch.words or launch.words[0].text != "launch":
        return None
    return next((word.text for word in launch.words if word.text.endswith(".toml") and not word.unknown), None)


def _beside(machine: Machine, source: Source, path: str) -> Source:
    """A file that a script names: from the working directory, else from the folder of the script."""
    try:
        return read_source(machine, path)
    except UsageError:
        folder = source.file.rpartition("/")[0]
        if not folder or path.startswith("/"):
            raise
        return read_source(machine, f"{folder}/{path}")


def _passed_over(file: str, found: "PassedOver") -> str:
    """The refusal of a script whose training stands behind a condition that does not hold here."""
    place = f" of {found.file}" if found.file else ""
    condition = " ".join(found.condition.split())[:_MOST_SHOWN]
    asked = _EQUAL.search(condition)
    setting = f"{asked['name']}={asked['value']}" if asked is not None else ""
    how = f"run `{setting} skyrl-doctor …`" if setting else "set what it asks for, and run the doctor again"
    return (
        f"target {file}: line {found.training}{place} starts `{' '.join(found.program.split()[:3])[:_MOST_SHOWN]}` only "
        f"if `{condition}` in line {found.line} holds, which it does not here; {how}"
    )


def _unknown_program(file: str, started: Sequence["Launch"]) -> str:
    """The refusal of a script whose programs are all unknown: it names the last one."""
    program = started[-1]
    place = f"line {program.line} of {program.file}" if program.file else f"line {program.line}"
    if program.script:
        return (
            f"target {file}: {place} starts {program.script}, which cannot be read from here; "
            "pass the script that starts the training"
        )
    return f"target {file}: {place} starts {program.name}, which the doctor does not know; it reads {READABLE}"


def _merge(into: dict[str, Value], more: Mapping[str, Value]) -> None:
    for key, value in more.items():
        if value.written or key not in into or not into[key].written:
            into[key] = value


def _is_set_elsewhere(problem: Problem, values: Mapping[str, Value]) -> bool:
    """Whether the problem is a missing setting that another target sets."""
    found = values.get(problem.location.key or "")
    return problem.location.line is None and found is not None and found.written
