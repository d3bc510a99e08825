"""Reads SkyRL-agent's two files: dev.conf (shell variables) and the task YAML."""

from collections.abc import Collection, Iterator, Mapping

from skyrl_doctor.core.model import Location
from skyrl_doctor.plan.dialects.reading import Reading, by_key, default, own_values, renamed, unknown_values
from skyrl_doctor.plan.dialects.verl.sbatch import mebibytes
from skyrl_doctor.plan.model import Problem, Value
from skyrl_doctor.plan.names.skyrl_agent import CONF, CONF_SIGNS, LISTS, MEMORY, TASK, TIMES
from skyrl_doctor.plan.source import Source
from skyrl_doctor.plan.syntax.shell import Script
from skyrl_doctor.plan.syntax.shell_values import Variable
from skyrl_doctor.plan.syntax.yaml import leaves, scalar

NAME = "skyrl-agent"
SOURCE = "default of SkyRL-agent"
NOTE_TOKENS = 3000
"""SkyRL-agent warns the model when fewer tokens than this are left of max_prompt_length."""


UNCHECKED = "SkyRL-agent's files may hold any other variable or key"
_QUIET = (
    ":",
    "[",
    "[[",
    "cd",
    "echo",
    "eval",
    "mkdir",
    "module",
    "printf",
    "set",
    "shopt",
    "test",
    "true",
    "ulimit",
    "unset",
)
"""Commands that a file of variables may hold."""
_TASK_SIGNS = ("agent_cls", "dispatcher", "generator.infer_backend", *TASK)


def is_conf(script: Script) -> bool:
    """Whether a script is a dev.conf: it sets two of its variables, or MODEL, and does nothing else."""
    names = script.variables.keys()
    is_quiet = all(command.name in _QUIET for command in script.commands)
    return is_quiet and (len(CONF_SIGNS & names) >= 2 or "MODEL" in names)


def is_task(keys: Collection[str]) -> bool:
    """Whether these dotted keys are SkyRL-agent's. SkyRL has a `generator` too, and a `trainer` beside it."""
    return any(key in keys for key in _TASK_SIGNS) and "trainer" not in keys and "actor_rollout_ref" not in keys


def read_conf(source: Source, script: Script, broken: Problem | None) -> Reading:
    """Reads a dev.conf; `broken` is its syntax error. An unknown value (a command, an unset variable) is a problem."""
    own = {name: _own(found, source.file) for name, found in script.variables.items()}
    problems = [*unknown_values(own.values()), *([broken] if broken is not None else [])]
    values = by_key(_conf_values(own))
    return Reading(dialect=NAME, values=values, own=own, problems=tuple(problems), part="dev.conf", skipped=UNCHECKED)


def read_task(source: Source) -> Reading:
    """Reads SkyRL-agent's task YAML with the defaults of its code."""
    own = own_values(leaves(source), source.file)
    defaults = (
        default(
            "rollout.keep_stop", value=False, own="generator.sampling_params.include_stop_str_in_output", source=SOURCE
        ),
        default("agent.budget_note_tokens", NOTE_TOKENS, own="generator.max_prompt_length", source=SOURCE),
    )
    values = by_key(renamed(own, TASK), defaults)
    return Reading(dialect=NAME, values=values, own=own, part="task YAML", skipped=UNCHECKED)


def _own(found: Variable, file: str) -> Value:
    texts = [word.text for word in found.words]
    unknown = next((word.unknown for word in found.words if word.unknown), found.unknown)
    span, place = (found.words[0].span, found.words[0].file or file) if found.words else (None, file)
    value: object = texts if found.is_array else (texts[0] if texts else "")
    return Value(found.name, value, Location(place, found.line, found.name), own=found.name, unknown=unknown, span=span)


def _conf_values(own: Mapping[str, Value]) -> Iterator[Value]:
    for name, key in CONF.items():
        if name in own:
            yield _typed(own[name], key)
    for name, key in MEMORY.items():
        if name in own:
            yield _made(own[name], key, mebibytes(str(own[name].value)))
    for name, keys in TIMES.items():
        if name in own:
            yield from (_made(own[name], key, own[name].value) for key in keys)
    for name, key in LISTS.items():
        if name in own:
            yield _made(own[name], key, _listed(own[name].value))


def _typed(value: Value, key: str) -> Value:
    """Turns a number that the shell holds as a string back into a number."""
    try:
        made = scalar(value.value) if isinstance(value.value, str) else value.value
    except ValueError:
        made = value.value
    is_number = isinstance(made, int | float) and not isinstance(made, bool)
    return _made(value, key, made if is_number else value.value)


def _listed(value: object) -> list[str]:
    return (
        [str(item) for item in value] if isinstance(value, list) else [part for part in str(value).split(",") if part]
    )


def _made(value: Value, key: str, made: object) -> Value:
    kept = value.value if value.unknown else made
    return Value(key, kept, value.location, own=value.own, unknown=value.unknown, span=value.span)
