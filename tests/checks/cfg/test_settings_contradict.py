"""CFG012."""

import pytest

from plans import example, found, judged, plan, verdict
from skyrl_doctor.core.model import Location, Severity, Status
from skyrl_doctor.machine.recorded import RecordedMachine
from skyrl_doctor.plan.findings import config_finding
from skyrl_doctor.plan.load import load
from skyrl_doctor.plan.model import Plan

A, R, M, REF = (
    "actor_rollout_ref.actor",
    "actor_rollout_ref.rollout",
    "actor_rollout_ref.model",
    "actor_rollout_ref.ref",
)
MICRO, LOG = "ppo_micro_batch_size", "log_prob_micro_batch_size"
WHOLE = (
    "trainer.n_gpus_per_node=8", "data.train_batch_size=64", f"{A}.ppo_mini_batch_size=32", f"{A}.{MICRO}_per_gpu=2",
    f"{R}.{LOG}_per_gpu=2", f"{REF}.{LOG}_per_gpu=2", f"{R}.name=vllm", "algorithm.adv_estimator=grpo", f"{R}.n=2",
)  # fmt: skip
CRITIC = ("algorithm.adv_estimator=gae", f"critic.{MICRO}_per_gpu=2")
MEGATRON = ("model_engine=megatron",)
RULES: tuple[tuple[tuple[str, ...], str, str], ...] = (
    ((), f"{A}.{MICRO}=4", f"{A}.use_dynamic_bsz=True"),
    ((f"{A}.{MICRO}=8",), f"{A}.ppo_epochs=1", f"{A}.{MICRO}_per_gpu=null"),
    ((), f"{A}.{MICRO}_per_gpu=null", f"{A}.{MICRO}_per_gpu=1"),
    ((), f"{R}.{LOG}_per_gpu=null", f"{R}.{LOG}_per_gpu=4"),
    ((f"{A}.use_kl_loss=True",), f"{REF}.{LOG}_per_gpu=null", f"{REF}.{LOG}_per_gpu=4"),
    ((f"{A}.{MICRO}_per_gpu=null",), f"{A}.{MICRO}=12", f"{A}.{MICRO}=16"),
    ((f"{A}.{MICRO}_per_gpu=null",), f"{A}.{MICRO}=4", f"{A}.{MICRO}=8"),
    (CRITIC, f"critic.{MICRO}_per_gpu=null", f"critic.{MICRO}_per_gpu=1"),
    (CRITIC, "critic.ppo_mini_batch_size=128", "critic.ppo_mini_batch_size=64"),
    ((f"{M}.use_remove_padding=False",), f"{A}.ulysses_sequence_parallel_size=2", f"{A}.ulysses_sequence_parallel_size=1"),
    ((f"{R}.val_kwargs.do_sample=True",), f"{R}.temperature=0", f"{R}.temperature=0.6"),
    ((), f"{M}.lora_rank=513", f"{M}.lora_rank=512"),
    ((f"{R}.tensor_model_parallel_size=2",), f"{R}.expert_parallel_size=4", f"{R}.expert_parallel_size=2"),
    ((), f"{R}.pipeline_model_parallel_size=2", f"{R}.pipeline_model_parallel_size=1"),
    ((), f"+{R}.moe_tensor_parallel_size=2", f"+{R}.moe_tensor_parallel_size=1"),
    ((f"{R}.disaggregation.enabled=True",), f"{R}.name=trtllm", f"{R}.name=vllm"),
    ((), f"{A}.strategy=megatron", f"{A}.strategy=fsdp2"),
    (("algorithm.use_kl_in_reward=True", "algorithm.kl_ctrl.type=adaptive"), "algorithm.kl_ctrl.horizon=0", "algorithm.kl_ctrl.horizon=1"),
    ((), f"{A}.clip_ratio_c=1.0", f"{A}.clip_ratio_c=3.0"),
    (("trainer.resume_mode=resume_path",), "trainer.resume_from_path=/c/last", "trainer.resume_from_path=/c/global_step_7"),
    ((), f"{R}.trace.max_samples_per_step_per_worker=-1", f"{R}.trace.max_samples_per_step_per_worker=0"),
)  # fmt: skip
"""Of each rule: what stands around it, a word that verl refuses, and its healthy neighbour."""


def verl(*words: str, version: str | None = None) -> Plan:
    text = f"python3 -m verl.trainer.main_ppo {' '.join((*WHOLE, *words))}"
    machine = RecordedMachine({"environ": {"HOME": "/home/ada"}, "read run.sh": text})
    return load(machine, ("run.sh",), verl_version=version)


@pytest.mark.parametrize(("around", "faulty", "healthy"), RULES)
def test_each_rule_refuses_and_its_neighbour_is_silent(around: tuple[str, ...], faulty: str, healthy: str) -> None:
    refused = found("CFG012", verl(*around, faulty))
    assert [one.severity for one in refused] == [Severity.ERROR]
    assert found("CFG012", verl(*around, healthy)) == []


GPUS = "CUDA_VISIBLE_DEVICES=0,1,2,3"


TOKENS = ("data.max_prompt_length=1024", "data.max_response_length=2048", f"{A}.use_dynamic_bsz=True")
LIMIT = f"{A}.ppo_max_token_len_per_gpu"


@pytest.mark.parametrize(
    ("version", "words", "severity"),
    [
        ("0.4.1", (f"{LIMIT}=3071",), Severity.ERROR),
        ("0.7.1", (f"{LIMIT}=3071",), Severity.ERROR),
        ("0.7.1", (f"{LIMIT}=3071", "trainer.use_legacy_worker_impl=disable"), None),
        ("0.8.0", (f"{LIMIT}=3071",), Severity.WARNING),
        ("0.9.1", (f"{LIMIT}=3071",), Severity.WARNING),
        ("0.9.1", (f"{LIMIT}=3072",), None),
        ("0.9.1", (f"{LIMIT}=1536", f"{A}.ulysses_sequence_parallel_size=2"), None),
        ("0.9.1", (f"{LIMIT}=1535", f"{A}.ulysses_sequence_parallel_size=2"), Severity.WARNING),
        ("0.9.1", (f"{LIMIT}=1536", *MEGATRON, f"{A}.megatron.context_parallel_size=2"), None),
        ("0.9.1", (f"{LIMIT}=100", f"{A}.use_dynamic_bsz=False"), None),
    ],
)
def test_a_dynamic_batch_holds_one_sequence(version: str, words: tuple[str, ...], severity: Severity | None) -> None:
    findings = found("CFG012", verl(*TOKENS, f"{R}.log_prob_max_token_len_per_gpu=4096", *words, version=version))
    told = [one for one in findings if one.location is not None and one.location.key == LIMIT]
    assert [one.severity for one in told] == ([] if severity is None else [severity])


@pytest.mark.parametrize(
    ("key", "words"),
    [
        (f"{R}.log_prob_max_token_len_per_gpu", ()),
        (f"{REF}.log_prob_max_token_len_per_gpu", (f"{A}.use_kl_loss=True",)),
        ("critic.ppo_max_token_len_per_gpu", (*CRITIC, "critic.use_dynamic_bsz=True", "trainer.use_v1=False")),
        ("+critic.ppo_infer_max_token_len_per_gpu", (*CRITIC, "critic.use_dynamic_bsz=True")),
    ],
)
def test_each_token_limit_is_compared_where_the_run_uses_it(key: str, words: tuple[str, ...]) -> None:
    def told(*more: str) -> list[str]:
        findings = found("CFG012", verl(*TOKENS, f"{key}=1000", *more, version="0.9.1"))
        plain = key.lstrip("+")
        return [one.remedy.settings[plain] for one in findings if one.remedy and plain in one.remedy.settings]

    assert told(*words) == ["3072"]
    assert told(f"{R}.log_prob_use_dynamic_bsz=False") == []


def test_the_v1_trainer_does_not_read_the_limit_of_the_critics_update() -> None:
    words = (*TOKENS, *CRITIC, "critic.use_dynamic_bsz=True", "critic.ppo_max_token_len_per_gpu=1000")
    assert found("CFG012", verl(*words, version="0.9.1")) == []
    assert len(found("CFG012", verl(*words, version="0.8.0"))) == 1


def test_a_limit_that_others_take_over_is_one_finding() -> None:
    words = (*TOKENS, f"{LIMIT}=1000", f"{A}.use_kl_loss=True")
    assert [one.location.key for one in found("CFG012", verl(*words, version="0.9.1")) if one.location] == [LIMIT]


def test_a_limit_that_is_enough_for_the_actor_alone_is_found_for_the_others() -> None:
    words = (*TOKENS, f"{LIMIT}=1000", f"{A}.use_kl_loss=True", f"{A}.fsdp_config.ulysses_sequence_parallel_size=4")
    told = {one.location.key for one in found("CFG012", verl(*words, version="0.9.1")) if one.location}
    assert LIMIT not in told
    assert f"{REF}.log_prob_max_token_len_per_gpu" in told


def test_the_critics_own_limit_is_told_beside_the_actors() -> None:
    limits = (f"{LIMIT}=1000", "critic.ppo_max_token_len_per_gpu=1000", "critic.use_dynamic_bsz=True")
    told = [
        one.location.key for one in found("CFG012", verl(*TOKENS, *CRITIC, *limits, version="0.8.0")) if one.location
    ]
    assert sorted(told) == sorted([LIMIT, "critic.ppo_max_token_len_per_gpu"])


@pytest.mark.parametrize(
    ("before", "count"),
    [
        (f"export {GPUS}\n", 1),
        (f"{GPUS} ", 1),
        (f"nohup env {GPUS} ", 1),
        (f"export {GPUS},4,5,6,7\n", 0),
        (f"export {GPUS}\nray start --head\n", 0),
        ("export RAY_ADDRESS=head:6379\n" + f"export {GPUS}\n", 0),
        ("export CUDA_VISIBLE_DEVICES=$GPUS\n", 0),
    ],
)
def test_ray_has_the_gpus_that_the_script_shows(before: str, count: int) -> None:
    made = plan(f"{before}python3 -m verl.trainer.main_ppo {' '.join(WHOLE)} trainer.nnodes=1", "run.sh")
    assert [one.severity for one in found("CFG012", made)] == [Severity.ERROR] * count


def test_groups_are_filtered_by_a_metric() -> None:
    words = ("algorithm.filter_groups.enable=True", "algorithm.filter_groups.metric=")
    assert [one.severity for one in found("CFG012", verl(words[0], f"{words[1]}null", version="0.9.1"))] == [
        Severity.ERROR
    ]
    assert found("CFG012", verl(words[0], f"{words[1]}acc", version="0.9.1")) == []
    assert found("CFG012", verl(words[0], f"{words[1]}$METRIC", version="0.9.1")) == []


def test_names_both_sizes_and_the_one_to_remove() -> None:
    total, per_gpu = f"{A}.{MICRO}", f"{A}.{MICRO}_per_gpu"
    assert found("CFG012", verl(f"{total}=4")) == [
        config_finding(
            f"{total} = 4 and {per_gpu} = 2 are both set; expected one of them, remove {total}",
            Location("run.sh", 1, total),
            removes=(total,),
        )
    ]


@pytest.mark.parametrize(
    ("version", "severities"), [("0.9.1", [Severity.ERROR]), (None, [Severity.WARNING]), ("0.5.0", [])]
)
def test_a_rollout_without_a_name_is_refused_where_it_has_no_default(
    version: str | None, severities: list[Severity]
) -> None:
    words = [word for word in WHOLE if word != f"{R}.name=vllm"]
    text = f"python3 -m verl.trainer.main_ppo {' '.join(words)}"
    machine = RecordedMachine({"environ": {"HOME": "/home/ada"}, "read run.sh": text})
    made = load(machine, ("run.sh",), verl_version=version)
    assert [one.severity for one in found("CFG012", made)] == severities
    assert found("CFG012", verl(version=version)) == []


@pytest.mark.parametrize(
    ("words", "moves"),
    [
        (
            ("custom_reward_function.path=r.py", "custom_reward_function.name=f"),
            {f"custom_reward_function.{end}": f"reward.custom_reward_function.{end}" for end in ("path", "name")},
        ),
        (("reward_model.reward_manager=dapo",), {"reward_model.reward_manager": "reward.reward_manager.name"}),
    ],
)
def test_a_reward_at_its_old_place_is_moved_where_it_is_ignored(words: tuple[str, ...], moves: dict[str, str]) -> None:
    (refused,) = found("CFG012", verl(*words, version="0.9.1"))
    assert refused.remedy is not None
    assert (refused.severity, refused.remedy.moves) == (Severity.ERROR, moves)
    assert [one.severity for one in found("CFG012", verl(*words))] == [Severity.WARNING]
    assert found("CFG012", verl(*words, version="0.8.0")) == []
    new = [f"{moves[word.partition('=')[0]]}={word.partition('=')[2]}" for word in words]
    assert found("CFG012", verl(*new, version="0.9.1")) == []


@pytest.mark.parametrize(("version", "count"), [("0.9.1", 1), ("0.7.0", 0)])
def test_dynamic_batches_of_actor_and_rollout_are_the_same(version: str, count: int) -> None:
    key = f"{R}.log_prob_use_dynamic_bsz"
    mixed = verl(f"{A}.use_dynamic_bsz=True", f"{key}=False", version=version)
    assert [one.severity for one in found("CFG012", mixed)] == [Severity.ERROR] * count
    assert found("CFG012", verl(f"{A}.use_dynamic_bsz=True", f"{key}=True", version=version)) == []


def test_a_rule_that_changed_is_judged_by_the_release() -> None:
    both = (f"{R}.multi_turn.enable=True", "algorithm.adv_estimator=rloo")
    assert [one.severity for one in found("CFG012", verl(*both, version="0.4.1"))] == [Severity.ERROR]
    assert found("CFG012", verl(*both, version="0.9.1")) == []
    critic = (
        *CRITIC,
        "critic.strategy=fsdp",
        "critic.ulysses_sequence_parallel_size=2",
        "critic.model.use_remove_padding=False",
    )
    assert [one.severity for one in found("CFG012", verl(*critic, version="0.7.1"))] == [Severity.ERROR]
    assert found("CFG012", verl(*critic, version="0.9.1")) == []


@pytest.mark.parametrize("word", [f"{A}.{MICRO}_per_gpu=$MICRO", f"{A}.use_dynamic_bsz=$DYNAMIC"])
def test_a_value_that_is_not_known_is_silent(word: str) -> None:
    assert found("CFG012", verl(f"{A}.{MICRO}=8", word)) == []


TRANSFORMER = f"{A}.megatron.override_transformer_config"
FULL, METHOD, LAYERS = (f"{TRANSFORMER}.recompute_{name}" for name in ("granularity", "method", "num_layers"))


def test_megatron_computes_no_layers_again_without_a_method() -> None:
    """verl's tree sets neither the method nor the number of layers, and Megatron raises ValueError when a worker starts."""
    place = Location("run.sh", 1, FULL)
    alone = f"{FULL} = full, but recompute_method and recompute_num_layers are not set, and Megatron stops without; use recompute_method = uniform and recompute_num_layers = 1"
    assert found("CFG012", verl(*MEGATRON, f"{FULL}=full")) == [
        config_finding(alone, place, {METHOD: "uniform", LAYERS: "1"})
    ]
    half = (
        f"{FULL} = full, but recompute_num_layers is not set, and Megatron stops without; use recompute_num_layers = 1"
    )
    assert found("CFG012", verl(*MEGATRON, f"{FULL}=full", f"{METHOD}=block")) == [
        config_finding(half, place, {LAYERS: "1"})
    ]
    one = f"{LAYERS} = 1, but recompute_granularity is selective; expected null"
    assert found("CFG012", verl(*MEGATRON, f"{FULL}=selective", f"{LAYERS}=1")) == [
        config_finding(one, Location("run.sh", 1, LAYERS), {LAYERS: "null"})
    ]


@pytest.mark.parametrize(
    "words",
    [
        (*MEGATRON, f"{FULL}=full", f"{METHOD}=uniform", f"{LAYERS}=1"),
        (*MEGATRON, f"'{TRANSFORMER}={{recompute_granularity:full,recompute_method:uniform,recompute_num_layers:1}}'"),
        (*MEGATRON, f"{FULL}=full", f"{METHOD}=$METHOD", f"{LAYERS}=1"),
        (*MEGATRON, f"{FULL}=$WORD"),
        (*MEGATRON, f"{FULL}=selective"),
        (*MEGATRON, f"critic.{FULL.partition('.actor.')[2]}=full"),  # grpo has no critic
        (f"+{FULL}=full",),
    ],
)
def test_silent_where_megatron_starts(words: tuple[str, ...]) -> None:
    assert found("CFG012", verl(*words)) == []


CORRECTION = "trainer.algorithm.off_policy_correction"
SKYRL: tuple[tuple[tuple[str, ...], str, str], ...] = (
    (("trainer.algorithm.use_kl_in_reward=true",), "trainer.algorithm.use_kl_loss=true", "trainer.algorithm.use_kl_loss=false"),
    ((), "trainer.algorithm.advantage_estimator=gae", "trainer.algorithm.advantage_estimator=grpo"),
    (("generator.step_wise_trajectories=true",), "trainer.algorithm.advantage_estimator=reinforce++", "trainer.algorithm.advantage_estimator=rloo"),
    (("generator.merge_stepwise_output=true",), "generator.step_wise_trajectories=false", "generator.step_wise_trajectories=true"),
    ((), "trainer.max_ckpts_to_keep=0", "trainer.max_ckpts_to_keep=-1"),
    ((), "generator.sampling_params.logprobs=5", "generator.sampling_params.logprobs=1"),
    (("generator.max_turns=1", "trainer.max_prompt_length=512"), "generator.max_input_length=1024", "generator.max_input_length=512"),
    (("generator.max_turns=4", "trainer.max_prompt_length=512"), "generator.max_input_length=256", "generator.max_input_length=1024"),
    (("trainer.strategy=megatron",), "trainer.policy.sequence_parallel_size=2", "trainer.policy.sequence_parallel_size=1"),
    (("trainer.policy.model.lora.rank=8",), "generator.inference_engine.backend=sglang", "generator.inference_engine.backend=vllm"),
    (
        ("trainer.placement.colocate_all=true", "trainer.placement.policy_num_gpus_per_node=8", "generator.inference_engine.tensor_parallel_size=2"),
        "generator.inference_engine.num_engines=8",
        "generator.inference_engine.num_engines=4",
    ),
    (
        ("trainer.placement.colocate_all=true", "trainer.placement.policy_num_gpus_per_node=8", "generator.inference_engine_tensor_parallel_size=2"),
        "generator.num_inference_engines=8",
        "generator.num_inference_engines=4",
    ),
    (("trainer.max_prompt_length=512",), "generator.max_input_length=256", "generator.max_input_length=1024"),
    ((), "trainer.strategy=fsdpx", "trainer.strategy=fsdp2"),
    ((), "trainer.algorithm.advantage_estimator=grppo", "trainer.algorithm.advantage_estimator=maxrl"),
    ((), "trainer.algorithm.kl_estimator_type=low_var_k3", "trainer.algorithm.kl_estimator_type=abs"),
    (
        ("trainer.strategy=megatron", "trainer.placement.policy_num_gpus_per_node=4"),
        "trainer.policy.megatron_config.tensor_model_parallel_size=8",
        "trainer.policy.megatron_config.tensor_model_parallel_size=2",
    ),
    ((), f"{CORRECTION}.tis_ratio_type=tokens", f"{CORRECTION}.tis_ratio_type=token"),
    ((), f"{CORRECTION}.sequence_mask_metric=None", f"{CORRECTION}.sequence_mask_metric=null"),
    ((), f"{CORRECTION}.sequence_mask_metric=geometry", f"{CORRECTION}.sequence_mask_metric=''"),
    ((f"{CORRECTION}.sequence_mask_metric=product",), "trainer.algorithm.policy_loss_type=kl_cov", "trainer.algorithm.policy_loss_type=rollout_is"),
    ((), "trainer.algorithm.loss_reduction=token-mean", "trainer.algorithm.loss_reduction=prompt_mean"),
    (("generator.step_wise_trajectories=true",), "trainer.algorithm.loss_reduction=token_mean_legacy", "trainer.algorithm.loss_reduction=token_mean"),
    ((), "trainer.sequence_parallel_backend=ring", "trainer.sequence_parallel_backend=ulysses"),
    (
        ("generator.inference_engine.tensor_parallel_size=2", "generator.inference_engine.data_parallel_size=4"),
        "generator.inference_engine.expert_parallel_size=4",
        "generator.inference_engine.expert_parallel_size=8",
    ),
    (
        ("generator.inference_engine_tensor_parallel_size=2",),
        "generator.inference_engine_expert_parallel_size=4",
        "generator.inference_engine_expert_parallel_size=2",
    ),
)  # fmt: skip


@pytest.mark.parametrize(("around", "faulty", "healthy"), SKYRL)
def test_skyrl_refuses_and_the_neighbour_is_silent(around: tuple[str, ...], faulty: str, healthy: str) -> None:
    def made(word: str) -> Plan:
        return plan(f"python3 -m skyrl.train.entrypoints.main_base {' '.join((*around, word))}", "run.sh")

    assert [one.severity for one in found("CFG012", made(faulty))] == [Severity.ERROR]
    assert found("CFG012", made(healthy)) == []


WORD = "trainer.algorithm"


@pytest.mark.parametrize(
    ("word", "severity", "message", "meant"),
    [
        (f"{WORD}.advantage_estimator=grp0", Severity.ERROR, f"{WORD}.advantage_estimator is 'grp0'; expected grpo, rloo, gae, reinforce++ or maxrl", "grpo"),
        (f"{WORD}.kl_estimator_type=low_var_k3", Severity.ERROR, f"{WORD}.kl_estimator_type is 'low_var_k3'; expected k1, k2, k3 or abs", "k3"),
        (f"{CORRECTION}.sequence_mask_metric=geometry", Severity.ERROR, f"{CORRECTION}.sequence_mask_metric is 'geometry'; expected product or geometric", "geometric"),
        ("trainer.sequence_parallel_backend=ring", Severity.ERROR, "trainer.sequence_parallel_backend is 'ring'; expected ulysses", None),
        ("trainer.strategy=ddp", Severity.ERROR, "trainer.strategy is 'ddp'; expected fsdp or megatron", None),
        ("trainer.strategy=deepspeed", Severity.WARNING, "trainer.strategy is 'deepspeed', which SkyRL had until skyrl_train 0.3; expected fsdp or megatron", None),
        ("generator.inference_engine.weight_sync_backend=ncl", Severity.WARNING, "generator.inference_engine.weight_sync_backend is 'ncl'; expected nccl or delta; SkyRL broadcasts the weights then, also where CUDA IPC would do", "nccl"),
    ],
)  # fmt: skip
def test_a_word_that_skyrl_does_not_have(word: str, severity: Severity, message: str, meant: str | None) -> None:
    (one,) = found("CFG012", plan(f"python3 -m skyrl.train.entrypoints.main_base {word}", "run.sh"))
    settings = {word.partition("=")[0]: meant} if meant else {}
    assert (one.severity, one.message, one.remedy and one.remedy.settings) == (severity, message, settings)


@pytest.mark.parametrize(
    "words",
    [
        "generator.inference_engine.weight_sync_backend=nccl",
        "generator.inference_engine.weight_sync_backend=delta",
        f"{WORD}.kl_estimator_type=low_var_k3 {WORD}.use_kl_loss=false",
    ],
)
def test_words_that_skyrl_takes(words: str) -> None:
    assert found("CFG012", plan(f"python3 -m skyrl.train.entrypoints.main_base {words}", "run.sh")) == []


@pytest.mark.parametrize(("around", "faulty", "healthy"), SKYRL)
def test_a_program_of_the_users_own_may_not_ask_skyrl(around: tuple[str, ...], faulty: str, healthy: str) -> None:
    def made(word: str) -> Plan:
        words = ("trainer.policy.model.path=m", "trainer.placement.policy_num_nodes=1", *around, word)
        return plan(f"python3 -m examples.my.main_mine {' '.join(words)}", "run.sh")

    (finding,) = found("CFG012", made(faulty))
    assert finding.severity is Severity.WARNING
    assert finding.message.endswith("; examples.my.main_mine may allow it")
    assert found("CFG012", made(healthy)) == []


@pytest.mark.parametrize(
    ("code", "severity"),
    [
        ("from skyrl.train.utils import validate_cfg\nvalidate_cfg(cfg)\n", Severity.ERROR),
        ("from skyrl_train.utils.utils import other, validate_cfg\nvalidate_cfg(cfg)\n", Severity.ERROR),
        ("from skyrl.train.utils import validate_cfg\n", Severity.WARNING),
        ("from mine import validate_cfg\nvalidate_cfg(cfg)\n", Severity.WARNING),
    ],
)
def test_a_program_that_asks_skyrl_is_refused(code: str, severity: Severity) -> None:
    words = (
        f"trainer.policy.model.path=m trainer.placement.policy_num_nodes=1 {CORRECTION}.sequence_mask_metric=geometry"
    )
    text = f"python3 -m examples.my.main_mine {words} trainer.algorithm.advantage_estimator=mine"
    made = load(RecordedMachine({"environ": {"HOME": "/home/ada"}, "read /c/run.sh": text, "read /c/examples/my/main_mine.py": code}), ("/c/run.sh",))  # fmt: skip
    own = "; examples.my.main_mine may allow it"
    allowed = own if severity is Severity.WARNING else ""
    told = [(one.severity, one.message) for one in found("CFG012", made)]
    assert told == [
        (
            Severity.WARNING,
            f"{WORD}.advantage_estimator is 'mine'; expected grpo, rloo, gae, reinforce++ or maxrl{own}",
        ),
        (severity, f"{CORRECTION}.sequence_mask_metric is 'geometry'; expected product or geometric{allowed}"),
    ]


def test_a_setting_without_a_line_has_that_of_the_program() -> None:
    text = "\n\npython3 -m verl.trainer.main_ppo data.train_batch_size=64 algorithm.adv_estimator=grpo actor_rollout_ref.rollout.n=2 actor_rollout_ref.rollout.name=vllm actor_rollout_ref.actor.ppo_mini_batch_size=32"
    keys = {one.location for one in found("CFG012", plan(text, "run.sh"))}
    per_gpu = (f"{A}.{MICRO}_per_gpu", f"{R}.{LOG}_per_gpu")
    assert keys == {Location("run.sh", 3, key) for key in per_gpu}


@pytest.mark.parametrize(
    ("faulty", "healthy"),
    [
        ("[inference.vllm]\ntensor_parallel_size = 3\n[deployment]\nnum_infer_gpus = 4", "[inference.vllm]\ntensor_parallel_size = 2\n[deployment]\nnum_infer_gpus = 4"),
        ("[resume]\nstep = 3\ndir = 'c/step_3'", "[resume]\nstep = 3"),
        ("[deployment]\nnum_train_gpus = 2\nnum_infer_gpus = 8", "[deployment]\ngpus_per_node = 10\nnum_train_gpus = 2\nnum_infer_gpus = 8"),
        ("[inference.vllm]\nenable_prefix_caching = false\n[inference.kv_cache_offload]\ntype = 'native'", "[inference.kv_cache_offload]\ntype = 'native'"),
        ("[slurm]\n[deployment]\ntype = 'multi_node'\nnum_train_nodes = 1\nnum_infer_nodes = 0\n[inference]", "[slurm]\n[deployment]\ntype = 'multi_node'\nnum_train_nodes = 1\nnum_infer_nodes = 0"),
        ("[[orchestrator.train.source]]\n[orchestrator.train.source.env.agent.runtime]\ntype = 'modall'", "[[orchestrator.train.source]]\n[orchestrator.train.source.env.agent.runtime]\ntype = 'modal'"),
    ],
)  # fmt: skip
def test_prime_rl_refuses_and_the_neighbour_is_silent(faulty: str, healthy: str) -> None:
    head = "[model]\nname = 'org/model'\n[orchestrator]\ngroup_size = 8\n"
    assert [one.severity for one in found("CFG012", plan(head + faulty, "rl.toml"))] == [Severity.ERROR]
    assert found("CFG012", plan(head + healthy, "rl.toml")) == []


def test_an_unknown_runtime_of_an_environment_may_be_of_another_verifiers() -> None:
    text = "[model]\nname = 'm'\n[orchestrator]\ngroup_size = 8\n[[orchestrator.train.source]]\n[orchestrator.train.source.env.agent.runtime]\ntype = 'firecracker'\n"
    assert [(one.severity, one.message) for one in found("CFG012", plan(text, "rl.toml"))] == [
        (
            Severity.WARNING,
            (
                "orchestrator.train.source[0].env.agent.runtime.type = 'firecracker': verifiers 0.4 has no such runtime; "
                "expected subprocess, docker, podman, apptainer, prime, modal, e2b"
            ),
        )
    ]


HEAD = "[model]\nname = 'org/model'\n[deployment]\nnum_train_gpus = 1\n[orchestrator]\ngroup_size = 8\n"


def test_a_shared_run_of_prime_rl_is_not_written_offline() -> None:
    assert found("CFG012", plan(f"{HEAD}[monitors.wandb]\noffline = true\n", "rl.toml")) == [
        config_finding(
            "monitors.wandb.offline is true, but the trainer and the orchestrator share one W&B run, which needs the "
            "server; remove it, and export WANDB_MODE=offline to log offline",
            Location("rl.toml", 8, "monitors.wandb.offline"),
            removes=("monitors.wandb.offline",),
        )
    ]
    assert found("CFG012", plan(f"{HEAD}[monitors.wandb]\noffline = false\n", "rl.toml")) == []
    assert found("CFG012", plan(f"{HEAD}[trainer.monitors.wandb]\noffline = true\n", "rl.toml")) == []


def test_a_release_of_prime_rl_before_shared_runs_may_write_offline() -> None:
    assert found("CFG012", plan(f"{HEAD}[wandb]\noffline = true\n", "rl.toml")) == [
        config_finding(
            "wandb.offline is true; since prime-rl 0.5 the trainer and the orchestrator share one W&B run, which needs "
            "the server; remove it, and export WANDB_MODE=offline to log offline",
            Location("rl.toml", 8, "wandb.offline"),
            removes=("wandb.offline",),
            severity=Severity.WARNING,
        )
    ]
    assert found("CFG012", plan(f"{HEAD}[wandb]\noffline = true\nshared = false\n", "rl.toml")) == []


SOURCE = "[[orchestrator.train.source]]\nname = 'a'\n[orchestrator.train.source.env.taskset]\nid = 'a'\n"
ONE = "[orchestrator.train.source.env.{agent}.harness]\nid = 'null'\n"


@pytest.mark.parametrize(
    ("settings", "agents", "severity"),
    [
        ("group_size = 1\nbatch_size = 512", ("agent",), Severity.ERROR),
        ("group_size = 1\nbatch_size = 12", (), Severity.WARNING),  # the environment may have several agents
        ("group_size = 1", ("player0", "player1"), None),
        ("group_size = 1\nalgo.type = 'max_rl'", ("agent",), Severity.ERROR),
        ("group_size = 1\nalgo.type = 'rae'", ("agent",), None),
        ("group_size = 1\nalgo.type = 'opsd'", ("agent",), None),
        ("group_size = 2\nbatch_size = 512", ("agent",), None),
        ("batch_size = 512", ("agent",), None),  # another file may set it
    ],
)
def test_a_lone_rollout_of_prime_rl_has_no_advantage(
    settings: str, agents: tuple[str, ...], severity: Severity | None
) -> None:
    env = "".join(ONE.format(agent=agent) for agent in agents)
    text = f"[model]\nname = 'org/model'\n[orchestrator]\n{settings}\n{SOURCE}{env}"
    algorithm = "max_rl" if "max_rl" in settings else "grpo"
    size = "4" if "= 12" in settings else "8"
    expected = [
        config_finding(
            f"orchestrator.group_size = 1, and {algorithm} subtracts the mean reward of a prompt's rollouts: with one "
            f"rollout every advantage is 0, so nothing is learned; use 2 or more, such as {size}",
            Location("rl.toml", 4, "orchestrator.group_size"),
            {"orchestrator.group_size": size},
            severity=severity,
        )
        for severity in ([severity] if severity else [])
    ]
    assert found("CFG012", plan(text, "rl.toml")) == expected


@pytest.mark.parametrize(("estimator", "ends"), [("grpo", "the advantage is the reward itself"), ("rloo", "every advantage is 0"), ("gae", "")])  # fmt: skip
def test_a_lone_rollout_of_skyrl_is_a_warning(estimator: str, ends: str) -> None:
    run = f"python -m skyrl.train.entrypoints.main_base trainer.algorithm.advantage_estimator={estimator} trainer.critic.model.path=m "
    key = "generator.n_samples_per_prompt"
    expected = config_finding(
        f"{key} = 1: with one rollout of a prompt {estimator} has nothing to compare it with, and {ends}; use 2 or more, such as 8",
        Location("run.sh", 1, key),
        {key: "8"},
        severity=Severity.WARNING,
    )
    assert found("CFG012", plan(f"{run}{key}=1\n", "run.sh")) == ([expected] if ends else [])
    assert found("CFG012", plan(f"{run}{key}=2\n", "run.sh")) == []


def test_more_gpus_than_a_node_has_are_no_edit() -> None:
    """A written gpus_per_node would switch prime-rl's own guard off."""
    text = "[model]\nname = 'org/model'\n[orchestrator]\ngroup_size = 8\n[deployment]\nnum_train_gpus = 2\nnum_infer_gpus = 7\n"
    assert found("CFG012", plan(text, "rl.toml")) == [
        config_finding(
            "deployment.num_train_gpus 2 + deployment.num_infer_gpus 7 = 9 GPUs, more than the 8 of a node that prime-rl "
            "expects; use deployment.num_infer_gpus = 6, or set deployment.gpus_per_node if your nodes have more",
            Location("rl.toml", 7, "deployment.num_infer_gpus"),
        )
    ]


@pytest.mark.parametrize(("model", "least"), [("Qwen/Qwen3-8B", 40960), ("org/unknown", 66560)])
def test_token_limits_follow_the_reply_that_fits_into_the_context(model: str, least: int) -> None:
    """CFG005 lowers the reply to the model's context: the two fixes of one report agree."""
    text = (
        f"python3 -m verl.trainer.main_ppo actor_rollout_ref.model.path={model} algorithm.adv_estimator=grpo "
        "actor_rollout_ref.rollout.n=8 actor_rollout_ref.rollout.name=vllm data.max_prompt_length=1024 "
        f"data.max_response_length=65536 {A}.use_dynamic_bsz=True {A}.ppo_max_token_len_per_gpu=24576 "
        f"{R}.log_prob_use_dynamic_bsz=True\n"
    )
    key = f"{A}.ppo_max_token_len_per_gpu"
    settings = {
        name: value
        for one in found("CFG012", plan(text, "run.sh"))
        if one.remedy
        for name, value in one.remedy.settings.items()
    }
    assert settings[key] == str(least)


def test_several_nodes_without_slurm_are_a_warning() -> None:
    text = "[model]\nname = 'org/model'\n[orchestrator]\ngroup_size = 8\n[deployment]\ntype = 'multi_node'\nnum_train_nodes = 2\n"
    assert [(one.severity, one.remedy and one.remedy.summary) for one in found("CFG012", plan(text, "rl.toml"))] == [
        (Severity.WARNING, "add a [slurm] table, or set deployment.type = single_node")
    ]
    assert found("CFG012", plan(text + "[slurm]\njob_name = 'x'\n", "rl.toml")) == []


def test_silent_on_clean_configurations() -> None:
    assert found("CFG012", example("examples/verl/grpo_mig20.sh")) == []
    assert verdict("CFG012", example("examples/mig20.toml")) == (
        Status.SKIP,
        "CFG004 applies the rules of a run.toml; these are verl's, SkyRL's and prime-rl's",
    )
    dapo = plan(
        "python3 -m recipe.dapo.main_dapo actor_rollout_ref.rollout.n=2 actor_rollout_ref.model.path=m", "run.sh"
    )
    assert verdict("CFG012", dapo)[0] is Status.SKIP


@pytest.mark.parametrize(("estimator", "n", "told"), [("grpo", 1, 1), ("rloo", 1, 1), ("grpo", 2, 0), ("gae", 1, 0)])
def test_an_estimator_that_compares_rollouts_has_more_than_one(estimator: str, n: int, told: int) -> None:
    words = f"algorithm.adv_estimator={estimator} {R}.n={n}"
    findings = [one for one in found("CFG012", verl(*words.split())) if "compare" in one.message]
    assert [one.severity for one in findings] == [Severity.WARNING] * told


@pytest.mark.parametrize(("rewards", "told"), [("False", 0), ("True", 1)])
def test_a_lone_rollout_is_enough_where_a_teacher_takes_the_place_of_the_reward(rewards: str, told: int) -> None:
    words = f"algorithm.adv_estimator=grpo {R}.n=1 distillation.enabled=True distillation.distillation_loss.use_task_rewards={rewards}"
    findings = [one for one in found("CFG012", verl(*words.split())) if "compare" in one.message]
    assert [one.severity for one in findings] == [Severity.WARNING] * told


@pytest.mark.parametrize(("size", "told"), [("8", []), ("1", ["env.rollout.n"]), ("$(nproc)", [])])
def test_the_size_of_a_group_may_be_that_of_the_environment(size: str, told: list[str]) -> None:
    words = f"algorithm.adv_estimator=grpo {R}.n=1 +env.rollout.n={size}"
    findings = [one for one in found("CFG012", verl(*words.split())) if "compare" in one.message]
    assert [one.location.key for one in findings if one.location is not None] == told


def test_a_file_that_verl_does_not_read_makes_one_error() -> None:
    """Everything else would be said of verl's defaults."""
    outcomes = judged({"run.sh": "#SBATCH --gres=gpu:4\npython3 -m verl.trainer.main_ppo mine/grpo.yaml\n"})
    errors = {outcome.id: [one.message for one in outcome.findings] for outcome in outcomes if outcome.findings}
    assert errors == {
        "CFG004": [
            "'mine/grpo.yaml' is not an override; expected KEY=VALUE, or --config-path and --config-name for a file"
        ]
    }
    made = plan("python3 -m verl.trainer.main_ppo mine/grpo.yaml", "run.sh")
    assert verdict("CFG012", made) == (Status.UNKNOWN, "mine/grpo.yaml may set it, and verl does not read it")
