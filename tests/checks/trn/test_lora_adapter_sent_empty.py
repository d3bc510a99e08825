"""TRN007."""

import dataclasses

import pytest

from checks.trn.lora_adapter_sent_empty import lora_adapter_sent_empty
from plans import MIG20, example, plan
from skyrl_doctor.core.model import Finding, Location, Severity, Status
from skyrl_doctor.facts.interpreter import Interpreter, TrainingPython
from skyrl_doctor.plan.findings import config_finding
from skyrl_train.config.adapter import arrives_empty, finds_no_unit
from support import judge

A = "actor_rollout_ref"
LORA = f"python -m verl.trainer.main_ppo {A}.model.lora_rank=8"
PYTHON = Interpreter(
    python=TrainingPython("/p", "x"), version="3.12.1", implementation="cpython", platform="linux", machine="x86_64",
    prefix="", base_prefix="", include="", header=True, packages={"peft": "0.21.2"},
)  # fmt: skip


@pytest.mark.parametrize(
    ("peft", "empty"),
    [
        ("0.20.0", False),
        ("0.21.0.dev0", False),
        ("0.21.0", True),
        ("0.21.2", True),
        ("1", True),
        (None, True),
        ("?", True),
    ],
)
def test_by_the_version_of_peft(peft: str | None, empty: bool) -> None:
    assert arrives_empty(strategy="fsdp", lora=True, peft=peft) is empty
    assert not arrives_empty(strategy="fsdp2", lora=True, peft=peft)
    assert not arrives_empty(strategy="fsdp", lora=False, peft=peft)
    assert not arrives_empty(strategy="fsdp", lora=True, merged=True, peft=peft)


@pytest.mark.parametrize(
    ("settings", "nothing"),
    [
        ({"strategy": "fsdp", "layered": True, "verl": "0.9.1"}, True),
        ({"strategy": "fsdp", "layered": True, "verl": "0.9.0"}, True),
        ({"strategy": "fsdp", "layered": True, "verl": None}, True),
        ({"strategy": "fsdp", "layered": True, "verl": "0.8.0"}, False),
        ({"strategy": "fsdp2", "layered": True, "verl": "0.9.1"}, False),
        ({"strategy": "fsdp", "layered": False, "verl": "0.9.1"}, False),
    ],
)
def test_no_unit_is_found_under_fsdp1_since_verl_0_9(settings: dict[str, object], nothing: bool) -> None:
    assert finds_no_unit(lora=True, merged=False, **settings) is nothing  # type: ignore[arg-type] # arguments by name


def found(words: str, **packages: str) -> list[Finding]:
    interpreter = dataclasses.replace(PYTHON, packages=packages)
    return list(lora_adapter_sent_empty(plan(f"{LORA} {words}\n", "run.sh"), interpreter))


def told(words: str, peft: str = "0.21.2") -> list[str]:
    return [one.message for one in found(words, peft=peft)]


def test_verls_default_and_the_ways_out() -> None:
    for words, count in (
        ("", 1),
        (f"{A}.actor.strategy=fsdp", 1),
        (f"{A}.actor.strategy=fsdp2", 0),
        (f"{A}.model.lora.merge=True", 0),
        (f"{A}.rollout.layered_summon=True", 1),
        (f"{A}.actor.strategy=fsdp2 {A}.rollout.layered_summon=True", 0),
    ):
        assert len(told(words)) == count, words
    assert told("", "0.20.0") == []


def test_layered_summon_stops_a_run_on_one_gpu() -> None:
    (finding,) = found(f"{A}.rollout.layered_summon=True trainer.n_gpus_per_node=1", peft="0.20.0", verl="0.9.1")
    assert (finding.severity, finding.message) == (
        Severity.ERROR,
        f"{A}.rollout.layered_summon is on with {A}.actor.strategy = 'fsdp', where verl 0.9.1 finds no adapter and the run stops at its first weight sync; expected 'fsdp2'",
    )


def test_layered_summon_copies_the_model_on_several_gpus() -> None:
    (finding,) = found(f"{A}.rollout.layered_summon=True trainer.n_gpus_per_node=8", peft="0.20.0")
    assert (finding.severity, finding.message) == (
        Severity.WARNING,
        f"{A}.rollout.layered_summon is on with {A}.actor.strategy = 'fsdp', where verl 0.9 or later (this run's is not known) finds no adapter and each weight sync copies the whole model to the host; expected 'fsdp2'",
    )
    assert found(f"{A}.rollout.layered_summon=True trainer.n_gpus_per_node=8", peft="0.20.0", verl="0.8.0") == []


def test_a_peft_that_nobody_saw_is_a_warning() -> None:
    for interpreter in (None, dataclasses.replace(PYTHON, packages={})):
        (finding,) = lora_adapter_sent_empty(plan(f"{LORA}\n", "run.sh"), interpreter)
        assert finding.severity is Severity.WARNING
        assert (
            "(actor_rollout_ref.model.lora_rank = 8); with peft 0.21 or later vLLM would get an adapter without tensors"
            in finding.message
        )


def test_reproduces_the_run_that_hung() -> None:
    outcome = judge("TRN007", "clean_gpu_node", plan=plan(f"{LORA} {A}.rollout.load_format=safetensors\n", "run.sh"))
    assert list(outcome.findings) == [
        config_finding(
            f"{A}.actor.strategy is 'fsdp' with a LoRA adapter ({A}.model.lora_rank = 8) and peft 0.21.2, so vLLM gets an adapter without tensors and the run hangs; expected 'fsdp2'",
            Location("run.sh", None, f"{A}.actor.strategy"),
            {f"{A}.actor.strategy": "fsdp2"},
            summary="use FSDP2",
        )
    ]


def test_silent_on_the_clean_machine() -> None:
    made = plan(f"{LORA} {A}.actor.strategy=fsdp2\n", "run.sh")
    assert judge("TRN007", "clean_gpu_node", plan=made).status is Status.PASS
    assert judge("TRN007", "clean_gpu_node", plan=example(MIG20)).status is Status.SKIP
