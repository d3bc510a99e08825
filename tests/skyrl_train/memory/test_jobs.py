"""Jobs from verl's and prime-rl's keys: defaults, every spelling, and no number out of nonsense."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skyrl_train.memory import BadJobError, Critic, Job, MemoryModelError, Rollout, job_from_prime, job_from_verl

A = "actor_rollout_ref"
GRPO = {"algorithm.adv_estimator": "grpo"}


def test_verls_own_defaults() -> None:
    assert job_from_verl(GRPO) == Job(
        prompt_length=512, response_length=512, mini_batch=256, n_gpus=8, rollout=Rollout(tensor_parallel=2)
    )
    assert job_from_verl({}).critic == Critic(remove_padding=True)  # gae is verl's default


def test_what_a_command_line_says() -> None:
    job = job_from_verl(
        {
            "algorithm.adv_estimator": "gae",
            "data.max_prompt_length": "2048",
            "data.max_response_length": "1024",
            "trainer.n_gpus_per_node": "1",
            f"{A}.actor.ppo_mini_batch_size": "8",
            f"{A}.actor.ppo_micro_batch_size_per_gpu": "2",
            f"{A}.actor.use_kl_loss": "True",
            f"{A}.actor.entropy_coeff": "0.001",
            f"{A}.actor.fsdp_config.param_offload": "true",
            f"{A}.model.enable_gradient_checkpointing": "False",
            f"{A}.model.use_remove_padding": "False",
            f"{A}.model.lora_rank": "16",
            f"{A}.model.target_modules": "[q_proj,v_proj]",
            f"+{A}.model.override_config.attn_implementation": "sdpa",
            f"{A}.rollout.n": "4",
            f"{A}.rollout.tensor_model_parallel_size": "1",
            f"{A}.rollout.gpu_memory_utilization": "0.4",
            f"{A}.rollout.max_model_len": "null",
            f"{A}.rollout.log_prob_micro_batch_size_per_gpu": "8",
            "critic.fsdp.param_offload": "True",
        }
    )
    assert job == Job(
        prompt_length=2048,
        response_length=1024,
        micro_batch=2,
        log_prob_micro_batch=8,
        ref_micro_batch=2,
        mini_batch=8,
        n=4,
        n_gpus=1,
        param_offload=True,
        gradient_checkpointing=False,
        remove_padding=False,
        attention="sdpa",
        flash_cross_entropy=False,
        entropy=True,
        lora_rank=16,
        lora_targets=("q_proj", "v_proj"),
        reference=True,
        critic=Critic(micro_batch=2, param_offload=True),
        rollout=Rollout(utilization=0.4),
    )


@pytest.mark.parametrize(
    ("key", "value", "text"),
    [
        ("data.max_prompt_length", 0, "prompt_length is 0; expected 1 to 1000000000"),
        ("data.max_response_length", -5, "response_length is -5; expected 1 to 1000000000"),
        ("data.max_prompt_length", "long", "data.max_prompt_length is 'long'; expected a whole number"),
        ("data.max_prompt_length", 2.5, "data.max_prompt_length is 2.5; expected a whole number"),
        ("data.max_prompt_length", True, "data.max_prompt_length is True; expected a whole number"),
        (
            f"{A}.rollout.gpu_memory_utilization",
            0,
            "gpu_memory_utilization is 0.0; expected a number above 0 and at most 1",
        ),
        (
            f"{A}.rollout.gpu_memory_utilization",
            "50%",
            f"{A}.rollout.gpu_memory_utilization is '50%'; expected a number",
        ),
        (
            f"{A}.rollout.gpu_memory_utilization",
            "nan",
            "gpu_memory_utilization is nan; expected a number above 0 and at most 1",
        ),
        (f"{A}.actor.strategy", "deepspeed", f"{A}.actor.strategy is 'deepspeed'; supported: fsdp, fsdp2, megatron"),
        (f"{A}.actor.use_kl_loss", "maybe", f"{A}.actor.use_kl_loss is 'maybe'; expected true or false"),
        (f"{A}.model.lora_rank", -1, "lora_rank is -1; expected 0 to 65536"),
        (
            f"{A}.model.target_modules",
            "[experts]",
            "lora_targets contains 'experts'; supported: q_proj, k_proj, v_proj, ",
        ),
        (f"{A}.actor.fsdp_config.model_dtype", "int8", "master_dtype is 'int8'; expected one of fp32, "),
    ],
)
def test_bad_values_are_named(key: str, value: object, text: str) -> None:
    with pytest.raises(BadJobError) as caught:
        job_from_verl(GRPO | {key: value})
    assert str(caught.value).startswith(text)


def test_gpus_that_do_not_divide() -> None:
    with pytest.raises(BadJobError, match="tensor_parallel is 2, which does not divide the 3 GPUs of the trainer"):
        job_from_verl(GRPO | {"trainer.n_gpus_per_node": 3})


def test_a_prime_run_that_shares_its_gpu() -> None:
    job = job_from_prime({"trainer_gpu_ids": [0], "inference_gpu_ids": [0], "trainer.model.ac.freq": 1})
    assert (job.longest, job.gradient_checkpointing, job.rollout) == (
        2048,
        True,
        Rollout(utilization=0.9, sleeps=False),
    )


def test_a_prime_run_with_gpus_of_its_own() -> None:
    job = job_from_prime({"trainer_gpu_ids": [1, 2], "inference_gpu_ids": [0]})
    assert (job.n_gpus, job.rollout) == (2, None)


KEYS = st.sampled_from(
    [
        "data.max_prompt_length",
        f"{A}.rollout.gpu_memory_utilization",
        f"{A}.rollout.n",
        f"{A}.actor.use_kl_loss",
        f"{A}.model.target_modules",
        f"{A}.actor.strategy",
        "trainer_gpu_ids",
        "trainer.model.seq_len",
        "trainer.model.lora.rank",
    ]
)
VALUES: st.SearchStrategy[Any] = st.one_of(
    st.text(max_size=8), st.integers(), st.floats(), st.booleans(), st.none(), st.lists(st.text(max_size=3), max_size=2)
)


@given(st.dictionaries(KEYS, VALUES, max_size=4))
def test_nothing_but_a_job_or_a_named_error(values: dict[str, Any]) -> None:
    for read in (job_from_verl, job_from_prime):
        try:
            assert read(values).longest > 0
        except MemoryModelError:
            continue
