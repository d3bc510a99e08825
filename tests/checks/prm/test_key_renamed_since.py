"""PRM007."""

import dataclasses

from checks.prm.key_renamed_since import key_renamed_since
from plans import example, found, plan, verdict
from skyrl_doctor.core.model import Location, Severity, Status
from skyrl_doctor.plan.findings import config_finding
from skyrl_doctor.plan.names.prime_rl import table
from support import plan_of

HALF, OLD = "examples/prime-rl/half_migrated.toml", "examples/prime-rl-2025/v5.toml"


def test_a_table_of_facts_says_where_it_is_from() -> None:
    for name in ("prime_rl.json", "prime_rl_2025.json", "prime_rl_renames.json"):
        facts = table(name)
        assert facts["package"] == "prime-rl"
        assert {"schema", "read"} <= set(facts) or {"from", "to"} <= set(facts)


def test_old_keys_in_a_new_file_are_refused_one_by_one() -> None:
    assert found("PRM007", example(HALF)) == [
        config_finding(
            "orchestrator.rollouts_per_example is a key of an older schema; use orchestrator.group_size",
            Location(HALF, 19, "orchestrator.rollouts_per_example"),
            moves={"orchestrator.rollouts_per_example": "orchestrator.group_size"},
        ),
        config_finding(
            "inference.gpu_memory_utilization is a key of an older schema; use inference.vllm.gpu_memory_utilization",
            Location(HALF, 27, "inference.gpu_memory_utilization"),
            moves={"inference.gpu_memory_utilization": "inference.vllm.gpu_memory_utilization"},
        ),
    ]


def test_a_mixture_that_no_version_takes_is_an_error() -> None:
    made = plan(
        "[orchestrator]\ngroup_size = 2\nrollouts_per_example = 2\n[inference.vllm]\nx = 1\n[wandb]\nname = 'x'\n"
    )
    assert [(one.severity, one.location) for one in found("PRM007", made)] == [
        (Severity.ERROR, Location("run.toml", 3, "orchestrator.rollouts_per_example")),
        (Severity.ERROR, Location("run.toml", 7, "wandb.name")),
    ]


def test_a_file_that_an_older_version_takes_gets_warnings() -> None:
    made = plan("[deployment]\nnum_train_gpus = 2\n[orchestrator]\nrollouts_per_example = 2\n[wandb]\nname = 'x'\n")
    assert [(one.severity, one.location) for one in found("PRM007", made)] == [
        (Severity.WARNING, Location("run.toml", 4, "orchestrator.rollouts_per_example")),
        (Severity.WARNING, Location("run.toml", 6, "wandb.name")),
    ]


def test_a_known_version_is_compared_key_by_key_instead() -> None:
    made = dataclasses.replace(example(HALF), schema="prime-rl of the checkout /x")
    assert verdict("PRM007", made) == (Status.SKIP, "CFG004 compares the keys with prime-rl of the checkout /x")


def test_an_old_file_gets_one_notice_with_the_translation() -> None:
    (notice,) = key_renamed_since(example(OLD))
    assert (notice.severity, notice.location) == (Severity.INFO, Location(OLD, 2, "inference_gpu_ids"))
    assert (
        notice.message
        == "the file uses the schema of January 2026; prime-rl of 2026-07-30 or later rejects 10 of its keys; with that version, use the current names"
    )
    assert notice.remedy is not None
    assert notice.remedy.settings == {"deployment.num_infer_gpus": "1", "deployment.num_train_gpus": "1"}
    assert notice.remedy.moves == {
        "inference_gpu_ids": "deployment.num_infer_gpus",
        "trainer_gpu_ids": "deployment.num_train_gpus",
        "orchestrator.rollouts_per_example": "orchestrator.group_size",
        "orchestrator.sampling.max_tokens": "orchestrator.train.sampling.max_completion_tokens",
        "inference.gpu_memory_utilization": "inference.vllm.gpu_memory_utilization",
        "inference.model.tool_call_parser": "inference.vllm.tool_call_parser",
        "inference.model.enforce_eager": "inference.vllm.enforce_eager",
        "inference.model.max_model_len": "inference.vllm.max_model_len",
    }
    assert notice.evidence[4] == (
        "line 25: orchestrator.env: an environment is an [[orchestrator.train.source]] now, with env = { taskset = { id = … } }"
    )


def test_silent_on_clean_configurations() -> None:
    assert found("PRM007", example("examples/prime-rl/two_gpus.toml")) == []
    assert verdict("PRM007", plan_of()) == (Status.SKIP, "the configuration is not for prime-rl")
