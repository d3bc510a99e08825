"""Asks the training interpreter which model types its transformers knows."""

from skyrl_doctor.core.check import probe
from skyrl_doctor.core.errors import CouldNotLook, NotApplicable
from skyrl_doctor.facts.interpreter import TrainingPython
from skyrl_doctor.facts.model_files import ModelFiles
from skyrl_doctor.facts.model_types import ModelTypes, parse_model_types
from skyrl_doctor.machine.base import Machine

LIMIT_S = 5.0


@probe(limit_s=LIMIT_S + 1)
def model_types(machine: Machine, model: ModelFiles, python: TrainingPython) -> ModelTypes:
    if model.config is None:  # asking costs a process; without a model's type there is nothing to compare
        raise NotApplicable(f"{model.name} has no config.json on this machine that names a model_type")
    if python.fault:
        raise CouldNotLook(f"{python.shown}: {python.fault}")
    done = machine.ask("model_types", python=python.path, limit_s=LIMIT_S)
    if not done.ok:
        raise CouldNotLook(done.why)
    found = parse_model_types(done.out, python.path)
    if found is None:
        raise NotApplicable(f"transformers is not installed for {python.path}")
    return found
