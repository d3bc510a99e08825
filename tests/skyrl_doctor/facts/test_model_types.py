"""Asking for model types on recorded machines."""

import dataclasses

import pytest

from skyrl_doctor.core.errors import CouldNotLook, NotApplicable
from skyrl_doctor.facts.interpreter import TrainingPython
from skyrl_doctor.facts.model_files import ModelFiles
from skyrl_doctor.facts.model_types import ModelTypes, model_types
from skyrl_doctor.machine.recorded import RecordedMachine

PYTHON = TrainingPython("/py", "python.interpreter")
MODEL = ModelFiles(
    name="/m", is_local=True, directory="/m", config={"model_type": "qwen2"}, has_tokenizer=True, searched=("/m",)
)


def look(answer: dict[str, object], python: TrainingPython = PYTHON) -> object:
    return model_types(RecordedMachine({"ask model_types /py": answer}, strict=True), MODEL, python)


def test_nobody_is_asked_about_a_model_that_is_not_here() -> None:
    absent = dataclasses.replace(MODEL, config=None)
    with pytest.raises(NotApplicable, match=r"/m has no config.json on this machine, so its model_type is unknown"):
        model_types(RecordedMachine({}, strict=True), absent, PYTHON)


def test_answers_and_reasons() -> None:
    good = {"rc": 0, "out": ['{"installed": true, "types": ["qwen2"], "causal": ["qwen2"]}']}
    assert look(good) == ModelTypes(frozenset({"qwen2"}), frozenset({"qwen2"}), "/py")
    with pytest.raises(NotApplicable, match="transformers is not installed for /py"):
        look({"rc": 0, "out": ['{"installed": false, "types": [], "causal": []}']})
    with pytest.raises(CouldNotLook, match="timed out after 5 s"):
        look({"timed_out": True})
    with pytest.raises(CouldNotLook, match="it is gone"):
        look({}, TrainingPython("/py", "x", problem="it is gone"))
