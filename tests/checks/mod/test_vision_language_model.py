"""MOD002."""

from checks.mod.vision_language_model import vision_language_model
from plans import MIG20, example, plan
from skyrl_doctor.core.model import Location, Outcome, Status
from skyrl_doctor.facts.model_files import ModelFiles
from skyrl_doctor.plan.findings import config_finding
from skyrl_doctor.plan.model import Plan, Value
from support import judge, plan_of

TEXT = "MODEL=/models/qwen3-vl-8b\nROLLOUT_N=2\n"


def files(name: str, config: dict[str, object] | None) -> ModelFiles:
    return ModelFiles(
        name=name,
        is_local=False,
        directory="/m" if config else None,
        config=config,
        has_tokenizer=True,
        searched=("/m",),
    )


def test_by_its_config_else_by_its_name() -> None:
    for name, config, told in (
        ("qwen/qwen3-vl-8b-instruct", None, 1),
        ("llava-hf/llava-1.5-7b", None, 1),
        ("Qwen/Qwen2.5-7B-Instruct", None, 0),
        ("mine/x", {"architectures": ["Qwen3VLForConditionalGeneration"], "vision_config": {}}, 1),
        ("mine/x-vl", {"architectures": ["Qwen2ForCausalLM"]}, 0),
    ):
        seeds = Plan(("f",), "prime-rl-2025", {"model.path": Value("model.path", name)})
        assert len(list(vision_language_model(seeds, files(name, config)))) == told


def test_reproduces_on_a_recording() -> None:
    assert judge("MOD002", "models_of_the_notes", plan=plan(TEXT, "dev.conf")) == Outcome(
        id="MOD002",
        slug="vision-language-model",
        status=Status.FAIL,
        findings=(
            config_finding(
                "/models/qwen3-vl-8b is a vision-language model, which AutoModelForCausalLM does not load; expected a text model",
                Location("dev.conf", 1, "MODEL"),
                summary="choose a text model",
                evidence=("found in /models/qwen3-vl-8b/config.json",),
            ),
        ),
    )


def test_todays_loaders_take_such_models() -> None:
    outcome = judge("MOD002", "models_of_the_notes", plan=plan_of(model__path="/models/qwen3-vl-8b"))
    assert (outcome.status, outcome.reason) == (
        Status.SKIP,
        "current verl and prime-rl load vision-language models",
    )


def test_silent_on_the_clean_machine() -> None:
    assert judge("MOD002", "clean_gpu_node", plan=example(MIG20)).status is Status.PASS
