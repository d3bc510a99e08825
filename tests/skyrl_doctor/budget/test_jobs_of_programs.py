"""The jobs of SkyRL, of fine-tuning, and of rollouts on GPUs of their own."""

import json

import pytest

from plans import plan
from skyrl_doctor.budget.job import memory_job, own_settings
from skyrl_doctor.budget.sft_job import is_sft, sft_job
from skyrl_doctor.budget.skyrl_job import skyrl_job
from skyrl_doctor.core.errors import CouldNotLook, NotApplicable
from skyrl_train.config.parallel import Parallel
from skyrl_train.memory import (
    Component,
    Phase,
    UnsupportedJobError,
    budget,
    changes,
    device_named,
    gib,
    job_from_verl,
    known_config,
    shape_from_config,
)
from skyrl_train.memory.prime_job import part_job

ACTOR, ROLLOUT = "actor_rollout_ref.actor", "actor_rollout_ref.rollout"
VERL = "python3 -m verl.trainer.main_ppo data.train_batch_size=8"


def test_skyrls_own_defaults() -> None:
    job = skyrl_job({"trainer.policy.model.path": "Qwen/Qwen3-8B"})
    assert (job.prompt_length, job.response_length, job.n, job.strategy) == (512, 1024, 5, "fsdp2")
    assert (job.param_offload, job.reference, job.train_batch, job.mini_batch) == (True, True, 1024, 256)
    assert job.rollout is not None
    assert (job.rollout.utilization, job.rollout.separate) == (0.8, False)


def test_skyrl_with_engines_of_their_own() -> None:
    job = skyrl_job(
        {
            "trainer.placement.colocate_all": False,
            "trainer.placement.policy_num_gpus_per_node": 4,
            "generator.inference_engine.num_engines": 2,
            "generator.inference_engine.tensor_parallel_size": 2,
            "generator.max_input_length": 4096,
        }
    )
    assert job.rollout is not None
    assert (job.rollout.separate, job.rollout.gpus, job.n_gpus, job.param_offload) == (True, 4, 4, False)
    assert job.prompt_length + job.response_length == 4096 + 1024


def test_skyrls_megatron() -> None:
    table = "trainer.policy.megatron_config"
    job = skyrl_job(
        {
            "trainer.strategy": "megatron",
            "trainer.placement.policy_num_gpus_per_node": 8,
            f"{table}.tensor_model_parallel_size": 4,
            f"{table}.expert_model_parallel_size": 8,
            f"{table}.expert_tensor_parallel_size": 1,
        }
    )
    assert (job.strategy, job.parallel) == ("megatron", Parallel(tensor=4, expert=8, expert_tensor=1))


@pytest.mark.parametrize(
    ("settings", "gradient", "chunk"),
    [
        ({}, False, 1024),
        ({"trainer.logprobs_chunk_size": 512}, False, 512),
        ({"trainer.algorithm.use_entropy_loss": True}, True, 1024),
        ({"trainer.remove_microbatch_padding": False, "trainer.micro_train_batch_size_per_gpu": 8}, False, 8 * 1024),
        ({"trainer.strategy": "megatron"}, False, 256),
        ({"trainer.strategy": "megatron", "trainer.vocab_entropy_chunk_size": 64}, False, 64),
        ({"trainer.strategy": "megatron", "trainer.vocab_entropy_chunk_size": "null"}, False, None),
        ({"trainer.strategy": "megatron", "trainer.vocab_entropy_chunk_size": None}, False, None),
        ({"trainer.strategy": "megatron", "trainer.vocab_entropy_chunk_memory_mb": 2048}, False, 1024),
    ],
)
def test_skyrls_entropy_is_a_figure_of_the_update(
    settings: dict[str, object], gradient: bool, chunk: int | None
) -> None:
    job = skyrl_job({"trainer.policy.model.path": "Qwen/Qwen3-8B", **settings})
    assert (job.entropy, job.entropy_gradient, job.entropy_chunk) == (True, gradient, chunk)
    assert not job.log_prob_entropy


def test_skyrls_log_probs_take_the_logits_alone() -> None:
    job = skyrl_job({"trainer.micro_forward_batch_size_per_gpu": 64})
    found = budget(shape_from_config(json.dumps(known_config("Qwen2.5-1.5B-Instruct"))), job, device_named("H100"))
    log_prob = next(phase for phase in found.phases if phase.phase is Phase.LOG_PROB)
    assert log_prob.components.get(Component.ENTROPY, 0) == 0
    assert round(gib(log_prob.components[Component.LOGITS]), 2) == 27.82  # 64 x 1536 tokens x 151936 in bfloat16


@pytest.mark.parametrize("kl", [True, False])
def test_smaller_micro_batches_do_what_the_advice_promises(kl: bool) -> None:
    """SkyRL has one size for the forward passes of policy and reference, verl has two."""
    shape = shape_from_config(json.dumps(known_config("Qwen/Qwen3-1.7B")))
    skyrls = {
        "trainer.policy.model.path": "Qwen/Qwen3-1.7B",
        "trainer.placement.policy_num_gpus_per_node": 8,
        "trainer.micro_train_batch_size_per_gpu": 4,
        "trainer.micro_forward_batch_size_per_gpu": 8,
        "trainer.algorithm.use_kl_loss": kl,
        "generator.sampling_params.max_generate_length": 16384,
    }
    verls = {
        f"{ACTOR}.ppo_micro_batch_size_per_gpu": 4,
        "actor_rollout_ref.rollout.log_prob_micro_batch_size_per_gpu": 8,
        "actor_rollout_ref.ref.log_prob_micro_batch_size_per_gpu": 16,
        f"{ACTOR}.use_kl_loss": kl,
        "data.max_response_length": 16384,
        "trainer.n_gpus_per_node": 8,
    }
    script = "python -m skyrl.train.entrypoints.main_base " + " ".join(
        f"{key}={value}" for key, value in skyrls.items()
    )
    for job_of, values, made in ((skyrl_job, skyrls, plan(script, "a.sh")), (job_from_verl, verls, plan(VERL, "b.sh"))):
        found = changes(shape, job_of(values), device_named("RTX4090"), 20)
        advice = next(one for one in found if one.summary == "halve the micro batches")
        names = own_settings(made, dict(advice.settings))
        assert list(names) == [key for key in values if "micro" in key and (kl or ".ref." not in key)]
        changed = job_of({**values, **{key: int(value) for key, value in names.items()}})
        assert budget(shape, changed, device_named("RTX4090")).peak.total == advice.budget.peak.total


def test_another_strategy_of_skyrl_is_refused() -> None:
    with pytest.raises(UnsupportedJobError, match="supported: fsdp, fsdp2, megatron"):
        skyrl_job({"trainer.strategy": "deepspeed"})


def test_fine_tuning_has_no_rollouts() -> None:
    values: dict[str, object] = {
        "model.path": "Qwen/Qwen3-8B",
        "data.micro_batch_size_per_gpu": 8,
        "data.use_dynamic_bsz": False,
        "data.max_length": 2048,
        "model.lora_rank": 32,
    }
    job = sft_job(values, 4)
    assert is_sft(values)
    assert (job.framework, job.rollout, job.n_gpus, job.micro_batch) == ("sft", None, 4, 8)
    assert (job.longest, job.lora_rank, job.max_tokens) == (2048, 32, None)


def test_a_run_of_an_actor_is_no_fine_tuning() -> None:
    assert not is_sft({"actor_rollout_ref.model.path": "x", "data.max_prompt_length": 1})


def test_rollouts_on_gpus_of_their_own() -> None:
    job = job_from_verl({"rollout.n_gpus_per_node": 4, "rollout.nnodes": 2, f"{ROLLOUT}.tensor_model_parallel_size": 8})
    assert job.rollout is not None
    assert (job.rollout.separate, job.rollout.gpus) == (True, 8)


def test_validation_alone_trains_nothing() -> None:
    assert job_from_verl({"trainer.val_only": True}).val_only


def test_the_old_micro_batch_counts_all_gpus() -> None:
    old = {"actor_rollout_ref.actor.ppo_micro_batch_size": 64, "trainer.n_gpus_per_node": 8}
    assert job_from_verl(old).micro_batch == 8
    assert job_from_verl({**old, "actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu": 2}).micro_batch == 2


def test_gpus_that_share_a_sequence_count_once_in_the_old_micro_batch() -> None:
    old = {
        "actor_rollout_ref.actor.ppo_micro_batch_size": 64,
        "actor_rollout_ref.rollout.log_prob_micro_batch_size": 32,
        "critic.ppo_micro_batch_size": 16,
        "actor_rollout_ref.actor.ulysses_sequence_parallel_size": 2,
        "trainer.n_gpus_per_node": 8,
    }
    job = job_from_verl(old)
    assert job.critic is not None
    assert (job.micro_batch, job.log_prob_micro_batch, job.critic.micro_batch) == (16, 8, 4)


@pytest.mark.parametrize(
    ("strategy", "value", "way_out"),
    [("fsdp", "False", "true"), ("fsdp2", "false", "true"), ("torchtitan", "never", "always")],
)
def test_layers_that_stay_gathered_are_refused(strategy: str, value: str, way_out: str) -> None:
    """A number took one gathered layer where FSDP keeps all of them: 14 GiB less than a 7B model needs."""
    table = "torchtitan" if strategy == "torchtitan" else "fsdp_config"
    with pytest.raises(UnsupportedJobError) as caught:
        job_from_verl({f"{ACTOR}.strategy": strategy, f"{ACTOR}.{table}.reshard_after_forward": value})
    assert str(caught.value) == (
        f"{ACTOR}.{table}.reshard_after_forward is {value.lower()}, which keeps all layers gathered; the memory model does "
        f"not support that; set it to {way_out} for a rough figure"
    )


def test_skyrls_layers_that_stay_gathered_are_refused() -> None:
    with pytest.raises(
        UnsupportedJobError, match=r"^trainer.policy.fsdp_config.reshard_after_forward is false, which keeps"
    ):
        skyrl_job({"trainer.policy.fsdp_config.reshard_after_forward": False})


def test_prime_rls_layers_that_stay_gathered_are_refused() -> None:
    with pytest.raises(UnsupportedJobError, match=r"^model.reshard_after_forward is false, which keeps all layers"):
        part_job({"optim.lr": 1e-5, "model.seq_len": 4096, "model.reshard_after_forward": False})


@pytest.mark.parametrize("word", ["default", "always", "8", "true"])
def test_layers_that_are_freed_are_not_refused(word: str) -> None:
    job = job_from_verl({f"{ACTOR}.strategy": "torchtitan", f"{ACTOR}.torchtitan.reshard_after_forward": word})
    assert job.strategy == "fsdp2"


def test_an_engine_like_fsdp2_has_a_table_of_its_own() -> None:
    actor = "actor_rollout_ref.actor"
    job = job_from_verl({f"{actor}.strategy": "veomni", f"{actor}.veomni.param_offload": True})
    assert (job.strategy, job.param_offload) == ("fsdp2", True)


def test_fp8_weights_and_cache() -> None:
    job = job_from_verl({f"{ROLLOUT}.quantization": "fp8", f"{ROLLOUT}.engine_kwargs.vllm.kv_cache_dtype": "fp8"})
    assert job.rollout is not None
    assert (job.rollout.dtype, job.rollout.kv_dtype) == ("fp8", "fp8")


def test_prime_rls_fine_tuning() -> None:
    job = part_job({"data.seq_len": 4096, "data.micro_batch_size": 2, "model.name": "x", "optim.lr": 1e-5})
    assert (job.framework, job.longest, job.micro_batch, job.whole_cross_entropy) == ("sft", 4096, 2, True)
    with pytest.raises(UnsupportedJobError, match="pass the file of"):
        part_job({"model.name": "x", "server.port": 8000})


def test_a_number_of_gpus_that_only_the_script_knows() -> None:
    script = "torchrun --nproc_per_node=$1 -m verl.trainer.sft_trainer model.path=Qwen/Qwen3-8B data.max_length=512"
    made = plan(script, "run.sh")
    said = r"^torchrun --nproc_per_node is '\$1': \$1 is an argument of the script; pass --gpus N$"
    with pytest.raises(CouldNotLook, match=said):
        memory_job(made)
    assert memory_job(made, gpus=4).n_gpus == 4


def test_not_applicable_names_what_to_change() -> None:
    with pytest.raises(NotApplicable, match="set it to false for a rough figure"):
        memory_job(plan("python -m verl.trainer.main_ppo actor_rollout_ref.model.use_liger=true", "run.sh"))
