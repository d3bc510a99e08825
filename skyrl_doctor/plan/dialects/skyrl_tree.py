"""SkyRL before 2026 composes its settings with Hydra. A checkout of that time, or a fork, is judged by its own tree."""

import dataclasses
from functools import partial

from skyrl_doctor.core.model import Location
from skyrl_doctor.machine.base import Machine
from skyrl_doctor.plan.dialects.verl.command import call_of
from skyrl_doctor.plan.dialects.verl.compose import Composition, Given
from skyrl_doctor.plan.dialects.verl.runs import NoTreeError, Place, composed_run
from skyrl_doctor.plan.dialects.verl.tree import OnDisk
from skyrl_doctor.plan.dialects.verl.versions import Origin, Verl
from skyrl_doctor.plan.launches import Launch
from skyrl_doctor.plan.similar import same_kind, similar_key
from skyrl_doctor.plan.source import folders_above

CONFIG = "skyrl_train/config"
PATH = "pkg://skyrl_train.config"


def composed(machine: Machine, file: str, launch: Launch) -> Composition | None:
    """What the checkout around the file composes; None if there is none, or if this program does not use Hydra."""
    folders = folders_above(machine, file)
    call = call_of(launch.module, launch.words, file)
    own = next((tree for folder in folders if (tree := OnDisk(machine, folder)).has_folder(CONFIG)), None)
    if own is None or call is None:
        return None
    call.options.setdefault("path", Given(PATH, Location(launch.file or file, launch.line, None)))
    version = Verl("", own, Origin.CHECKOUT, own.root, "skyrl")
    try:
        return _explained(composed_run(call, version, Place(machine, folders)))
    except NoTreeError:
        return None


def _explained(made: Composition) -> Composition:
    """With the key that each unknown one may be a misspelling of."""
    for missing in made.missing:
        value = None if missing.given.unknown else missing.value
        name = similar_key(missing.key, made.values, partial(_fits, made, value))
        hint = f"did you mean {name}?" if name else f"is it misspelt? A key of your own needs +{missing.key}=…"
        problem = made.problems[missing.problem]
        moves = {missing.key: name} if name else {}
        made.problems[missing.problem] = dataclasses.replace(problem, message=f"{problem.message}; {hint}", moves=moves)
    return made


def _fits(made: Composition, value: object, name: str) -> bool:
    return same_kind(value, made.values[name].value)
