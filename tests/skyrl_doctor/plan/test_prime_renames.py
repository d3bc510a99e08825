"""From the schema of January 2026 to today's."""

import tomllib

from plans import ROOT, alone, example, plan, repaired
from skyrl_doctor.core.model import Status
from skyrl_doctor.plan.prime_renames import unmoved

V5 = "examples/prime-rl-2025/v5.toml"


def migrated(text: str) -> str:
    """What `fix PRM007` makes of a file."""
    (proposal,) = repaired({"run.toml": text}, "PRM007", allow_new=True).proposals
    assert proposal.left == ()
    return proposal.new


def test_the_run_that_trained_in_todays_schema() -> None:
    assert (
        migrated((ROOT / V5).read_text(encoding="utf-8"))
        == """\
# Fifth attempt: trains.
max_steps = 1000

[deployment]
num_infer_gpus = 1
num_train_gpus = 1

[model]
name = "Qwen/Qwen2.5-7B-Instruct"

[trainer.model]
seq_len = 2048
ac = { freq = 1 }

[trainer.model.lora]
rank = 8
alpha = 32

[orchestrator]
batch_size = 8
group_size = 2
seq_len = 2048

[orchestrator.train.sampling]
max_completion_tokens = 2000

[[orchestrator.env]]
id = "html-env"

[inference.vllm]
gpu_memory_utilization = 0.50
tool_call_parser = "hermes"
enforce_eager = true
max_model_len = 4096

[inference.model]
enable_auto_tool_choice = true
"""
    )
    assert tuple(unmoved(example(V5), V5)) == (
        "line 25: orchestrator.env: an environment is an [[orchestrator.train.source]] now, with env = { taskset = { id = … } }",
        "line 32: inference.model.enable_auto_tool_choice: gone: a tool_call_parser alone turns tool calls on",
        "trainer and inference share a GPU, but today's launcher gives each its own",
    )


def test_comments_move_with_their_lines() -> None:
    text = (
        "[orchestrator]\nrollouts_per_example = 2  # few\nbatch_size = 8\n[wandb]\nproject = 'p' # mine\nentity = 'e'\n"
    )
    assert migrated(text) == (
        "[orchestrator]\ngroup_size = 2  # few\nbatch_size = 8\n[monitors.wandb]\nproject = 'p' # mine\nentity = 'e'\n"
    )


def test_what_was_moved_is_todays_schema_and_has_no_old_name() -> None:
    text = "inference_gpu_ids = [0]\ntrainer_gpu_ids = [1, 2]\n[trainer.model.experimental.lora]\nrank = 8\ndropout = 0.1\n[orchestrator]\nrollouts_per_example = 2\n"
    made = migrated(text)
    assert tomllib.loads(made) == {
        "deployment": {"num_infer_gpus": 1, "num_train_gpus": 2},
        "trainer": {"model": {"lora": {"rank": 8, "dropout": 0.1}}},
        "orchestrator": {"group_size": 2},
    }
    moved = plan(made)
    assert moved.dialect == "prime-rl"
    assert alone("PRM007", moved).status is Status.PASS
