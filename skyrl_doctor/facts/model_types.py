"""The model types that the training interpreter's transformers supports."""

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
    """`types` are those of AutoConfig, `causal` those of AutoModelForCausalLM, `python` is the interpreter's path."""

    types: frozenset[str]
    causal: frozenset[str]
    python: str


@unknown_if_malformed()
def parse_model_types(text: str, python: str) -> ModelTypes | None:
    """Parses the output of children/model_types.py; None if transformers is not installed."""
    who = f"model types under {python}"
    answer = answer_of(text, who)
    if not answer.flag("installed"):
        return None
    types, causal = answer.texts("types"), answer.texts("causal")
    if not types or not causal:
        raise CouldNotLook(f"{who}: no model types found in the installed transformers")
    return ModelTypes(frozenset(types), frozenset(causal), python)


@probe(limit_s=LIMIT_S + 1)
def model_types(machine: Machine, model: ModelFiles, python: TrainingPython) -> ModelTypes:
    """Reads the model types from the training interpreter's transformers."""
    if model.config is None:  # without a model_type there is nothing to compare, so no process is started
        raise NotApplicable(f"{model.name} has no config.json on this machine, so its model_type is unknown")
    if python.problem:
        raise CouldNotLook(f"{python.label}: {python.problem}")
    done = machine.ask("model_types", python=python.path, limit_s=LIMIT_S)
    if not done.ok:
        raise CouldNotLook(done.why)
    found = parse_model_types(done.out, python.path)
    if found is None:
        raise NotApplicable(f"transformers is not installed for {python.path}")
    return found
