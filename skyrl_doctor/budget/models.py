"""Finds the shape of a plan's model: from its files on this machine, else by its public name."""

from collections.abc import Mapping

from skyrl_doctor.core.errors import CouldNotLook, NotApplicable
from skyrl_doctor.core.record import record
from skyrl_doctor.facts.model_files import (
    CONFIG,
    MODEL_KEY,
    ModelFiles,
    files_of,
    model_files,
    parse_config,
)
from skyrl_doctor.machine.base import Absent, Machine
from skyrl_doctor.machine.paths import expand_home
from skyrl_doctor.plan.answers import PRIME
from skyrl_doctor.plan.model import Plan
from skyrl_train.memory import MemoryModelError, ModelShape, UnsupportedModelError, shape_from_config
from skyrl_train.memory.known import EXAMPLES, known_config

PASS = f"pass --model with a directory, a config.json or a public name ({EXAMPLES})"
BY_NAME = "shape of the public model; not on this machine"


@record
class Model:
    """A model's shape and where it comes from."""

    name: str
    shape: ModelShape
    source: str


def model_of(files: ModelFiles) -> Model:
    """The model on this machine, else the public model of this name. NotApplicable if its memory is not modelled."""
    config: Mapping[str, object] | None = files.config
    source = f"{files.directory}/{CONFIG}"
    if config is None:
        config, source = known_config(files.name), BY_NAME
    if config is None:
        why = (
            f"{files.directory} has no readable config.json"
            if files.directory
            else f"{files.name or repr('')} is not on this machine"
        )
        raise NotApplicable(f"the model's shape is unknown: {why} and is not among the known public models; {PASS}")
    return _model(files.name, config, source)


def given_model(machine: Machine, name: str, environ: Mapping[str, str]) -> Model:
    """The model of `--model`: a config.json, a directory, or a name in the hub's cache or among the public models."""
    if name.endswith(".json"):
        place = expand_home(name, environ)
        try:
            config = parse_config(machine.read(place))
        except Absent:
            raise CouldNotLook(f"{place} does not exist") from None
        if config is None:
            raise CouldNotLook(f"{place} is not a JSON object")
        return _model(name, config, place)
    return model_of(files_of(machine, name, environ))


PRIME_TRAINED = "trainer.model.name"
"""The trained model of a prime-rl file, where that of inference has other weights. It comes before the shared model.name."""


def planned_model(machine: Machine, plan: Plan, environ: Mapping[str, str]) -> Model:
    """The model that the plan names. Where a variable hides the folder, the last part of the path is enough."""
    value = plan.values.get(MODEL_KEY)
    trained = plan.own.get(PRIME_TRAINED) if plan.is_of(*PRIME) else None
    if trained is not None and isinstance(trained.value, str) and not trained.unknown:
        return given_model(machine, trained.value, environ)
    if value is None or (not value.unknown and value.value in (None, "")):
        raise NotApplicable(f"no configuration names a model; {PASS}")
    if not value.unknown:
        return model_of(model_files(machine, plan, environ))
    written = str(value.value)
    config = None if "$" in written.rpartition("/")[2] else known_config(written)
    if config is None:
        raise NotApplicable(f"{plan.name(MODEL_KEY)} is {written!r}: {value.unknown}; {PASS}")
    return _model(written, config, BY_NAME)


def _model(name: str, config: Mapping[str, object], source: str) -> Model:
    try:
        return Model(name, shape_from_config(config), source)
    except UnsupportedModelError as error:
        raise NotApplicable(f"{name} ({source}): {error}") from None
    except MemoryModelError as error:
        raise CouldNotLook(f"{name} ({source}): {error}") from None
