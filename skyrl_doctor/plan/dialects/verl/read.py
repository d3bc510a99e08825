"""Reads a verl target: a command line, a script or a Hydra YAML."""

import dataclasses
from collections.abc import Iterator, Mapping, Sequence

from skyrl_doctor.core.model import Location
from skyrl_doctor.machine.base import Machine
from skyrl_doctor.plan.dialects.reading import Reading, unknown_values, with_key
from skyrl_doctor.plan.dialects.verl.command import Call
from skyrl_doctor.plan.dialects.verl.compose import Composition, Given
from skyrl_doctor.plan.dialects.verl.entry_points import EntryPoint
from skyrl_doctor.plan.dialects.verl.judge import composed_yaml, judge
from skyrl_doctor.plan.dialects.verl.keys import keys_of, trains
from skyrl_doctor.plan.dialects.verl.ray import ray_values
from skyrl_doctor.plan.dialects.verl.rules import compares_settings, release_of
from skyrl_doctor.plan.dialects.verl.runs import Place
from skyrl_doctor.plan.dialects.verl.sbatch import directives, job_values
from skyrl_doctor.plan.keys import NO_TRAINING, OTHER_PROGRAM, TAKES_ANY_BATCH, TAKES_LARGER_MINI_BATCH
from skyrl_doctor.plan.model import Problem, Value
from skyrl_doctor.plan.sbatch_environ import MOST_RUNS
from skyrl_doctor.plan.source import Source, folders_above
from skyrl_doctor.plan.stray_words import stray_words
from skyrl_doctor.plan.syntax.leaf import Leaf
from skyrl_doctor.plan.syntax.shell import Script
from skyrl_doctor.plan.syntax.yaml import leaves
from skyrl_train.contracts.verl_keys import KEYS, MODE, OWN_GPUS, OWN_NODES, SEPARATE, Key

NAME = "verl"
ROLLOUT_GPUS = "deployment.inference_gpus"


def read_command(
    machine: Machine,
    source: Source,
    script: Script,
    found: Sequence[Call],
    broken: Problem | None,
    verl_version: str | None = None,
) -> Reading:
    """Reads a script or a command line with these calls of a trainer of verl or of a recipe; `broken` is its syntax error."""
    call = found[-1]
    elsewhere = sorted({other.line for other in found if (other.place, other.line) != (call.place, call.line)})
    *others, last = [
        _read_call(machine, source, script, one, broken, verl_version)
        for one in found[-MOST_RUNS:]
        if (one.place, one.line) == (call.place, call.line)
    ]
    if elsewhere:
        lines = ", ".join(map(str, elsewhere))
        message = (
            f"{len(elsewhere) + 1} calls of {call.entry.name} found; only the last one is checked, not line {lines}"
        )
        note = Problem(message=message, location=Location(call.place, call.line, None), fatal=False)
        *others, last = [dataclasses.replace(one, problems=(*one.problems, note)) for one in (*others, last)]
    return dataclasses.replace(last, others=tuple(others))


def _read_call(
    machine: Machine, source: Source, script: Script, call: Call, broken: Problem | None, verl_version: str | None
) -> Reading:
    environ = machine.environ()
    judged = judge(machine, call, source.file, environ, verl_version)
    problems = [*judged.composed.problems, *stray_words(script, source, "verl", call.at)]
    problems += [broken] if broken is not None else []
    extra = [
        *_python_values(call),
        *_world_values(call),
        *_exports(script, source.file),
        *directives(script, source.file, call.job),
    ]
    reading = _reading(judged.composed, environ, problems, extra, call.entry, judged.unchecked)
    beside = (*job_values(script, source.file, call.job), *_srun(call), *ray_values(script, call, source))
    job = {value.own: value for value in beside}
    if not judged.compares_batches:
        job[TAKES_ANY_BATCH] = Value(TAKES_ANY_BATCH, value=True, location=None, written=False, own=TAKES_ANY_BATCH)
    if judged.takes_larger:
        taken = TAKES_LARGER_MINI_BATCH
        job[taken] = Value(taken, value=judged.takes_larger, location=None, written=False, own=taken)
    if not trains(call.entry):
        job[NO_TRAINING] = Value(NO_TRAINING, call.entry.module, location=None, written=False, own=NO_TRAINING)
    around = Place(machine, folders_above(machine, source.file))
    if not compares_settings(call.entry, judged.verl, around):
        place = Location(call.place, call.line, call.entry.name)
        job[OTHER_PROGRAM] = Value(OTHER_PROGRAM, call.entry.module, place, written=False, own=OTHER_PROGRAM)
    own = {**reading.own, **job}
    return dataclasses.replace(reading, own=own, release=release_of(call.entry, judged.verl, own))


def read_yaml(machine: Machine, source: Source, verl_version: str | None = None) -> Reading:
    """Reads a Hydra YAML, over verl's defaults if its defaults list names them."""
    found = leaves(source)
    environ = machine.environ()
    folders = folders_above(machine, source.file)
    composed, unchecked = composed_yaml(machine, source, folders, environ, verl_version)
    for leaf in found:
        if leaf.path[0] not in ("defaults", "hydra") and (not leaf.is_table or _is_empty(leaf, found)):
            given = Given(f"{leaf.key}=", Location(source.file, leaf.line, leaf.key), "", leaf.span)
            composed.set(leaf.key, leaf.value, given)
    return _reading(composed, environ, composed.problems, [], None, unchecked)


def _reading(
    composed: Composition,
    environ: Mapping[str, str],
    problems: list[Problem],
    extra: list[Value],
    entry: EntryPoint | None,
    unchecked: str,
) -> Reading:
    own = composed.resolved(environ)
    keys = KEYS if entry is None else keys_of(entry)
    values = {key.ours: _ours(found, key) for key in keys if key.is_read and (found := _found(own, key)) is not None}
    if entry is not None and entry.has_own_rollout_gpus:
        extra = [*extra, *_rollout_gpus(own, "rollout.nnodes", "rollout.n_gpus_per_node")]
    elif (mode := own.get(MODE)) is not None and mode.value == SEPARATE:
        extra = [*extra, *_rollout_gpus(own, OWN_NODES, OWN_GPUS)]
    values.update((value.key, value) for value in extra if value.key not in values)
    own.update((value.own, value) for value in extra if value.own.startswith("#SBATCH "))
    return Reading(
        dialect=NAME, values=values, own=own, problems=(*problems, *unknown_values(own.values())), unchecked=unchecked
    )


def _found(own: Mapping[str, Value], key: Key) -> Value | None:
    """The value under today's name or an older one; the name that is written wins."""
    found = [own[name] for name in (key.verl, *key.older) if name in own]
    return next((value for value in found if value.written), found[0] if found else None)


def _rollout_gpus(own: Mapping[str, Value], number: str, per_node: str) -> Iterator[Value]:
    """The GPUs that only the rollouts use, beside those of the trainer."""
    nodes, each = own.get(number), own.get(per_node)
    if nodes is None or each is None:
        return
    unknown = nodes.unknown or each.unknown
    counts = (nodes.value, each.value)
    if not unknown and not all(isinstance(count, int) and not isinstance(count, bool) for count in counts):
        unknown = "not a number"
    total = each.value if unknown else nodes.value * each.value
    yield dataclasses.replace(with_key(each, ROLLOUT_GPUS), value=total, unknown=unknown)


def _ours(value: Value, key: Key) -> Value:
    """A value of verl under our name, as RunConfig has it."""
    found = with_key(value, key.ours)
    return found if found.unknown else dataclasses.replace(found, value=key.from_verl(found.value))


def _python_values(call: Call) -> Iterator[Value]:
    location = Location(call.place, call.line, call.entry.name)
    yield Value("python.launcher", call.launcher, location, own=call.entry.name)
    if call.interpreter is not None:
        yield Value("python.interpreter", call.interpreter, location, own=call.entry.name)


_WORLD_OPTIONS = {"slurm.nodes": "--nnodes", "slurm.gpus_per_node": "--nproc_per_node"}


def _world_values(call: Call) -> Iterator[Value]:
    """GPUs and nodes of a trainer that torchrun starts. Its own settings of them, if it has any, are not read."""
    for key, given in call.world.items():
        count = int(given.text) if given.text.isdigit() and len(given.text) < 10 else given.text
        unknown = given.unknown or ("" if isinstance(count, int) else "not a number")
        option = f"torchrun {_WORLD_OPTIONS[key]}"
        yield Value(key, count, dataclasses.replace(given.location, key=option), own=option, unknown=unknown)


def _srun(call: Call) -> Iterator[Value]:
    """How srun starts the trainer: its own number of tasks, or 0 for that of the job."""
    if call.srun is not None:
        location = Location(call.place, call.line, "srun")
        yield Value("srun", call.srun, location, own="srun")
        yield Value("srun.starts", "torchrun" if call.world else call.entry.name, location, own="srun.starts")


def _exports(script: Script, file: str) -> Iterator[Value]:
    """Exported variables, which the driver inherits."""
    exported = [script.variables[name] for name in sorted(script.exported) if name in script.variables]
    known = {found.name: found.words[0].text for found in exported if found.words and not found.words[0].unknown}
    for found in exported:
        if found.words:
            word = found.words[0]
            location = Location(word.file or file, found.line, found.name)
            yield Value(f"env.{found.name}", word.text, location, own=found.name, unknown=word.unknown)
    if exported:
        first = exported[0]
        place = first.words[0].file or file if first.words else file
        yield Value("env", known, Location(place, first.line, "export"), own="export")


def _is_empty(leaf: Leaf, found: tuple[Leaf, ...]) -> bool:
    depth = len(leaf.path)
    return not any(len(other.path) > depth and other.path[:depth] == leaf.path for other in found)
