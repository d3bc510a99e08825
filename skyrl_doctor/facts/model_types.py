"""The model types that the training interpreter's transformers knows."""

from skyrl_doctor.core.errors import CouldNotLook
from skyrl_doctor.core.record import record
from skyrl_doctor.facts.child import answer_of


@record
class ModelTypes:
    """`types`: what AutoConfig knows; `causal`: what AutoModelForCausalLM loads; `python`: who was asked."""

    types: frozenset[str]
    causal: frozenset[str]
    python: str


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
