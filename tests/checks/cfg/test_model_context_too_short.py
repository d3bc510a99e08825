"""CFG005."""

from checks.cfg.model_context_too_short import model_context_too_short
from plans import MIG20, example
from skyrl_doctor.core.model import Location, Outcome, Status
from skyrl_doctor.facts.model_files import ModelFiles
from skyrl_doctor.plan.findings import config_finding
from support import judge, plan_of


def told(config: dict[str, object], length: int) -> int:
    files = ModelFiles(name="a/b", is_local=False, directory="/m", config=config, has_tokenizer=True, searched=("/m",))
    return len(list(model_context_too_short(plan_of(rollout__max_model_len=length), files)))


def test_counts_stretched_positions() -> None:
    plain = {"max_position_embeddings": 4096}
    assert [told(plain, 4096), told(plain, 4097)] == [0, 1]
    yarn = {**plain, "rope_scaling": {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 4096}}
    assert [told(yarn, 16384), told(yarn, 16385)] == [0, 1]
    assert told({"text_config": plain}, 5000) == 1


def test_reproduces_on_a_recording() -> None:
    made = plan_of(model__path="/models/tiny", rollout__max_model_len=4096)
    assert judge("CFG005", "models_of_the_notes", plan=made) == Outcome(
        id="CFG005",
        slug="model-context-too-short",
        status=Status.FAIL,
        findings=(
            config_finding(
                "rollout.max_model_len is 4096, but /models/tiny has a context of 2048 tokens; expected at most 2048",
                Location("plan.toml", None, "rollout.max_model_len"),
                {"rollout.max_model_len": "2048"},
                evidence=("/models/tiny/config.json: max_position_embeddings",),
            ),
        ),
    )


def test_silent_on_the_clean_machine() -> None:
    assert judge("CFG005", "clean_gpu_node", plan=example(MIG20)).status is Status.PASS
