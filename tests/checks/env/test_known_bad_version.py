"""ENV017."""

from dataclasses import replace

from checks.env.known_bad_version import known_bad_version
from plans import plan
from skyrl_doctor.core.model import Finding, Outcome, Remedy, RemedyKind, Severity, Status
from skyrl_doctor.facts.interpreter import Interpreter, TrainingPython
from skyrl_doctor.facts.model_files import ModelFiles
from skyrl_doctor.plan.model import Plan
from support import judge, plan_of

BARE = Interpreter(
    python=TrainingPython("/t/python", "UV_PYTHON"),
    version="3.12.1",
    implementation="cpython",
    platform="linux",
    machine="x86_64",
    prefix="/t",
    base_prefix="/usr",
    include="/inc",
    header=True,
    packages={},
)
LORA = {"verl": "0.6.0", "vllm": "0.11.0"}


def severities(packages: dict[str, str], plan: Plan, model: ModelFiles | None = None) -> list[Severity]:
    return [one.severity for one in known_bad_version(plan, replace(BARE, packages=packages), model)]


def named(name: str) -> ModelFiles:
    return ModelFiles(name=name, is_local=False, directory=None, config=None, has_tokenizer=True, searched=())


def test_tells_reason_cure_and_thread() -> None:
    made = replace(BARE, packages={"transformers": "5.1.0", "verl": "0.7.0"})
    assert list(known_bad_version(Plan(), made, None)) == [
        Finding(
            message="transformers 5.1.0 with verl 0.7.0: verl imports a model class that transformers 5 removed",
            evidence=("https://github.com/verl-project/verl/issues/5007",),
            severity=Severity.ERROR,
            remedy=Remedy(kind=RemedyKind.FIX_ENV, summary="install verl 0.7.1 or later, or transformers below 5"),
        )
    ]


def test_lora_counts_only_in_a_run_with_lora() -> None:
    assert severities(LORA, plan_of(model__lora_rank=8)) == [Severity.ERROR]
    assert severities(LORA, plan_of(model__lora_rank=0)) == []


def test_lora_that_verl_merges_sends_no_adapter() -> None:
    words = "actor_rollout_ref.model.lora_rank=8 actor_rollout_ref.model.lora.merge="
    newest = {"verl": "0.9.1", "vllm": "0.31.0"}
    for merged, expected in (("True", []), ("False", [Severity.ERROR])):
        made = plan(f"python3 -m verl.trainer.main_ppo {words}{merged}\n", "run.sh")
        assert severities(newest, made) == expected
    assert severities(LORA, Plan()) == [Severity.INFO]


def test_vision_counts_only_for_a_vision_model() -> None:
    torch = {"torch": "2.9.0"}
    assert severities(torch, plan_of(), named("Qwen/Qwen2.5-VL-7B-Instruct")) == [Severity.WARNING]
    assert severities(torch, plan_of(), named("Qwen/Qwen2.5-7B-Instruct")) == []
    assert severities(torch, Plan()) == [Severity.INFO]


def test_rocm_is_known_by_torch() -> None:
    assert severities({"ray": "2.45.0", "torch": "2.7.0+rocm6.3"}, Plan()) == [Severity.ERROR]
    assert severities({"ray": "2.45.0", "torch": "2.7.0+cu126"}, Plan()) == []


def test_sleep_counts_unless_it_is_off() -> None:
    packages = {"verl": "0.5.0", "vllm": "0.8.4"}
    assert severities(packages, plan_of(rollout__free_cache_engine=True)) == [Severity.WARNING]
    assert severities(packages, plan_of(rollout__free_cache_engine=False)) == []


def test_silent_on_the_clean_machine() -> None:
    assert judge("ENV017", "clean_gpu_node") == Outcome(id="ENV017", slug="known-bad-version", status=Status.PASS)
