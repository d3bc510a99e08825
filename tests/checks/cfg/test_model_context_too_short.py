"""CFG005."""

import pytest

from checks.cfg.model_context_too_short import model_context_too_short
from plans import MIG20, example, found, plan, verdict
from skyrl_doctor.core.errors import NotApplicable
from skyrl_doctor.core.model import Location, Outcome, Severity, Status
from skyrl_doctor.facts.model_files import ModelFiles
from skyrl_doctor.machine.recorded import RecordedMachine
from skyrl_doctor.plan.findings import config_finding
from skyrl_doctor.plan.load import load
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


VERL = "python3 -m verl.trainer.main_ppo actor_rollout_ref.model.path=Qwen/Qwen3-8B data.max_prompt_length=1024"
SKYRL = (
    "python -m skyrl.train.entrypoints.main_base trainer.policy.model.path=Qwen/Qwen3-8B trainer.max_prompt_length=1024"
)


def longer(text: str, *, config: dict[str, object] | None = None, version: str = "0.9.1") -> list[tuple[Severity, str]]:
    """Severity of what is told, and the response that is expected."""
    machine = RecordedMachine({"environ": {"HOME": "/home/ada"}, "read run.sh": text})
    files = ModelFiles(
        name="Qwen/Qwen3-8B",
        is_local=False,
        directory="/m" if config else None,
        config=config,
        has_tokenizer=True,
        searched=(),
    )
    findings = model_context_too_short(load(machine, ("run.sh",), verl_version=version), files)
    return [(one.severity, next(iter(one.remedy.settings.values()), "")) for one in findings if one.remedy]


@pytest.mark.parametrize(
    ("version", "severity"), [("0.5.0", Severity.ERROR), ("0.7.1", Severity.WARNING), ("0.9.1", Severity.WARNING)]
)
def test_without_max_model_len_the_model_bounds_prompt_and_response(version: str, severity: Severity) -> None:
    config: dict[str, object] = {"max_position_embeddings": 40960}
    assert longer(f"{VERL} data.max_response_length=39936", config=config, version=version) == []
    assert longer(f"{VERL} data.max_response_length=39937", config=config, version=version) == [(severity, "39936")]


def test_a_public_model_that_is_not_here_is_known_by_its_name() -> None:
    assert longer(f"{VERL} data.max_response_length=65536", version="0.5.0") == [(Severity.WARNING, "39936")]
    assert longer(f"{SKYRL} generator.sampling_params.max_generate_length=65536") == [(Severity.WARNING, "39936")]
    assert longer(f"{VERL} actor_rollout_ref.rollout.max_model_len=50000") == [(Severity.WARNING, "40960")]


def test_the_name_is_enough_without_a_machine() -> None:
    made = plan(f"{VERL} data.max_response_length=65536\n", "run.sh")
    (finding,) = found("CFG005", made)
    assert (finding.severity, finding.evidence) == (
        Severity.WARNING,
        ("the public model Qwen/Qwen3-8B: max_position_embeddings",),
    )


def test_a_path_that_only_the_job_knows_is_left_to_the_machine() -> None:
    text = VERL.replace("Qwen/Qwen3-8B", "$HOME_OF_MODELS/Qwen3-8B")
    status, reason = verdict("CFG005", plan(f"{text} data.max_response_length=65536\n", "run.sh"))
    assert (status, reason.partition(":")[0]) == (
        Status.SKIP,
        "no machine was examined, and the model is not known",
    )


@pytest.mark.parametrize(("calls", "is_told"), [(40959, False), (40960, True), (100_000, True)])
def test_a_call_of_prime_rl_leaves_room_for_a_prompt(calls: int, is_told: bool) -> None:
    text = f"[model]\nname = 'Qwen/Qwen3-8B'\n[orchestrator]\nseq_len = 200000\n[orchestrator.train.sampling]\nmax_completion_tokens = {calls}\n"
    key = "orchestrator.train.sampling.max_completion_tokens"
    expected = config_finding(
        f"{key} is {calls}, but Qwen/Qwen3-8B has a context of 40960 tokens for prompt and reply together; expected less than 40960",
        Location("rl.toml", 6, key),
        severity=Severity.WARNING,
        evidence=("the public model Qwen/Qwen3-8B: max_position_embeddings",),
    )
    assert found("CFG005", plan(text, "rl.toml")) == ([expected] if is_told else [])


@pytest.mark.parametrize("name", ["Qwen/Qwen3-4B-Instruct-2507", "Qwen/Qwen3-VL-8B-Instruct", "Qwen/Qwen2.5-7B-Instruct-1M", "/m/Qwen3-8B"])  # fmt: skip
def test_a_variant_or_a_path_may_have_another_context(name: str) -> None:
    files = ModelFiles(name=name, is_local=False, directory=None, config=None, has_tokenizer=False, searched=())
    with pytest.raises(NotApplicable):
        list(model_context_too_short(plan_of(rollout__max_model_len=200_000), files))


def test_a_public_model_whose_context_is_not_in_the_table_is_no_model_without_one() -> None:
    text = VERL.replace("Qwen3-8B", "Qwen3-1.7B-Base")
    why = "the context of Qwen/Qwen3-1.7B-Base is not in the doctor's table of public models"
    assert verdict("CFG005", plan(f"{text} data.max_response_length=65536\n", "run.sh")) == (Status.SKIP, why)


def test_a_stretched_context_is_not_judged() -> None:
    stretched = "+actor_rollout_ref.rollout.engine_kwargs.vllm.hf_overrides.max_position_embeddings=131072"
    with pytest.raises(NotApplicable, match="may stretch"):
        longer(f"{VERL} data.max_response_length=65536 {stretched}")


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
