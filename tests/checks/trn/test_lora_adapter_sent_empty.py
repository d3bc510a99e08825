"""TRN007."""

import dataclasses

import pytest

from checks.trn.lora_adapter_sent_empty import lora_adapter_sent_empty
from plans import MIG20, example, plan
from skyrl_doctor.core.model import Location, Severity, Status
from skyrl_doctor.facts.interpreter import Interpreter, TrainingPython
from skyrl_doctor.plan.findings import config_finding
from skyrl_train.config.adapter import arrives_empty, gathers_by_layers
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


def test_layer_by_layer_only_under_fsdp1() -> None:
    assert gathers_by_layers(strategy="fsdp", lora=True, merged=False, layered=True)
    assert not gathers_by_layers(strategy="fsdp2", lora=True, merged=False, layered=True)
    assert not gathers_by_layers(strategy="fsdp", lora=True, merged=False, layered=False)


def told(words: str, peft: str = "0.21.2") -> list[str]:
    interpreter = dataclasses.replace(PYTHON, packages={"peft": peft})
    return [one.message for one in lora_adapter_sent_empty(plan(f"{LORA} {words}\n", "run.sh"), interpreter)]


def test_verls_default_and_the_ways_out() -> None:
    for words, found in (
        ("", 1),
        (f"{A}.actor.strategy=fsdp", 1),
        (f"{A}.actor.strategy=fsdp2", 0),
        (f"{A}.model.lora.merge=True", 0),
        (f"{A}.rollout.layered_summon=True", 1),
        (f"{A}.actor.strategy=fsdp2 {A}.rollout.layered_summon=True", 0),
    ):
        assert len(told(words)) == found, words
    assert told("", "0.20.0") == []
    assert told(f"{A}.rollout.layered_summon=True", "0.20.0") == [
        f"{A}.rollout.layered_summon is on with {A}.actor.strategy = 'fsdp', which finds no adapter layer by layer; expected off"
    ]


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
