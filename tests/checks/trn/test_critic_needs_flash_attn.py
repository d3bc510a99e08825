"""TRN020."""

import pytest

from checks.trn.critic_needs_flash_attn import critic_needs_flash_attn
from plans import plan
from skyrl_doctor.core.errors import NotApplicable
from skyrl_doctor.core.model import Finding, Severity, Status
from skyrl_doctor.facts.interpreter import Interpreter, TrainingPython
from support import judge

PPO = "python -m verl.trainer.main_ppo algorithm.adv_estimator=gae"


def findings(words: str, *packages: str) -> list[Finding]:
    interpreter = Interpreter(
        python=TrainingPython("/p", "x"), version="3.12.1", implementation="cpython", platform="linux", machine="x86_64",
        prefix="", base_prefix="", include="", header=True, packages=dict.fromkeys(packages, "1.0"),
    )  # fmt: skip
    return list(critic_needs_flash_attn(plan(f"{words}\n", "run.sh"), interpreter))


@pytest.mark.parametrize("words", [PPO, f"{PPO} critic.strategy=fsdp2", f"{PPO} critic.enable=True"])
def test_a_critic_without_flash_attn_is_an_error(words: str) -> None:
    (finding,) = findings(words, "verl")
    assert finding.severity is Severity.ERROR
    assert finding.message == (
        "verl 1.0 always loads the critic with flash_attention_2, but the training interpreter "
        "/p (from x) has no flash-attn; expected flash-attn, or no critic"
    )
    assert finding.location is not None
    assert (finding.location.file, finding.location.line) == ("run.sh", 1)


def test_with_flash_attn_it_loads() -> None:
    assert findings(PPO, "verl", "flash-attn") == []


@pytest.mark.parametrize(
    "words",
    [
        "python -m verl.trainer.main_ppo algorithm.adv_estimator=grpo",
        f"{PPO} critic.enable=False",
        f"{PPO} critic.strategy=megatron",
        f"{PPO} critic.model._target_=skyrl_train.rl.value_model.ValueModelConfig",
    ],
)
def test_where_verls_own_engine_loads_no_critic(words: str) -> None:
    with pytest.raises(NotApplicable):
        findings(words, "verl")


def test_without_verl_nothing_is_known() -> None:
    with pytest.raises(NotApplicable, match="has no verl"):
        findings(PPO)


def test_reproduces_the_run_that_named_trl() -> None:
    outcome = judge("TRN020", "clean_gpu_node", plan=plan(f"{PPO}\n", "run.sh"))
    assert outcome.status is Status.FAIL
    assert judge("TRN020", "clean_gpu_node").status is Status.SKIP
