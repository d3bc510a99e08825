"""Reads a start of SkyRL's trainer: a script or command line with `key=value` words, which OmegaConf reads."""

import ast
import dataclasses
import re
from collections.abc import Collection, Iterator, Sequence

from skyrl_doctor.core.errors import CouldNotLook
from skyrl_doctor.core.model import Location
from skyrl_doctor.machine.base import Machine
from skyrl_doctor.plan.dialects.reading import Reading, by_key, default, renamed, unknown_values
from skyrl_doctor.plan.dialects.skyrl_tree import composed
from skyrl_doctor.plan.dialects.verl.sbatch import directives, job_values
from skyrl_doctor.plan.keys import NO_TRAINING, OTHER_PROGRAM, VALIDATES
from skyrl_doctor.plan.launches import Launch
from skyrl_doctor.plan.model import Problem, Value
from skyrl_doctor.plan.names.skyrl import DIALECT, FILES, NAMES, OLDER, SFT, SIGNS
from skyrl_doctor.plan.schemas.judge import key_problems
from skyrl_doctor.plan.schemas.packages import SKYRL
from skyrl_doctor.plan.schemas.versions import MAX_SOURCE_BYTES, Version, known_version, stored_version
from skyrl_doctor.plan.source import Source, folders_above
from skyrl_doctor.plan.stray_words import stray_words
from skyrl_doctor.plan.syntax.shell import Script
from skyrl_doctor.plan.syntax.shell_values import Word
from skyrl_doctor.plan.syntax.yaml import scalar

NODES = "slurm.nodes"
TRAIN, SFT_PROGRAM = "train", "sft"
OWN_MODULES = ("skyrl.train.entrypoints.", "skyrl_train.entrypoints.")
"""Entry points that take SkyRL's keys and no others."""
PACKAGES, VALIDATE = ("skyrl.train.", "skyrl_train."), "validate_cfg"
"""Where SkyRL's check of the settings is, and its name."""
GENERATES = ".main_generate"
SFT_MODULES = ("skyrl.train.main_sft",)
_WORD = re.compile(r"(?P<mode>\+{0,2}|~)(?P<key>[A-Za-z_]\w*(?:[.-][A-Za-z_]\w*)*)=(?P<value>.*)", re.DOTALL)
_ABSENT = "its file is not in a directory above the script; keys that it adds or refuses are not known"
_PATH = re.compile(r"[/~.$]|.*\.(?:parquet|jsonl?|arrow|csv)$")


def program_of(launch: Launch) -> str | None:
    """The program of SkyRL that a launch starts: by its module, or by keys that only SkyRL has."""
    if launch.module in SFT_MODULES or re.search(r"(?:^|\.)main_sft\w*$", launch.module):
        return SFT_PROGRAM
    if launch.module.startswith(OWN_MODULES):
        return TRAIN
    signs = sum(word.text.lstrip("+").startswith(SIGNS) for word in launch.words)
    return TRAIN if signs >= 2 else None


def read(machine: Machine, source: Source, script: Script, launch: Launch) -> Reading:
    """The values of the words, and the keys that this SkyRL lacks."""
    program = program_of(launch) or TRAIN
    own = {value.key: value for value in _values(launch.words, source.file)}
    names = SFT if program == SFT_PROGRAM else {**OLDER, **NAMES}
    job = tuple(directives(script, source.file, launch.job))
    is_own = launch.module.startswith((*OWN_MODULES, *SFT_MODULES))
    beside = [*job, *job_values(script, source.file, launch.job)]
    if not is_own:
        place = Location(launch.file or source.file, launch.line, launch.module)
        beside.append(Value(OTHER_PROGRAM, launch.module, place, written=False, own=OTHER_PROGRAM))
        if _validates(_entry(machine, source.file, launch)):
            beside.append(Value(VALIDATES, value=True, location=place, written=False, own=VALIDATES))
    if launch.module.endswith(GENERATES):
        beside.append(Value(NO_TRAINING, launch.module, location=None, written=False, own=NO_TRAINING))
    nodes = next(name for name, ours in names.items() if ours == NODES)
    one_node = default(NODES, 1, own=nodes, source="default of SkyRL")  # whatever the number of nodes of the job
    values = by_key(_checked(renamed(own, names)), [one_node], job)
    reading = Reading(
        dialect=DIALECT,
        values=values,
        own={**own, **{value.own: value for value in beside}},
    )
    strays = tuple(stray_words(script, source, "SkyRL", launch.at))
    tree = composed(machine, source.file, launch)
    if tree is not None:
        problems = (*tree.problems, *strays, *unknown_values(own.values()))
        return dataclasses.replace(reading, problems=problems, schema=tree.label)
    version = known_version(machine, SKYRL, source.file)
    if version is None or program not in version.schemas:
        version = stored_version(SKYRL, program, own)
    added = set() if is_own else _fields(_entry(machine, source.file, launch))
    of_keys = _problems(program, version, own.values(), None if is_own else added or set(), launch)
    problems = (*of_keys, *strays)
    unchecked = f"{launch.module}: {_ABSENT}" if added is None else ""
    return dataclasses.replace(
        reading, problems=problems, schema=version.label if version.is_known else "", unchecked=unchecked
    )


def _values(words: Sequence[Word], file: str) -> Iterator[Value]:
    for word in words:
        found = _WORD.fullmatch(word.text)
        if found is None:
            continue
        key = found["key"]
        unknown, value = word.unknown, found["value"]
        try:
            made = value if unknown else scalar(value)
        except ValueError:
            made = value  # a text that YAML cannot read stays a text
        yield Value(key, made, Location(word.file or file, word.line, key), own=key, unknown=unknown, span=word.span)


def _checked(values: Iterator[Value]) -> Iterator[Value]:
    """The values in the form that checks expect: data files as a list, without names of data sets."""
    for value in values:
        if value.key in FILES and not value.unknown:
            listed = value.value if isinstance(value.value, list) else [value.value]
            if not all(isinstance(item, str) and _PATH.match(item) for item in listed):
                continue
            yield dataclasses.replace(value, value=listed)
        elif value.value is not None:
            yield value


def _problems(
    program: str, version: Version, values: Collection[Value], added: set[str] | None, launch: Launch
) -> Iterator[Problem]:
    """Problems of the keys. Another entry point than SkyRL's own may add keys, so there they are warnings."""
    known = [value for value in values if added is None or value.key.rpartition(".")[2] not in added]
    if any(value.key.endswith(".override_entrypoint") for value in known):
        return
    plus = {word.text.lstrip("+").partition("=")[0] for word in launch.words if word.text.startswith("+")}
    for problem in key_problems(SKYRL, program, version, known):
        if added is None and not version.is_known and problem.location.key in plus:
            yield dataclasses.replace(problem, fatal=False)  # older versions take any key with a plus
        elif added is None:
            yield problem
        else:
            message = f"{problem.message}; {launch.module} may add it"
            yield dataclasses.replace(problem, message=message, fatal=False)
    yield from unknown_values(known)


def _entry(machine: Machine, file: str, launch: Launch) -> ast.Module | None:
    """The entry point's own file; None if it is not here."""
    path = f"{launch.module.replace('.', '/')}.py"
    for folder in folders_above(machine, file):
        try:
            return ast.parse(machine.read(f"{folder}/{path}", limit_bytes=MAX_SOURCE_BYTES))
        except (CouldNotLook, SyntaxError, ValueError, RecursionError):
            continue
    return None


def _fields(tree: ast.Module | None) -> set[str] | None:
    """The names of the fields that the entry point's own file adds; None without the file."""
    if tree is None:
        return None
    fields = (node for node in ast.walk(tree) if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name))
    return {field.target.id for field in fields if isinstance(field.target, ast.Name)}


def _validates(tree: ast.Module | None) -> bool:
    """Whether the entry point's own file imports SkyRL's validate_cfg and calls it."""
    nodes = [] if tree is None else list(ast.walk(tree))
    imported = any(
        isinstance(node, ast.ImportFrom)
        and (node.module or "").startswith(PACKAGES)
        and any(name.name == VALIDATE and name.asname is None for name in node.names)
        for node in nodes
    )
    return imported and any(
        isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == VALIDATE for node in nodes
    )
