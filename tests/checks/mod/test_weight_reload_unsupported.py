"""MOD001."""

from checks.mod.weight_reload_unsupported import weight_reload_unsupported
from plans import MIG20, example
from skyrl_doctor.core.model import Location, Outcome, Status
from skyrl_doctor.facts.model_files import ModelFiles
from skyrl_doctor.plan.findings import config_finding
from support import judge, plan_of, recorded

GPT_OSS = "examples/prime-rl-2025/gpt_oss.toml"


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
    mxfp4 = {"model_type": "gpt_oss", "quantization_config": {"quant_method": "mxfp4"}}
    for name, config, told in (
        ("openai/gpt-oss-20b", None, 1),
        ("openai/gpt-oss-20b", mxfp4, 1),
        ("mine/tuned", mxfp4, 1),
        ("mine/gpt-oss-20b-BF16", None, 0),
        ("openai/gpt-oss-20b", {"model_type": "gpt_oss"}, 0),
        ("Qwen/Qwen2.5-7B", None, 0),
    ):
        assert len(list(weight_reload_unsupported(plan_of(model__path=name), files(name, config)))) == told


def test_reproduces_on_a_recording() -> None:
    assert judge("MOD001", "models_of_the_notes", plan=example(GPT_OSS)) == Outcome(
        id="MOD001",
        slug="weight-reload-unsupported",
        status=Status.FAIL,
        findings=(
            config_finding(
                "openai/gpt-oss-20b has MXFP4 weights, which vLLM can load only once; expected bf16 weights",
                Location(GPT_OSS, 7, "model.name"),
                summary="choose another model or its bf16 weights",
                evidence=("found in the name openai/gpt-oss-20b",),
            ),
        ),
    )


def test_silent_on_the_clean_machine() -> None:
    assert judge("MOD001", recorded("clean_gpu_node"), plan=example(MIG20)).status is Status.PASS
