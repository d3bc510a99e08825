"""The jobs of prime-rl files: GPUs by nodes, batches of rollouts, keys of the file's own schema."""

from pathlib import Path

import pytest

from plans import example, plan
from skyrl_doctor.budget.job import knob_of, memory_job, own_settings
from skyrl_doctor.budget.models import planned_model
from skyrl_doctor.cli.app import dispatch
from skyrl_doctor.core.errors import CouldNotLook, NotApplicable, UsageError
from skyrl_doctor.machine.local import LocalMachine
from skyrl_train.memory import Lengths, budget, device_named, expected_job, shape_from_config, step_time
from skyrl_train.memory.known import known_config

NODES = """
seq_len = 8192
[model]
name = "Qwen/Qwen3-8B"
[deployment]
type = "multi_node"
num_train_nodes = 2
num_infer_nodes = 3
[orchestrator]
batch_size = 512
group_size = 16
[trainer.model]
ep = 8
[inference.vllm]
tensor_parallel_size = 8
"""
SINGLE = NODES.replace('type = "multi_node"\nnum_train_nodes = 2\nnum_infer_nodes = 3', "num_train_gpus = 2")


def test_a_run_of_several_nodes_has_the_gpus_of_all() -> None:
    job = memory_job(plan(NODES))
    assert job.rollout is not None
    assert (job.n_gpus, job.rollout.gpus) == (16, 24)


def test_nodes_of_another_size() -> None:
    job = memory_job(plan(NODES.replace("num_train_nodes = 2", "num_train_nodes = 2\ngpus_per_node = 4")))
    assert job.n_gpus == 8


def test_a_run_of_several_nodes_without_their_number_has_no_estimate() -> None:
    with pytest.raises(CouldNotLook, match=r"^deployment.num_train_nodes is not set; pass --gpus N$"):
        memory_job(plan(NODES.replace("num_train_nodes = 2\n", "")))
    assert memory_job(plan(NODES.replace("num_train_nodes = 2\n", "")), gpus=4).n_gpus == 4


@pytest.mark.parametrize(
    ("tables", "gpus"),
    [
        ("", 8),
        ("[inference.deployment]\ntype = 'multi_node'", 16),
        ("[inference.deployment]\ntype = 'multi_node'\nnum_nodes = 4", 32),
        ("[inference.deployment]\ntype = 'disaggregated'", 16),
        (
            "[inference.deployment]\ntype = 'disaggregated'\nprefill_nodes_per_replica = 4\ndecode_nodes_per_replica = 3",
            56,
        ),
        ("[inference.deployment]\ntype = 'disaggregated'\nnum_prefill_replicas = 2\nnum_decode_replicas = 3", 40),
    ],
)
def test_nodes_of_inference_follow_from_its_deployment(tables: str, gpus: int) -> None:
    """They are those of one replica (prime-rl configs/rl.py auto_setup_infer_nodes), with and without --gpus."""
    text = NODES.replace("num_infer_nodes = 3\n", "")
    found = [memory_job(plan(f"{text}{tables}"), gpus=given).rollout for given in (None, 32)]
    assert [None if rollout is None else rollout.gpus for rollout in found] == [gpus, gpus]
    twice = memory_job(
        plan(f"{text}{tables}".replace("num_train_nodes", "num_infer_replicas = 2\nnum_train_nodes"))
    ).rollout
    assert twice is not None
    assert twice.gpus == 2 * gpus


def test_a_run_without_inference_has_no_rollouts() -> None:
    text = NODES.replace("num_infer_nodes = 3\n", "").partition("[inference.vllm]")[0]
    assert memory_job(plan(text)).rollout is None


def test_nodes_that_are_no_number_are_named() -> None:
    with pytest.raises(CouldNotLook, match=r"^deployment.num_infer_nodes is 'all'; write a whole number there$"):
        memory_job(plan(NODES.replace("num_infer_nodes = 3", 'num_infer_nodes = "all"')), gpus=8)
    kind = "[inference.deployment]\ntype = 'cloud'"
    with pytest.raises(
        CouldNotLook, match=r"^inference.deployment.type is 'cloud'; set deployment.num_infer_nodes to "
    ):
        memory_job(plan(f"{NODES}{kind}".replace("num_infer_nodes = 3\n", "")), gpus=8)


def test_experts_that_vllm_divides_are_refused() -> None:
    said = (
        "inference.vllm.enable_expert_parallel is true: vLLM's experts on several GPUs are not supported; "
        "for the trainer alone pass a copy of the file without its [inference] tables"
    )
    with pytest.raises(NotApplicable) as caught:
        memory_job(plan(f"{NODES}enable_expert_parallel = true\n"))
    assert str(caught.value) == said
    assert memory_job(plan(f"{NODES}enable_expert_parallel = false\n")).rollout is not None


def test_the_trained_model_is_that_of_the_trainer(tmp_path: Path) -> None:
    """Inference may have quantised weights of the same model."""
    text = NODES.replace('[model]\nname = "Qwen/Qwen3-8B"\n', "").replace("ep = 8", 'name = "Qwen/Qwen3-4B"')
    found = planned_model(LocalMachine(), plan(f'{text}model = "Qwen/Qwen3-4B-FP8"\n'), {"HF_HOME": str(tmp_path)})
    assert (found.name, found.shape.hidden) == ("Qwen/Qwen3-4B", 2560)


def test_the_batch_counts_rollouts() -> None:
    job = memory_job(plan(SINGLE))
    assert (job.n, job.mini_batch, job.train_batch) == (16, 32, 32)


def test_the_key_of_the_files_schema_is_proposed() -> None:
    change = {"inference.gpu_memory_utilization": "0.8"}
    assert own_settings(plan(SINGLE), change) == {"inference.vllm.gpu_memory_utilization": "0.8"}
    assert own_settings(example("examples/prime-rl-2025/v5.toml"), change) == change


def test_time_needs_the_lengths_that_are_packed() -> None:
    """A step of 512 short samples took 20 minutes in the estimate: 128 times too many samples, each of seq_len tokens."""
    job, device = memory_job(plan(SINGLE)), device_named("H100")
    shape = shape_from_config(known_config("Qwen/Qwen3-8B") or {})
    engine = budget(shape, job, device).engine
    assert step_time(shape, job, engine, device) is None
    short = expected_job(job, Lengths(100, 200), Lengths(200, 400))
    found = step_time(shape, short, engine, device)
    assert found is not None
    assert found.update == pytest.approx(512 * 300 / 2 * 2 * 8.2e9 * 4 / (989e12 * 0.3), rel=0.25)


def test_a_micro_batch_that_is_packed_cannot_be_solved_for() -> None:
    said = r"^prime-rl packs micro batches of trainer\.model\.seq_len tokens, so micro_batch changes nothing; solve for response_length$"
    with pytest.raises(UsageError, match=said):
        knob_of(plan(SINGLE), "micro_batch")
    assert knob_of(plan(SINGLE), "n") == "n"


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ((), "time:    needs the lengths of samples: --prompt-tokens P50,P99 and"),
        (("--reply-tokens", "60,128"), "time:    needs the lengths of samples: --prompt-tokens P50,P99 and"),
        (("--reply-tokens", "60,128", "--gpu-memory", "80GiB"), None),
    ],
)
def test_the_screen_names_the_lengths_that_the_time_needs(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, words: tuple[str, ...], line: str | None
) -> None:
    """With prompts at their limit, short samples took ten times too long."""
    target = tmp_path / "rl.toml"
    target.write_text(SINGLE)
    device = () if "--gpu-memory" in words else ("--gpu", "H100")
    dispatch(["budget", str(target), "--model", "Qwen/Qwen3-8B", *device, *words])
    found = [one for one in capsys.readouterr().out.splitlines() if one.startswith("time:")]
    assert found == ([] if line is None else [line])
