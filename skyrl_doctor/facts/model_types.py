"""The model types that the training interpreter's transformers knows."""

from skyrl_doctor.core.check import probe
from skyrl_doctor.core.errors import CouldNotLook, NotApplicable
from skyrl_doctor.core.record import record
from skyrl_doctor.facts.child import answer_of, unknown_if_malformed
from skyrl_doctor.facts.interpreter import TrainingPython
from skyrl_doctor.facts.model_files import ModelFiles
from skyrl_doctor.machine.base import Machine

LIMIT_S = 5.0


@record
class ModelTypes:
    """`types`: what AutoConfig knows; `causal`: what AutoModelForCausalLM loads; `python`: who was asked."""

    types: frozenset[str]
    causal: frozenset[str]
    python: str


@unknown_if_malformed()
def parse_model_types(text: str, python: str) -> ModelTypes | None:
    """The answer of children/model_types.py; None where transformers is not installed."""
    who = f"model types under {python}"
    answer = answer_of(text, who)
    if not answer.flag("installed"):
        return None
    types, causal = answer.texts("types"), answer.texts("causal")
    if not types or not causal:
        raise CouldNotLook(f"{who}: the installed transformers keeps its model types where they were not looked for")
    return ModelTypes(frozenset(types), frozenset(causal), python)


@probe(limit_s=LIMIT_S + 1)
def model_types(machine: Machine, model: ModelFiles, python: TrainingPython) -> ModelTypes:
    """Asks the training interpreter which model types its transformers knows."""
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
