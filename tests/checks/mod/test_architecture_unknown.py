"""MOD004."""

import pytest

from checks.mod.architecture_unknown import architecture_unknown
from plans import MIG20, example
from skyrl_doctor.core.errors import NotApplicable
from skyrl_doctor.core.model import Location, Outcome, Status
from skyrl_doctor.facts.model_files import ModelFiles
from skyrl_doctor.facts.model_types import ModelTypes
from skyrl_doctor.plan.findings import config_finding
from support import judge, plan_of

KNOWN = ModelTypes(frozenset({"qwen2", "llama"}), frozenset({"qwen2"}), "/py")


def told(config: dict[str, object] | None) -> int:
    files = ModelFiles(name="a/b", is_local=False, directory="/m", config=config, has_tokenizer=True, searched=("/m",))
    return len(list(architecture_unknown(plan_of(model__path="a/b"), files, KNOWN)))


def test_asks_the_installed_transformers() -> None:
    assert [told({"model_type": "qwen2"}), told({"model_type": "ministral3"})] == [0, 1]
    for config in (None, {}, {"model_type": "mine", "auto_map": {}}):
        with pytest.raises(NotApplicable):
            told(config)


def test_reproduces_on_a_recording() -> None:
    made = plan_of(model__path="/models/ministral-3-8b")
    assert judge("MOD004", "models_of_the_notes", plan=made) == Outcome(
        id="MOD004",
        slug="architecture-unknown",
        status=Status.FAIL,
        findings=(
            config_finding(
                "transformers of /opt/train/bin/python does not support model_type 'ministral3' of /models/ministral-3-8b; expected one of its 3 types",
                Location("plan.toml", None, "model.path"),
                summary="choose another model or upgrade transformers",
                evidence=("/models/ministral-3-8b/config.json: model_type",),
            ),
        ),
    )


def test_silent_on_the_clean_machine() -> None:
    assert judge("MOD004", "clean_gpu_node", plan=example(MIG20)).status is Status.PASS
