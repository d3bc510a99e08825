"""Reads a verl target: a command line, a script or a Hydra YAML."""

import dataclasses
from collections.abc import Iterator, Mapping

from skyrl_doctor.core.errors import UsageError
from skyrl_doctor.core.model import Location
from skyrl_doctor.machine.base import Machine
from skyrl_doctor.plan.dialects.reading import Reading, with_key
from skyrl_doctor.plan.dialects.verl import defaults as verl_defaults
from skyrl_doctor.plan.dialects.verl.command import Call, calls, stray_overrides
from skyrl_doctor.plan.dialects.verl.compose import Composition, Given, unresolved_problems
from skyrl_doctor.plan.dialects.verl.sbatch import directives
from skyrl_doctor.plan.model import Problem, Value
from skyrl_doctor.plan.source import Source
from skyrl_doctor.plan.syntax.leaf import Leaf
from skyrl_doctor.plan.syntax.shell import Script, read_script
from skyrl_doctor.plan.syntax.yaml import leaves
from skyrl_train.contracts.verl_keys import KEYS, Key

NAME = "verl"


def read_command(machine: Machine, source: Source) -> Reading:
    """Reads a shell script or a command line that calls main_ppo."""
    environ = machine.environ()
    script = read_script(source, environ)
    found = calls(script, source.file)
    if not found:
        raise UsageError(f"target {source.file}: no readable call of main_ppo found")
    call = found[-1]
    composed = _composed(machine, call.engine, call.interpreter or environ.get("UV_PYTHON"), source.file)
    for given in call.overrides:
        composed.apply(given)
    problems = [*composed.problems, *stray_overrides(script, source.file, call)]
    if len(found) > 1:
        lines = ", ".join(str(other.line) for other in found[:-1])
        message = f"{len(found)} calls of main_ppo found; only the last one is checked, not line {lines}"
        problems.append(Problem(message=message, location=Location(source.file, call.line, None), fatal=False))
    extra = [*_python_values(call, source.file), *_exports(script, source.file), *directives(script, source.file)]
    return _reading(composed, environ, problems, extra)


def read_yaml(machine: Machine, source: Source) -> Reading:
    """Reads a Hydra YAML, over verl's defaults if its defaults list names them."""
    found = leaves(source)
    choice = _choice(found)
    composed = Composition()
    if choice is not None:
        composed = _composed(machine, choice, machine.environ().get("UV_PYTHON"), source.file)
    for leaf in found:
        if leaf.path[0] not in ("defaults", "hydra") and (not leaf.is_table or _is_empty(leaf, found)):
            given = Given(f"{leaf.key}=", Location(source.file, leaf.line, leaf.key), "", leaf.span)
            composed.set(leaf.key, leaf.value, given)
    return _reading(composed, machine.environ(), composed.problems, [])


def _composed(machine: Machine, engine: str, interpreter: str | None, file: str) -> Composition:
    if engine not in verl_defaults.ENGINES:
        composed = Composition.of(verl_defaults.shipped("dp"))
        known = ", ".join(verl_defaults.ENGINES)
        message = f"unknown model_engine {engine!r}; expected one of {known}"
        composed.problems.append(Problem(message=message, location=Location(file, None, "model_engine")))
        return composed
    found = verl_defaults.installed(machine, interpreter, engine)
    return Composition.of(found or verl_defaults.shipped(engine))


def _reading(composed: Composition, environ: Mapping[str, str], problems: list[Problem], extra: list[Value]) -> Reading:
    own = composed.resolved(environ)
    values = {key.ours: _ours(own[key.verl], key) for key in KEYS if key.is_read and key.verl in own}
    values.update((value.key, value) for value in extra if value.key not in values)
    own.update((value.own, value) for value in extra if value.own.startswith("#SBATCH "))
    return Reading(dialect=NAME, values=values, own=own, problems=(*problems, *unresolved_problems(own)))


def _ours(value: Value, key: Key) -> Value:
    """A value of verl under our name, as RunConfig has it."""
    found = with_key(value, key.ours)
    return found if found.unknown else dataclasses.replace(found, value=key.from_verl(found.value))


def _python_values(call: Call, file: str) -> Iterator[Value]:
    location = Location(file, call.line, "main_ppo")
    yield Value("python.launcher", call.launcher, location, own="main_ppo")
    if call.interpreter is not None:
        yield Value("python.interpreter", call.interpreter, location, own="main_ppo")


def _exports(script: Script, file: str) -> Iterator[Value]:
    """Exported variables, which the driver inherits."""
    exported = [script.variables[name] for name in sorted(script.exported) if name in script.variables]
    known = {found.name: found.words[0].text for found in exported if found.words and not found.words[0].unknown}
    for found in exported:
        if found.words:
            word = found.words[0]
            location = Location(file, found.line, found.name)
            yield Value(f"env.{found.name}", word.text, location, own=found.name, unknown=word.unknown)
    if exported:
        yield Value("env", known, Location(file, exported[0].line, "export"), own="export")


def _choice(found: tuple[Leaf, ...]) -> str | None:
    """The engine of verl that a defaults list names, or None."""
    items = next((leaf for leaf in found if leaf.path == ("defaults",)), None)
    if items is None:
        return None
    names = [str(item) for item in items.value] if isinstance(items.value, list) else []
    names += [str(leaf.value) for leaf in found if leaf.path[0] == "defaults" and len(leaf.path) > 1]
    for name in names:
        if "ppo" in name and name.endswith("trainer"):
            return next((engine for engine in ("megatron", "veomni", "torchtitan") if engine in name), "dp")
    return None


def _is_empty(leaf: Leaf, found: tuple[Leaf, ...]) -> bool:
    depth = len(leaf.path)
    return not any(len(other.path) > depth and other.path[:depth] == leaf.path for other in found)
