"""Classifies each ERROR of the doctor, and each pass, by the truth."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from benchmarks.field.doctor import Error, Opinion
from benchmarks.field.truth import Truth

TRUE, VERSION, FALSE, BY_HAND = "true", "version", "false", "by hand"
KINDS_OF_DIALECT = {
    "verl": {"hydra"},
    "prime-rl": {"prime"},
    "prime-rl-part": {"prime"},
    "skyrl": {"skyrl", "hydra"},  # before 2026 SkyRL composed its configuration with Hydra
}
WARNED = "warned: "
_INDEX = re.compile(r"\[(\d+)\]")


@dataclass(frozen=True)
class Judged:
    """An ERROR with its class."""

    error: Error
    verdict: str


def judged(file: str, error: Error, truth: Truth, labels: Mapping[str, str]) -> Judged:
    """The class of one ERROR. A label decides what no program can decide."""
    label = labels.get(label_of(file, error))
    if label is not None:
        return Judged(error, label)
    if error.id != "CFG004" or not truth.is_known or not error.key:
        return Judged(error, BY_HAND)
    if names(truth.refused, error.key) or names(dict.fromkeys(truth.lost, ""), error.key):
        return Judged(error, TRUE)
    return Judged(error, VERSION if names(truth.by_version, error.key) else FALSE)


def label_of(file: str, error: Error) -> str:
    return f"{file} {error.id} {error.key}"


def names(refused: Mapping[str, str], key: str) -> bool:
    """Whether one of the refused settings is this key, a part of it or a table around it."""
    path = _INDEX.sub(r".\1", key.lstrip("+~"))
    for setting in refused:
        other = setting.lstrip("+~").partition("=")[0].partition("@")[0]
        if path == other or path.startswith(f"{other}.") or other.startswith(f"{path}."):
            return True
    return False


def is_warned(setting: str, messages: Sequence[str]) -> bool:
    """Whether the report names this setting in a warning."""
    key = setting.lstrip("+~").partition("=")[0].partition("@")[0]
    return any(key in message for message in messages)


def false_pass(opinion: Opinion, truth: Truth) -> str:
    """Why a pass is wrong, or an empty text. A report that could not check the keys, and says so, is no pass."""
    if opinion.status not in (0, 3) or opinion.refused or opinion.unchecked:
        return ""
    if truth.refused and truth.is_known:
        silent = {setting: why for setting, why in truth.refused.items() if not is_warned(setting, opinion.warned)}
        setting, why = next(iter((silent or truth.refused).items()))
        return f"{'' if silent else WARNED}its own program refuses {setting}: {why.splitlines()[0][:160]}"
    allowed = {kind for dialect in opinion.dialect.split("+") for kind in KINDS_OF_DIALECT.get(dialect, set())}
    others = [launch for launch in truth.launches if launch.kind not in allowed]
    if truth.launches and len(others) == len(truth.launches):
        program = others[0].program or others[0].kind
        told = WARNED if any(program in message for message in opinion.warned) else ""
        return f"{told}read as {opinion.dialect}, but it starts {program}"
    return ""
