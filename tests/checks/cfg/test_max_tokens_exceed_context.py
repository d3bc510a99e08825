"""CFG001."""

import pytest

from checks.cfg.max_tokens_exceed_context import max_tokens_exceed_context
from plans import MIG20, ROOT, example, found, plan, verdict
from skyrl_doctor.core.model import Location, Severity, Status
from skyrl_doctor.facts.prompts import PromptLengths
from skyrl_doctor.plan.findings import config_finding
from support import judge, plan_of

SEED = "examples/prime-rl-2025/v4.toml"
LENGTHS = PromptLengths(file="train.parquet", count=1000, rows=4578, p50=1290, p95=1500, longest=3000)


def test_counts_what_a_call_has_left() -> None:
    for tokens, told in ((2048, 0), (2049, 1), (4096, 1)):
        made = plan_of(rollout__max_model_len=4096, rollout__max_tokens=tokens, data__max_prompt_tokens=2048)
        assert len(list(max_tokens_exceed_context(made, None))) == told


def test_the_datasets_own_prompts_come_before_the_bounds() -> None:
    made = plan_of(rollout__max_model_len=4096, rollout__max_tokens=3000, data__max_prompt_tokens=1024)
    (finding,) = max_tokens_exceed_context(made, LENGTHS)
    assert finding.message == (
        "prompt 1500 (p95 of 1000 of 4578 prompts in train.parquet; p50 1290, longest 3000) + max_tokens 3000 = 4500 tokens, "
        "but max_model_len is 4096; use max_tokens of at most 2596"
    )
    assert list(max_tokens_exceed_context(made, None)) == []


def test_without_any_length_only_the_certain_is_told() -> None:
    for tokens, told in ((4095, 0), (4096, 1)):
        made = plan_of(rollout__max_model_len=4096, rollout__max_tokens=tokens)
        assert len(list(max_tokens_exceed_context(made, None))) == told


def test_reproduces_the_run_that_hung_at_no_rollout() -> None:
    assert found("CFG001", example(SEED)) == [
        config_finding(
            "prompt 2048 (orchestrator.seq_len) + max_tokens 4000 = 6048 tokens, but max_model_len is 4096; use max_tokens of at most 2048",
            Location(SEED, 23, "orchestrator.sampling.max_tokens"),
            {"orchestrator.sampling.max_tokens": "2048"},
        )
    ]


def test_its_remedy_makes_the_run_clean() -> None:
    text = (ROOT / SEED).read_text(encoding="utf-8")
    mended = plan(text.replace("max_tokens = 4000", "max_tokens = 2048"))
    assert found("CFG001", mended) == []


def test_verl_lowers_the_number_itself_until_the_prompt_fills_the_context() -> None:
    command = (
        "python3 -m verl.trainer.main_ppo actor_rollout_ref.rollout.max_model_len=4096 data.max_response_length=1024 "
    )
    (short,) = found("CFG001", plan(command + "data.max_prompt_length=3500\n", "run.sh"))
    (full,) = found("CFG001", plan(command + "data.max_prompt_length=4096\n", "run.sh"))
    assert (short.severity, full.severity) == (Severity.WARNING, Severity.ERROR)
    assert (short.location, short.remedy and short.remedy.settings) == (
        Location("run.sh", 1, "data.max_response_length"),
        {"data.max_response_length": "596"},
    )
    assert full.message == (
        "prompt 4096 (data.max_prompt_length) leaves no room for a response, because max_model_len is 4096; use at least 5120"
    )


def test_a_number_that_no_prompt_leaves_room_for_is_refused_though_the_agent_would_lower_it() -> None:
    for tokens, severity in ((4095, Severity.WARNING), (4096, Severity.ERROR)):
        made = plan(f"[model]\npath = 'x'\n[rollout]\nmax_tokens = {tokens}\n")
        assert [one.severity for one in found("CFG001", made)] == [severity]


def test_a_trajectory_counts_as_a_whole() -> None:
    made = plan("[model]\npath = 'x'\n[data]\nmax_response_tokens = 4000\n")
    assert found("CFG001", made) == [
        config_finding(
            "prompt 2048 + response 4000 = 6048 tokens, but max_model_len is 4096; use at most 2048 response tokens, or max_model_len 6048",
            Location("run.toml", 4, "data.max_response_tokens"),
            {"data.max_response_tokens": "2048"},
            severity=Severity.WARNING,
        )
    ]


def test_silent_on_the_clean_configuration() -> None:
    assert judge("CFG001", "clean_gpu_node", plan=example(MIG20)).status is Status.PASS
    assert found("CFG001", example(MIG20)) == []
    assert verdict("CFG001", plan_of()) == (
        Status.SKIP,
        "max_model_len is not set, so the model's own context length applies",
    )


@pytest.mark.parametrize(("tokens", "is_told"), [(8192, False), (100_000, True)])
def test_prime_rl_cuts_replies_in_training(tokens: int, is_told: bool) -> None:
    key = "orchestrator.train.sampling.max_completion_tokens"
    text = f"seq_len = 8192\n[model]\nname = 'org/model'\n[orchestrator.train.sampling]\nmax_completion_tokens = {tokens}\n"
    expected = config_finding(
        f"{key} is {tokens}, but training takes at most 8192 tokens of prompt and reply together and cuts the rest; "
        "lower it to 8192 less the length of a prompt, or raise the sequence length",
        Location("rl.toml", 5, key),
        severity=Severity.WARNING,
    )
    assert found("CFG001", plan(text, "rl.toml")) == ([expected] if is_told else [])
