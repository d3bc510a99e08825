"""Reads a start of SkyRL's trainer: a script or command line with `key=value` words, which OmegaConf reads."""

import dataclasses
import re
from collections.abc import Collection, Iterator, Sequence

from skyrl_doctor.core.model import Location
from skyrl_doctor.machine.base import Machine
from skyrl_doctor.plan.dialects.reading import Reading, by_key, default, renamed, unknown_values
from skyrl_doctor.plan.dialects.skyrl_program import Program, program_of_files
from skyrl_doctor.plan.dialects.skyrl_tree import composed
from skyrl_doctor.plan.dialects.verl.sbatch import directives, job_values
from skyrl_doctor.plan.keys import NO_TRAINING, OTHER_PROGRAM, VALIDATES
from skyrl_doctor.plan.launches import Launch
from skyrl_doctor.plan.model import Problem, Value
from skyrl_doctor.plan.names.skyrl import DIALECT, FILES, NAMES, OLDER, SFT, SIGNS
from skyrl_doctor.plan.schemas.judge import DID_YOU_MEAN, key_problems
from skyrl_doctor.plan.schemas.packages import SKYRL
from skyrl_doctor.plan.schemas.versions import Version, known_version, stored_version
from skyrl_doctor.plan.source import Source
from skyrl_doctor.plan.stray_words import stray_words
from skyrl_doctor.plan.syntax.shell import Script
from skyrl_doctor.plan.syntax.shell_values import Word
from skyrl_doctor.plan.syntax.yaml import scalar

NODES = "slurm.nodes"
TRAIN, SFT_PROGRAM = "train", "sft"
OWN_MODULES = ("skyrl.train.entrypoints.", "skyrl_train.entrypoints.")
"""Entry points that take SkyRL's keys and no others."""
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
    files = None if is_own else program_of_files(machine, source.file, launch.module)
    if not is_own:
        place = Location(launch.file or source.file, launch.line, launch.module)
        beside.append(Value(OTHER_PROGRAM, launch.module, place, written=False, own=OTHER_PROGRAM))
        if files is not None and files.validates:
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
    schema = version.schemas[program]
    written = [value for value in own.values() if files is None or not files.adds(value.key, schema)]
    of_keys = _problems(program, version, written, launch, _may_add(launch, files, is_own=is_own))
    problems = (*of_keys, *strays)
    unchecked = f"{launch.module}: {_ABSENT}" if files is None and not is_own else ""
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


def _may_add(launch: Launch, files: Program | None, *, is_own: bool) -> str:
    """The end of a message about a key: what another program than SkyRL's own has to do with it; empty for its own."""
    if is_own:
        return ""
    return f"; {launch.module} may add it" if files is None else f"; no class in the files of {launch.module} adds it"


def _problems(
    program: str, version: Version, written: Collection[Value], launch: Launch, may_add: str
) -> Iterator[Problem]:
    """Problems of the keys. Another entry point than SkyRL's own may add keys, so there they are warnings."""
    if any(value.key.endswith(".override_entrypoint") for value in written):
        return
    plus = {word.text.lstrip("+").partition("=")[0] for word in launch.words if word.text.startswith("+")}
    for problem in key_problems(SKYRL, program, version, written):
        if may_add:
            fact, hint, name = problem.message.partition(DID_YOU_MEAN)
            yield dataclasses.replace(problem, message=f"{fact}{may_add}{hint}{name}", fatal=False)
        elif not version.is_known and problem.location.key in plus:
            yield dataclasses.replace(problem, fatal=False)  # older versions take any key with a plus
        else:
            yield problem
    yield from unknown_values(written)
