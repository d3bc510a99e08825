"""From every dialect to the memory model's job."""

import dataclasses

import pytest

from plans import MIG20, ROOT, example, plan
from skyrl_doctor.budget.job import knob_of, memory_job, own_settings
from skyrl_doctor.core.errors import CouldNotLook, NotApplicable
from skyrl_doctor.plan.model import Plan
from skyrl_train.memory import KNOBS, Rollout, budget, device_named, job_from_prime, shape_from_config
from skyrl_train.memory.known import known_config

VERL = "python -m verl.trainer.main_ppo data.max_prompt_length=100 data.max_response_length=50 {}\n"


def verl(*overrides: str) -> Plan:
    return plan(VERL.format(" ".join(overrides)), "run.sh")


def test_our_own_example() -> None:
    job = memory_job(example(MIG20))
    assert (job.prompt_length, job.response_length, job.n, job.mini_batch) == (2048, 2048, 2, 1)
    assert (job.strategy, job.attention, job.remove_padding) == ("fsdp2", "sdpa", False)
    assert (job.param_offload, job.optimizer_offload, job.critic, job.n_gpus) == (True, True, None, 1)
    assert job.rollout == Rollout(max_model_len=4096, max_seqs=64, enforce_eager=True)


def test_the_same_run_in_verls_words_differs_only_where_they_do() -> None:
    ours, theirs = memory_job(example(MIG20)), memory_job(example("examples/verl/grpo_mig20.sh"))
    differ = {
        field.name
        for field in dataclasses.fields(ours)
        if getattr(ours, field.name) != getattr(theirs, field.name) and field.name != "rollout"
    }
    assert differ == {"strategy", "entropy_chunk"}


def test_verls_own_defaults_hold_for_verl() -> None:
    job = memory_job(verl())
    assert job.n_gpus == 8
    assert job.critic is not None  # its default estimator is GAE
    assert memory_job(verl("actor_rollout_ref.model.path=a/b")).critic is not None


def test_who_asks_for_another_attention_is_not_thought_to_have_flash_attn() -> None:
    """Its cross-entropy spares copies of the logits; the runs that were measured with sdpa had none of it."""
    assert memory_job(verl()).flash_cross_entropy
    for other in ("sdpa", "eager"):
        asked = f"+actor_rollout_ref.model.override_config.attn_implementation={other}"
        assert not memory_job(verl(asked)).flash_cross_entropy


def test_overrides_of_verl_that_have_no_canonical_name_count() -> None:
    assert memory_job(verl("actor_rollout_ref.actor.fsdp_config.fsdp_size=4")).fsdp_size == 4


def test_an_old_key_of_verl_that_still_wins_counts() -> None:
    """FSDPActorConfig.__post_init__ gives it to the engine, whose own key has a default in every plan."""
    actor, engine = (
        f"actor_rollout_ref.actor.{table}ulysses_sequence_parallel_size={{}}" for table in ("", "fsdp_config.")
    )
    assert memory_job(verl(actor.format(2))).sequence_parallel == 2
    assert memory_job(verl(engine.format(4))).sequence_parallel == 4
    assert memory_job(verl(engine.format(4), actor.format(2))).sequence_parallel == 2


@pytest.mark.parametrize(("actor", "critic", "tokens"), [("True", "False", None), ("False", "True", 32768)])
def test_the_critic_packs_its_micro_batches_as_it_says_itself(actor: str, critic: str, tokens: int | None) -> None:
    job = memory_job(verl(f"actor_rollout_ref.actor.use_dynamic_bsz={actor}", f"critic.use_dynamic_bsz={critic}"))
    assert job.critic is not None
    assert (job.max_tokens is not None, job.critic.max_tokens) == (actor == "True", tokens)


def test_a_value_that_cannot_be_told_is_no_default() -> None:
    with pytest.raises(CouldNotLook, match=r"max_model_len.*\$LENGTH"):
        memory_job(verl("actor_rollout_ref.rollout.max_model_len=$LENGTH"))


def test_an_impossible_value_is_no_number() -> None:
    with pytest.raises(CouldNotLook, match=r"response_length is -5"):
        memory_job(verl("data.max_response_length=-5"))


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        (("actor_rollout_ref.rollout.name=hf",), "only vllm is supported: set it to vllm for a rough figure"),
        (("actor_rollout_ref.actor.strategy=deepspeed",), "supported: fsdp, fsdp2, megatron"),
        (("actor_rollout_ref.actor.optim.optimizer=SGD",), "only AdamW is supported"),
        (("+actor_rollout_ref.model.override_config.attn_implementation=flash_attention_3",), "supported: flash"),
        (
            (
                "algorithm.adv_estimator=gae",
                "actor_rollout_ref.model.path=Qwen/Qwen2.5-0.5B",
                "critic.model.path=Qwen/Qwen2.5-7B",
            ),
            "only a critic with the actor's shape",
        ),
        (("actor_rollout_ref.model.use_liger=true",), "use_liger is set"),
        (("actor_rollout_ref.model.tiled_mlp.enabled=true",), "tiled_mlp.enabled is set"),
        (("reward.reward_model.enable=True",), "reward_model.enable is set"),
        (
            ("distillation.enabled=true", "distillation.distillation_loss.loss_mode=forward_kl_topk"),
            "loss_mode is 'forward_kl_topk', which holds the logits a second time; set it to k1",
        ),
        (("actor_rollout_ref.model.lora_adapter_path=/x",), "lora_adapter_path is '/x'; set .*lora_rank to the rank"),
        (("actor_rollout_ref.rollout.quantization=awq",), "rollout.quantization is 'awq'"),
        (("actor_rollout_ref.rollout.pipeline_model_parallel_size=2",), "pipeline_model_parallel_size is 2"),
        (("+actor_rollout_ref.rollout.engine_kwargs.vllm.kv_cache_dtype=turbo",), "kv_cache_dtype is 'turbo'"),
        (("+actor_rollout_ref.rollout.engine_kwargs.vllm.cpu_offload_gb=10",), "cpu_offload_gb is 10"),
        (("+actor_rollout_ref.model.override_config.num_hidden_layers=4",), "override_config.num_hidden_layers is 4"),
        (
            ("actor_rollout_ref.model.lora_rank=8", "actor_rollout_ref.model.exclude_modules=.*mlp.*"),
            "exclude_modules is '.*mlp.*'; only modules of a vision tower",
        ),
    ],
)
def test_what_is_not_described_is_no_reason_to_refuse_a_run(settings: tuple[str, ...], said: str) -> None:
    with pytest.raises(NotApplicable, match=said):
        memory_job(verl(*settings))


@pytest.mark.parametrize(
    "setting",
    [
        "reward.reward_model.enable=True reward.reward_model.enable_resource_pool=True",  # on GPUs of its own
        "distillation.enabled=True",  # with the loss k3; the teachers have GPUs of their own
        "distillation.enabled=True distillation.distillation_loss.loss_mode=k1",
        "distillation.distillation_loss.loss_mode=forward_kl_topk",
        "actor_rollout_ref.model.exclude_modules=x",  # of an adapter that is not there
        "actor_rollout_ref.model.lora_rank=8 actor_rollout_ref.model.exclude_modules=.*visual.*",
        "actor_rollout_ref.model.lora_rank=8 actor_rollout_ref.model.lora_adapter_path=/x",
        "+actor_rollout_ref.rollout.engine_kwargs.vllm.kv_cache_dtype=auto",
        "actor_rollout_ref.rollout.pipeline_model_parallel_size=1",
        "actor_rollout_ref.actor.ppo_micro_batch_size=8 actor_rollout_ref.actor.use_dynamic_bsz=True",
    ],
)
def test_what_changes_no_memory_is_no_reason_to_refuse(setting: str) -> None:
    memory_job(verl(*setting.split()))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("max_response_tokens = 2048", "max_response_tokens = 0"), "data.max_response_tokens is 0; expected 1 to "),
        (("max_prompt_tokens = 2048", 'max_prompt_tokens = "2k"'), "data.max_prompt_tokens is '2k'; expected a whole"),
        (("n = 2\n", "n = -3\n"), "rollout.n is -3; expected 1 to "),
        (
            ("utilization = 0.5", "utilization = 1.5"),
            "rollout.gpu_memory_utilization is 1.5; expected a number above 0 and at",
        ),
        (("gpus_per_node = 1", "gpus_per_node = 0"), "slurm.gpus_per_node is 0; expected 1 to "),
        (("train_batch_size = 1", "train_batch_size = 0"), "data.train_batch_size is 0; expected 1 to "),
    ],
)
def test_an_impossible_value_is_told_by_the_users_own_key(change: tuple[str, str], said: str) -> None:
    with pytest.raises(CouldNotLook) as raised:
        memory_job(plan((ROOT / MIG20).read_text().replace(*change), "run.toml"))
    assert str(raised.value).startswith(said)


@pytest.mark.parametrize(
    ("key", "wanted"),
    [
        ("data.max_response_length", "a whole number"),
        ("actor_rollout_ref.rollout.gpu_memory_utilization", "a number"),
        ("actor_rollout_ref.actor.use_dynamic_bsz", "true or false"),
    ],
)
def test_an_empty_value_is_none_at_all_and_no_default(key: str, wanted: str) -> None:
    with pytest.raises(CouldNotLook, match=rf"^{key} is ''; expected {wanted}$"):
        memory_job(verl(f"{key}=''"))


@pytest.mark.parametrize("attempt", ["v1", "v2", "v3", "v4", "v5"])
@pytest.mark.parametrize("tokens", [2048, 16384])
def test_prime_rl_is_one_model_whichever_way_its_keys_come(attempt: str, tokens: int) -> None:
    """Samples are packed to the trainer's own seq_len, whatever the orchestrator's."""
    text = (ROOT / f"examples/prime-rl-2025/{attempt}.toml").read_text()
    made = plan(text.replace("seq_len = 2048", f"seq_len = {tokens}", 1), "run.toml")
    shape = shape_from_config(known_config("Qwen/Qwen2.5-7B-Instruct") or {})
    found, wanted = (
        budget(shape, job, device_named("H100"))
        for job in (memory_job(made), job_from_prime({key: value.value for key, value in made.own.items()}))
    )
    assert made.own["trainer.model.seq_len"].value == tokens
    assert [phase.components for phase in found.phases] == [phase.components for phase in wanted.phases]


@pytest.mark.parametrize("tokens", [0, -4])
def test_prime_rls_own_length_is_judged_by_its_own_key(tokens: int) -> None:
    text = (ROOT / "examples/prime-rl-2025/v5.toml").read_text().replace("max_tokens = 2000", f"max_tokens = {tokens}")
    with pytest.raises(CouldNotLook, match=rf"^orchestrator.sampling.max_tokens is {tokens}; expected 1 or more$"):
        memory_job(plan(text, "run.toml"))


def own_words(*words: str) -> Plan:
    text = (ROOT / MIG20).read_text()
    return plan(
        text.replace("save_every_steps = 1", f"save_every_steps = 1\nverl_overrides = {list(words)}"), "run.toml"
    )


def test_verls_own_words_in_our_configuration_win() -> None:
    job = memory_job(
        own_words(
            "actor_rollout_ref.rollout.gpu_memory_utilization=0.9",
            "++data.max_response_length=900",
            "+actor_rollout_ref.rollout.engine_kwargs.vllm.kv_cache_memory_bytes=1000",
        )
    )
    assert job.rollout is not None
    assert (job.response_length, job.rollout.utilization, job.rollout.kv_bytes) == (900, 0.9, 1000)
    with pytest.raises(NotApplicable, match="only vllm is supported"):
        memory_job(own_words("actor_rollout_ref.rollout.name=hf"))
    with pytest.raises(NotApplicable, match=r"trainer.verl_overrides sets actor_rollout_ref.model.path"):
        memory_job(own_words("actor_rollout_ref.model.path=Qwen/Qwen2.5-7B"))
    with pytest.raises(CouldNotLook, match=r"max_response_length is \$\{oc.env:N\}"):
        memory_job(own_words("data.max_response_length=${oc.env:N}"))


def test_without_lengths_there_is_no_job() -> None:
    with pytest.raises(NotApplicable, match=r"data\.max_prompt_tokens"):
        memory_job(Plan(targets=("x",), dialect="run-config"))


def test_prime_rl_shares_its_gpu_only_where_its_lists_do() -> None:
    shared, apart = (
        memory_job(example("examples/prime-rl-2025/v5.toml")),
        memory_job(example("examples/prime-rl/two_gpus.toml")),
    )
    assert (shared.prompt_length, shared.response_length, shared.framework) == (48, 2000, "prime-rl")
    assert shared.rollout is not None
    assert (shared.rollout.sleeps, shared.rollout.utilization) == (False, 0.5)
    assert apart.rollout is not None
    assert (apart.rollout.separate, apart.rollout.gpus, apart.n_gpus, apart.lora_rank) == (True, 1, 1, 8)


def test_prime_rl_with_no_room_for_a_prompt_and_a_response_is_no_job() -> None:
    made = example("examples/prime-rl-2025/v5.toml")
    values = dict(made.values)
    values["data.max_sequence_tokens"] = dataclasses.replace(values["data.max_sequence_tokens"], value=1)
    with pytest.raises(CouldNotLook, match="is 1; expected"):
        memory_job(dataclasses.replace(made, values=values))


def test_settings_are_told_in_the_users_own_words() -> None:
    settings = {"actor_rollout_ref.rollout.gpu_memory_utilization": "0.4", "a.key.of.verl": "1"}
    assert own_settings(example(MIG20), settings) == {"rollout.gpu_memory_utilization": "0.4", "a.key.of.verl": "1"}
    assert own_settings(verl(), settings) == settings


def test_the_settings_of_fine_tuning_are_those_of_its_program() -> None:
    lora, rank = "actor_rollout_ref.model.lora_rank", {"actor_rollout_ref.actor.strategy": "fsdp2"}
    settings = {lora: "32", "actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu": "2", **rank}
    verls = plan("torchrun --nproc_per_node=2 -m verl.trainer.sft_trainer model.path=Qwen/Qwen3-8B", "a.sh")
    skyrls = plan("python -m skyrl.train.main_sft model.path=Qwen/Qwen3-8B placement.num_gpus_per_node=2", "b.sh")
    assert own_settings(verls, settings) == {"model.lora_rank": "32", "data.micro_batch_size_per_gpu": "2"}
    assert own_settings(skyrls, settings) == {"model.lora.rank": "32", "micro_train_batch_size_per_gpu": "2"}


def test_what_a_dev_conf_has_no_name_for_is_an_override_of_verl() -> None:
    made = example("examples/skyrl-agent/dev.conf")
    share, rank = "actor_rollout_ref.rollout.gpu_memory_utilization", "actor_rollout_ref.model.lora_rank"
    assert own_settings(made, {share: "0.4", rank: "32"}) == {"GPU_MEMORY_UTILIZATION": "0.4", rank: "32"}


@pytest.mark.parametrize(
    "key",
    [
        "data.max_response_tokens",
        "max_response_tokens",
        "data.max_response_length",
        "response_length",
        "max_response_length",
        " Max-Response-Length",
    ],
)
def test_a_key_to_solve_for_may_be_written_in_any_of_its_names(key: str) -> None:
    assert knob_of(verl(), key) == "response_length"
    assert knob_of(example(MIG20), key) == "response_length"


def test_an_unknown_key_stays_what_it_is() -> None:
    assert knob_of(verl(), "nope") == "nope"
    assert {knob_of(verl(), knob) for knob in KNOBS} == set(KNOBS)
