"""Which model and which device."""

from dataclasses import replace
from typing import Any

import pytest

from plans import plan
from skyrl_doctor.budget.lengths import KnownLengths, known_lengths
from skyrl_doctor.budget.models import PASS, Model, model_of, planned_model
from skyrl_doctor.budget.question import estimate, job_device, planned_device
from skyrl_doctor.core.errors import CouldNotLook, NotApplicable
from skyrl_doctor.facts.gpu import Gpu, Gpus, Memory, Slice
from skyrl_doctor.facts.model_files import ModelFiles
from skyrl_doctor.facts.prompts import PromptLengths
from skyrl_doctor.machine.local import LocalMachine
from skyrl_train.memory import (
    Critic,
    Device,
    Job,
    Lengths,
    device_named,
    expected_job,
    host_memory,
    shape_from_config,
)
from skyrl_train.memory.budget import CONTEXT
from skyrl_train.memory.known import known_config
from skyrl_train.memory.parameters import in_model
from support import plan_of

MIB = 2**20
SLICES = tuple(
    Slice(uuid=f"MIG-{n}", parent="GPU-0", index=n, gi=n, ci=0, profile="2g.20gb", memory=memory)
    for n, memory in enumerate((Memory(total_mib=19968, used_mib=100, free_mib=19868), None))
)
WHOLE = Gpu(index=0, uuid="GPU-1", name="NVIDIA H200", memory=Memory(total_mib=143771, used_mib=0, free_mib=143771))


def split(*slices: Slice) -> Gpus:
    return Gpus(
        source="nvml", gpus=(Gpu(index=0, uuid="GPU-0", name="NVIDIA A100-SXM4-80GB", mig=True, slices=slices),)
    )


def files(config: Any, name: str = "a/b", directory: str | None = "/m") -> ModelFiles:
    return ModelFiles(
        name=name, is_local=False, directory=directory, config=config, has_tokenizer=True, searched=("/m",)
    )


def test_the_memory_of_a_slice_is_its_own() -> None:
    device, free = job_device(split(SLICES[0]), {})
    assert device == Device("NVIDIA A100-SXM4-80GB 2g.20gb", 19968 * MIB)
    assert free == 19868 * MIB


def test_a_slice_whose_memory_no_driver_tells_goes_by_its_profile() -> None:
    device, free = job_device(split(SLICES[1]), {})
    assert (device.name, free) == ("A100-80GB 2g.20gb", None)


def test_of_several_devices_the_smallest_counts() -> None:
    small = Gpu(index=1, uuid="GPU-2", name="L4", memory=Memory(total_mib=23034, used_mib=0, free_mib=100))
    device, free = job_device(Gpus(source="nvml", gpus=(WHOLE, small)), {})
    assert (device, free) == (Device("L4", 23034 * MIB), 100 * MIB)


def test_the_smallest_device_counts_although_another_is_fuller() -> None:
    small = Gpu(index=1, uuid="GPU-2", name="L4", memory=Memory(total_mib=23034, used_mib=0, free_mib=23000))
    full = Gpu(index=0, uuid="GPU-1", name="NVIDIA H200", memory=Memory(total_mib=143771, used_mib=143761, free_mib=10))
    device, free = job_device(Gpus(source="nvml", gpus=(full, small)), {})
    assert (device, free) == (Device("L4", 23034 * MIB), 23000 * MIB)


def test_no_device_for_cuda_is_another_checks_finding() -> None:
    with pytest.raises(NotApplicable):
        job_device(Gpus(source="nvml", gpus=(WHOLE,)), {"CUDA_VISIBLE_DEVICES": ""})


def test_an_untold_device_of_no_known_name_is_no_size() -> None:
    strange = Gpu(index=0, uuid="GPU-3", name="Strange 9000")
    with pytest.raises(CouldNotLook, match="Strange 9000"):
        job_device(Gpus(source="nvidia-smi", gpus=(strange,)), {})


def test_the_device_that_a_plan_asks_for() -> None:
    assert planned_device(plan_of(slurm__gpu_type="nvidia_a100_80gb_2g.20gb")).name == "A100-80GB 2g.20gb"
    assert planned_device(plan_of(slurm__gpu_type="h200")).name == "H200"
    with pytest.raises(NotApplicable):
        planned_device(plan_of())
    with pytest.raises(CouldNotLook, match=r"slurm\.gpu_type"):
        planned_device(plan_of(slurm__gpu_type="voodoo2"))


@pytest.mark.parametrize("name", ["a100", "nvidia_a100", "A100-PCIE"])
def test_a_gpu_of_two_sizes_is_not_guessed(name: str) -> None:
    with pytest.raises(NotApplicable, match=f"{name} is a GPU of A100-40GB or A100-80GB; set slurm.gpu_memory_gib"):
        planned_device(plan_of(slurm__gpu_type=name))


@pytest.mark.parametrize("name", ["h100_mig", "MIG-h200", "nvidia_a100_80gb_mig"])
def test_a_slice_of_no_known_profile_is_not_a_whole_gpu(name: str) -> None:
    with pytest.raises(NotApplicable, match=rf"{name} is a MIG slice of a size that its name does not tell"):
        planned_device(plan_of(slurm__gpu_type=name))
    assert planned_device(plan_of(slurm__gpu_type=name, slurm__gpu_memory_gib=20)).total == 20 * 2**30


def test_the_plan_may_give_the_size_of_its_gpus() -> None:
    assert planned_device(plan_of(slurm__gpu_type="a100", slurm__gpu_memory_gib=80)).name == "A100-80GB"
    assert planned_device(plan_of(slurm__gpu_type="a100", slurm__gpu_memory_gib=40)).name == "A100-40GB"
    assert planned_device(plan_of(slurm__gpu_type="big", slurm__gpu_memory_gib=96)).total == 96 * 2**30
    assert planned_device(plan_of(slurm__gpu_memory_gib=24.5)).total == int(24.5 * 2**30)


def test_files_say_more_than_a_name() -> None:
    config = {**(known_config("Qwen/Qwen2.5-0.5B") or {}), "num_hidden_layers": 3}
    found = model_of(files(config, name="Qwen/Qwen2.5-0.5B"))
    assert (found.shape.layers, found.source) == (3, "/m/config.json")
    assert model_of(files(None, name="Qwen/Qwen2.5-0.5B", directory=None)).shape.layers == 24


def test_a_model_that_is_nowhere_or_not_modelled_is_not_judged() -> None:
    with pytest.raises(NotApplicable, match="me/mine is not on this machine"):
        model_of(files(None, name="me/mine", directory=None))
    with pytest.raises(NotApplicable, match=r"has no readable config\.json"):
        model_of(files(None, name="me/mine"))
    with pytest.raises(NotApplicable, match="pass --model with a supported model of the same size"):
        model_of(files({"model_type": "jamba", "num_experts": 16, "hidden_size": 4096}))


@pytest.mark.parametrize("path", ["null", "''"])
def test_an_empty_model_path_is_no_model(path: str) -> None:
    made = plan(f"python3 -m verl.trainer.main_ppo actor_rollout_ref.model.path={path}", "a.sh")
    with pytest.raises(NotApplicable, match="no configuration names a model; pass --model with a directory"):
        planned_model(LocalMachine(), made, {})


@pytest.mark.parametrize("layers", [0, -1, "24", 10**9, None, 2.5])
def test_an_absurd_config_is_no_number(layers: object) -> None:
    with pytest.raises(CouldNotLook, match="num_hidden_layers"):
        model_of(files({**(known_config("Qwen/Qwen2.5-0.5B") or {}), "num_hidden_layers": layers}))


SHAPE = shape_from_config(known_config("Qwen/Qwen2.5-0.5B") or {})
MODEL = Model("Qwen/Qwen2.5-0.5B", SHAPE, "here")
JOB = Job(prompt_length=4096, response_length=4096, micro_batch=32, n_gpus=2)


def test_the_host_is_that_of_the_expected_lengths() -> None:
    job = replace(JOB, activation_offload=True)
    prompt, reply = Lengths(100, 200), Lengths(300, 900)
    usual = host_memory(SHAPE, expected_job(job, prompt, reply))
    assert usual != host_memory(SHAPE, job)
    assert estimate(MODEL, job, device_named("H100"), None, KnownLengths(prompt, reply)).host == usual


def test_all_states_of_the_updated_model_are_kept_and_those_at_rest_of_the_other() -> None:
    """Weights, gradients and two states in float32; the model that waits has no gradients."""
    actor, critic = in_model(SHAPE) * 4 / 2, in_model(SHAPE, value_head=True) * 4 / 2
    alone = estimate(MODEL, JOB, device_named("H100"))
    both = estimate(MODEL, replace(JOB, critic=Critic()), device_named("H100"))
    away = estimate(MODEL, replace(JOB, critic=Critic(optimizer_offload=True)), device_named("H100"))
    assert alone.kept == CONTEXT + 4 * actor
    assert both.kept == CONTEXT + round(max(4 * actor + 3 * critic, 4 * critic + 3 * actor))
    assert away.kept == CONTEXT + round(max(4 * actor + critic, 4 * critic + 3 * actor))


def test_the_longest_of_a_sample_stands_for_its_99th_percentile() -> None:
    sampled = PromptLengths(file="a.parquet", count=50, rows=900, p50=100, p95=700, longest=1200)
    assert known_lengths(None, None, sampled) == KnownLengths(Lengths(100, 1200), None, "50 sampled")
    assert known_lengths(Lengths(1, 2), None, sampled) == KnownLengths(Lengths(1, 2), None)
    assert known_lengths(None, None, None) is None


@pytest.mark.parametrize("path", ["$ROOT/Qwen3-8B-$STEP", "$ROOT/models/mine"])
def test_a_path_whose_last_part_tells_nothing_names_the_way_out(path: str) -> None:
    made = plan(f"python3 -m verl.trainer.main_ppo actor_rollout_ref.model.path={path}", "a.sh")
    with pytest.raises(NotApplicable) as caught:
        planned_model(LocalMachine(), made, {})
    key, _, rest = str(caught.value).partition(f" is {path!r}: ")
    assert (key, rest.endswith(f"; {PASS}")) == ("actor_rollout_ref.model.path", True)
