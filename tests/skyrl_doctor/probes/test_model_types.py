"""Asking for model types on recorded machines."""

import pytest

from skyrl_doctor.core.errors import CouldNotLook, NotApplicable
from skyrl_doctor.facts.interpreter import TrainingPython
from skyrl_doctor.facts.model_types import ModelTypes
from skyrl_doctor.machine.recorded import RecordedMachine
from skyrl_doctor.probes.model_types import model_types

PYTHON = TrainingPython("/py", "python.interpreter")


def look(answer: dict[str, object], python: TrainingPython = PYTHON) -> object:
    return model_types(RecordedMachine({"ask model_types /py": answer}, strict=True), python)


def test_answers_and_reasons() -> None:
    good = {"rc": 0, "out": ['{"installed": true, "types": ["qwen2"], "causal": ["qwen2"]}']}
    assert look(good) == ModelTypes(frozenset({"qwen2"}), frozenset({"qwen2"}), "/py")
    with pytest.raises(NotApplicable, match="transformers is not installed for /py"):
        look({"rc": 0, "out": ['{"installed": false, "types": [], "causal": []}']})
    with pytest.raises(CouldNotLook, match="no answer within 5 s"):
        look({"timed_out": True})
    with pytest.raises(CouldNotLook, match="it is gone"):
        look({}, TrainingPython("/py", "x", fault="it is gone"))
