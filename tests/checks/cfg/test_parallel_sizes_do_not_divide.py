"""CFG008."""

import json

from checks.cfg.parallel_sizes_do_not_divide import parallel_sizes_do_not_divide
from plans import example, found, plan
from skyrl_doctor.core.model import Location, Severity
from skyrl_doctor.facts.model_files import ModelFiles
from skyrl_doctor.plan.findings import config_finding
from skyrl_doctor.plan.model import Plan

A = "actor_rollout_ref.actor"
M = f"{A}.megatron"
R = "actor_rollout_ref.rollout"


def megatron(*words: str) -> Plan:
    lines = ("model_engine=megatron", "trainer.n_gpus_per_node=8", *words)
    return plan("python3 -m verl.trainer.main_ppo \\\n" + " \\\n".join(lines) + "\n", "run.sh")


def model(**config: int) -> ModelFiles:
    return ModelFiles(
        name="m", is_local=True, directory="/m", config=json.loads(json.dumps(config)), has_tokenizer=True, searched=()
    )


def test_megatron_divides_the_gpus_by_all_sizes() -> None:
    assert found("CFG008", megatron(f"{M}.tensor_model_parallel_size=4", f"{M}.context_parallel_size=2")) == []
    made = megatron(f"{M}.tensor_model_parallel_size=4", f"{M}.pipeline_model_parallel_size=3")
    assert found("CFG008", made) == [
        config_finding(
            "tensor 4 x pipeline 3 x context 1 = 12 GPUs for one copy of the model, but the run has 8 GPUs; expected a number that divides 8",
            Location("run.sh", 4, f"{M}.tensor_model_parallel_size"),
        )
    ]


def test_experts_divide_the_gpus_too() -> None:
    made = megatron(f"{M}.tensor_model_parallel_size=2", f"{M}.expert_model_parallel_size=8")
    assert [one.message for one in found("CFG008", made)] == [
        "expert tensor 2 x expert 8 x pipeline 1 = 16 GPUs for one copy of the experts, but the run has 8 GPUs; expected a number that divides 8"
    ]
    assert found("CFG008", megatron(f"{M}.expert_model_parallel_size=8")) == []
    alone = (
        f"{M}.tensor_model_parallel_size=2",
        f"{M}.expert_model_parallel_size=8",
        f"{M}.expert_tensor_parallel_size=1",
    )
    assert found("CFG008", megatron(*alone)) == []


def test_heads_and_layers_of_a_known_model() -> None:
    made = megatron(f"{M}.tensor_model_parallel_size=4", f"{M}.pipeline_model_parallel_size=2")
    messages = [
        (one.message, one.severity)
        for one in parallel_sizes_do_not_divide(made, model(num_attention_heads=14, num_hidden_layers=27))
    ]
    assert messages == [
        (f"{M}.tensor_model_parallel_size is 4, which does not divide the model's 14 attention heads", Severity.ERROR),
        ("pipeline size 2 does not divide the model's 27 layers", Severity.WARNING),
    ]
    uneven = megatron(
        f"{M}.pipeline_model_parallel_size=2", f"+{M}.override_transformer_config.num_layers_in_first_pipeline_stage=13"
    )
    assert list(parallel_sizes_do_not_divide(uneven, model(num_hidden_layers=27))) == []
    text = "[model]\npath = 'x'\n[rollout]\ntensor_parallel_size = 4\n[slurm]\ngpus_per_node = 4\n"
    (finding,) = parallel_sizes_do_not_divide(plan(text), model(num_attention_heads=14))
    assert finding == config_finding(
        "rollout.tensor_parallel_size is 4, which does not divide the model's 14 attention heads",
        Location("run.toml", 4, "rollout.tensor_parallel_size"),
        summary="set rollout.tensor_parallel_size to 1 or 2",
    )


def test_sequence_parallel_divides_the_gpus() -> None:
    made = plan(
        f"python3 -m verl.trainer.main_ppo trainer.n_gpus_per_node=8 {A}.ulysses_sequence_parallel_size=3", "run.sh"
    )
    assert [one.message for one in found("CFG008", made)] == [
        f"{A}.ulysses_sequence_parallel_size is 3, which does not divide 8 GPUs"
    ]


def test_an_unknown_size_is_no_finding() -> None:
    assert found("CFG008", megatron(f"{M}.tensor_model_parallel_size=$(nproc)")) == []


def rollout(*words: str) -> list[str]:
    text = f"python3 -m verl.trainer.main_ppo trainer.n_gpus_per_node=8 {R}.name=vllm {' '.join(words)}"
    return [one.message for one in found("CFG008", plan(text, "run.sh"))]


def test_a_server_of_the_rollout_divides_the_gpus() -> None:
    assert rollout(f"{R}.tensor_model_parallel_size=3") == [
        "each rollout server takes 3 GPUs (tensor parallel 3), which do not divide the 8 GPUs of the run; use sizes with a product that divides 8"
    ]
    assert rollout(f"{R}.tensor_model_parallel_size=4", f"{R}.data_parallel_size=4") == [
        "each rollout server takes 16 GPUs (tensor parallel 4 x data parallel 4), but the run has 8; use sizes with a product that divides 8"
    ]
    assert rollout(f"{R}.tensor_model_parallel_size=4", f"{R}.data_parallel_size=2") == []
    assert rollout(f"{R}.tensor_model_parallel_size=3", f"{R}.nnodes=1", f"{R}.n_gpus_per_node=3") == []


def test_the_remedy_names_the_sizes_that_fit() -> None:
    text = f"python3 -m verl.trainer.main_ppo trainer.n_gpus_per_node=8 {R}.name=vllm {R}.tensor_model_parallel_size=3"
    fits = f"set {R}.tensor_model_parallel_size to 1, 2, 4 or 8"
    assert [one.remedy and one.remedy.summary for one in found("CFG008", plan(text, "run.sh"))] == [fits]
    data = plan(f"{text} {R}.data_parallel_size=2", "run.sh")
    assert [one.remedy and one.remedy.summary for one in found("CFG008", data)] == [fits.replace(", 4 or 8", " or 4")]


def test_a_server_of_the_default_size_needs_two_gpus() -> None:
    text = f"python3 -m verl.trainer.main_ppo trainer.n_gpus_per_node=1 {R}.name=vllm"
    assert [one.message for one in found("CFG008", plan(text, "run.sh"))] == [
        f"each rollout server takes 2 GPUs (tensor parallel 2, the default), but the run has 1; set {R}.tensor_model_parallel_size = 1"
    ]


def test_the_heads_of_a_public_model_are_known_by_its_name() -> None:
    name = "actor_rollout_ref.model.path"
    assert rollout(f"{R}.tensor_model_parallel_size=8", f"{name}=Qwen/Qwen2.5-7B-Instruct") == [
        f"{R}.tensor_model_parallel_size is 8, which does not divide the model's 28 attention heads"
    ]
    assert rollout(f"{R}.tensor_model_parallel_size=8", f"{name}=Qwen/Qwen3-8B") == []
    assert rollout(f"{R}.tensor_model_parallel_size=8", f"{name}=org/unheard-of") == []


def test_silent_on_clean_configurations() -> None:
    for name in ("examples/mig20.toml", "examples/verl/grpo_mig20.sh"):
        assert found("CFG008", example(name)) == []


def prime(deployment: str, sizes: str) -> list[str]:
    """The messages for a prime-rl file with these tables."""
    text = (
        f"[model]\nname = 'm'\n[deployment]\n{deployment}\n[orchestrator]\ngroup_size = 8\n[trainer.model]\n{sizes}\n"
    )
    return [one.message for one in found("CFG008", plan(text, "rl.toml"))]


NODES = "type = 'multi_node'\nnum_train_nodes = 2\nnum_infer_nodes = 1"


def test_prime_rl_divides_its_gpus_by_copies_and_context() -> None:
    text = f"[model]\nname = 'm'\n[deployment]\n{NODES}\n[trainer.model]\nep = 8\ncp = 3\n"
    assert found("CFG008", plan(text, "rl.toml")) == [
        config_finding(
            "trainer.model: cp 3 does not divide the 16 GPUs that train; use sizes with a product that divides 16",
            Location("rl.toml", 9, "trainer.model.cp"),
        )
    ]
    product = "trainer.model: dp_replicate 4 x cp 2 does not divide the 4 GPUs that train; use sizes with a product that divides 4"
    assert prime("num_train_gpus = 4", "dp_replicate = 4\ncp = 2") == [product]
    assert prime(f"{NODES}\ngpus_per_node = 6", "cp = 3") == []
    assert prime(NODES, "ep = 8\ncp = 2") == []
    assert prime("gpus_per_node = 8", "cp = 3") == []  # another file may set num_train_gpus
    assert prime("num_train_gpus = 4", "cp = 3\ntp = 2") == []


def test_prime_rl_divides_its_experts_by_context() -> None:
    sizes = "trainer.model: cp 4 does not divide ep 6; use a cp that divides it"
    assert prime("gpus_per_node = 8", "cp = 4\nep = 6") == [sizes]
    assert prime("num_train_gpus = 8", "cp = 4\nep = 'auto'") == []
    assert prime("num_train_gpus = 8", "cp = 4\nep = 1") == []
    island = "trainer.model: ep 8 does not divide the 4 GPUs of one copy of the weights; use an ep that divides 4"
    assert prime("num_train_gpus = 8", "dp_replicate = 2\nep = 8") == [island]
    assert prime("num_train_gpus = 8", "cp = 0") == [
        "trainer.model: dp_replicate is 1, cp 0 and ep 1; expected at least 1"
    ]


def test_prime_rl_makes_a_copy_of_the_weights_for_each_group_of_nodes() -> None:
    group = "trainer.model: ep 16 does not divide the 8 GPUs of one copy of the weights; use an ep that divides 8"
    assert prime(f"{NODES}\nnodes_per_fsdp_group = 1", "ep = 16") == [group]
    assert prime(f"{NODES}\nnodes_per_fsdp_group = 2", "ep = 16") == []
    assert prime(f"{NODES}\nnodes_per_fsdp_group = 3", "ep = 8") == [
        "deployment.nodes_per_fsdp_group is 3, which does not divide the 2 nodes that train"
    ]


P = "trainer.placement"
SIZE = "trainer.policy.fsdp_config.fsdp_size"


def skyrl(*words: str) -> Plan:
    lines = (f"{P}.policy_num_nodes=1", f"{P}.policy_num_gpus_per_node=4", "trainer.policy.model.path=m", *words)
    return plan("python3 -m skyrl.train.entrypoints.main_base \\\n" + " \\\n".join(lines) + "\n", "run.sh")


def test_fsdp_divides_the_gpus_into_groups_of_shards() -> None:
    """A rank outside of the mesh of 1 x 3 ends with an IndexError in fully_shard (torch 2.13)."""
    assert found("CFG008", skyrl(f"{SIZE}=3")) == [
        config_finding(
            f"{SIZE} is 3, which does not divide 4 GPUs; use -1 to split the weights over all GPUs, or a size that divides 4",
            Location("run.sh", 5, SIZE),
            summary=f"set {SIZE} to -1, 1 or 2",
        )
    ]
    for words in ((f"{SIZE}=2",), (f"{SIZE}=-1",), (f"{SIZE}=8",), ("trainer.strategy=megatron", f"{SIZE}=3")):
        assert found("CFG008", skyrl(*words)) == []
    size = f"{A}.fsdp_config.fsdp_size"
    made = plan(f"python3 -m verl.trainer.main_ppo trainer.n_gpus_per_node=8 {R}.name=hf {size}=3", "run.sh")
    assert [one.message for one in found("CFG008", made)] == [
        f"{size} is 3, which does not divide 8 GPUs; use -1 to split the weights over all GPUs, or a size that divides 8"
    ]
