"""Every key that decides the memory is read: whole jobs of SkyRL, of fine-tuning and of prime-rl's trainer."""

from dataclasses import replace

import pytest

from skyrl_doctor.budget.sft_job import sft_job
from skyrl_doctor.budget.skyrl_job import skyrl_job
from skyrl_train.memory import Job, Rollout
from skyrl_train.memory.prime_job import as_prime, part_job

POLICY, ENGINE = "trainer.policy", "generator.inference_engine"
SKYRL = Job(
    prompt_length=512,
    response_length=1024,
    mini_batch=256,
    train_batch=1024,
    n=5,
    strategy="fsdp2",
    param_offload=True,
    optimizer_offload=True,
    reference=True,
    entropy=True,
    entropy_gradient=False,
    log_prob_entropy=False,
    entropy_chunk=1024,
    torch_compile=False,
    rollout=Rollout(utilization=0.8, max_seqs=1024, enforce_eager=True, bucket_mib=1024),
)


def test_all_defaults_of_skyrl() -> None:
    assert skyrl_job({"trainer.policy.model.path": "Qwen/Qwen3-8B"}) == SKYRL


def test_every_key_of_skyrl() -> None:
    found = skyrl_job(
        {
            "trainer.placement.policy_num_gpus_per_node": 4,
            "trainer.placement.policy_num_nodes": 2,
            "trainer.max_prompt_length": 1000,
            "generator.sampling_params.max_generate_length": 2000,
            "trainer.micro_train_batch_size_per_gpu": 2,
            "trainer.micro_forward_batch_size_per_gpu": 4,
            "trainer.policy_mini_batch_size": 64,
            "trainer.train_batch_size": 128,
            "generator.n_samples_per_prompt": 8,
            "trainer.algorithm.use_kl_loss": False,
            "trainer.gradient_checkpointing": False,
            "trainer.max_tokens_per_microbatch": 9000,
            f"{POLICY}.sequence_parallel_size": 2,
            f"{POLICY}.fsdp_config.cpu_offload": True,
            f"{POLICY}.model.lora.rank": 16,
            f"{ENGINE}.gpu_memory_utilization": 0.6,
            f"{ENGINE}.tensor_parallel_size": 4,
            f"{ENGINE}.engine_init_kwargs.max_model_len": 5000,
            f"{ENGINE}.max_num_batched_tokens": 16384,
            f"{ENGINE}.max_num_seqs": 64,
            f"{ENGINE}.enforce_eager": False,
        }
    )
    assert found == replace(
        SKYRL,
        n_gpus=8,
        prompt_length=1000,
        response_length=2000,
        micro_batch=2,
        log_prob_micro_batch=4,
        ref_micro_batch=4,
        mini_batch=64,
        train_batch=128,
        n=8,
        reference=False,
        gradient_checkpointing=False,
        max_tokens=9000,
        log_prob_max_tokens=9000,
        sequence_parallel=2,
        offload_policy=True,
        lora_rank=16,
        rollout=Rollout(
            utilization=0.6,
            tensor_parallel=4,
            max_model_len=5000,
            max_batched_tokens=16384,
            max_seqs=64,
            bucket_mib=1024,
        ),
    )


def test_skyrls_fine_tuning() -> None:
    own = {"model.path": "Qwen/Qwen3-8B", "strategy": "fsdp"}
    default = Job(
        prompt_length=1,
        response_length=4095,
        micro_batch=2,
        mini_batch=4,
        strategy="fsdp2",
        entropy=True,
        entropy_gradient=False,
        log_prob_entropy=False,
        entropy_chunk=1024,
        torch_compile=False,
        framework="sft",
        rollout=None,
    )
    assert skyrl_job(own) == default
    more = {"batch_size": 32, "micro_train_batch_size_per_gpu": 8, "max_length": 512, "model.lora.rank": 4}
    assert skyrl_job({**own, **more, "placement.num_gpus_per_node": 2}) == replace(
        default, mini_batch=32, micro_batch=8, response_length=511, lora_rank=4, n_gpus=2
    )


SFT = Job(
    prompt_length=1,
    response_length=1023,
    micro_batch=4,
    log_prob_micro_batch=4,
    ref_micro_batch=4,
    mini_batch=256,
    max_tokens=8192,
    log_prob_max_tokens=8192,
    framework="sft",
    rollout=None,
)


def test_all_defaults_of_verls_fine_tuning() -> None:
    assert sft_job({"model.path": "Qwen/Qwen3-8B"}, None) == SFT
    old = {"model.partial_pretrain": "Qwen/Qwen3-8B"}  # the program before 2026 packed nothing
    assert sft_job(old, None) == replace(SFT, max_tokens=None, log_prob_max_tokens=None)


def test_every_key_of_verls_fine_tuning() -> None:
    values: dict[str, object] = {
        "model.path": "Qwen/Qwen3-8B",
        "model.lora_rank": 8,
        "model.target_modules": ["q_proj"],
        "model.use_remove_padding": False,
        "model.enable_gradient_checkpointing": False,
        "engine.strategy": "fsdp2",
        "engine.param_offload": True,
        "engine.optimizer_offload": True,
        "engine.ulysses_sequence_parallel_size": 1,
        "data.max_length": 2048,
        "data.max_token_len_per_gpu": 4096,
        "data.train_batch_size": 32,
        "data.micro_batch_size_per_gpu": 2,
        "ulysses_sequence_parallel_size": 2,
        "trainer.nnodes": 2,
        "trainer.n_gpus_per_node": 4,
    }
    job = replace(
        SFT,
        response_length=2047,
        micro_batch=2,
        log_prob_micro_batch=2,
        ref_micro_batch=2,
        mini_batch=32,
        max_tokens=4096,
        log_prob_max_tokens=4096,
        n_gpus=8,
        sequence_parallel=2,
        strategy="fsdp2",
        lora_rank=8,
        lora_targets=("q_proj",),
        remove_padding=False,
        gradient_checkpointing=False,
        param_offload=True,
        optimizer_offload=True,
    )
    assert sft_job(values, None) == job
    assert sft_job(values, 2) == replace(job, n_gpus=2)  # --gpus counts those of all nodes


@pytest.mark.parametrize("key", ["deployment.num_gpus", "deployment.num_train_gpus"])
def test_every_key_of_prime_rls_trainer(key: str) -> None:
    values: dict[str, object] = {
        "optim.lr": 1e-5,
        "model.seq_len": 4096,
        "model.lora.rank": 16,
        "model.cp": 2,
        "model.ep": 4,
        "model.ac_offloading.max_inflight_activations": 5,
        "model.optim_cpu_offload": True,
        "model.fsdp_cpu_offload": True,
        key: 8,
    }
    plain = as_prime(Job(prompt_length=1, response_length=4095, mini_batch=128), None, spares_logits=True)
    assert part_job(values) == replace(
        plain,
        lora_rank=16,
        n_gpus=8,
        sequence_parallel=2,
        expert_parallel=4,
        activation_offload=True,
        optimizer_offload=True,
        offload_policy=True,
    )


def test_every_key_of_prime_rls_fine_tuning() -> None:
    values: dict[str, object] = {
        "optim.lr": 1e-5,
        "data.seq_len": 512,
        "data.batch_size": 16,
        "data.micro_batch_size": 4,
    }
    plain = as_prime(Job(prompt_length=1, response_length=511, micro_batch=4, mini_batch=16), None, spares_logits=True)
    assert part_job(values) == replace(plain, framework="sft", whole_cross_entropy=True)
