"""Every fault that a configuration can have, planted and fixed: the finding goes, nothing new comes, other lines stay.

More than 300 files: each fault of each dialect, with comments, blank lines, letters beyond ASCII and line ends by a fixed seed.
"""

import difflib
import random
from collections.abc import Mapping

import pytest

from plans import judged, repaired
from skyrl_doctor.core.model import Status
from skyrl_doctor.core.record import record
from skyrl_doctor.structure_only import config_only
from support import registry


@record
class Fault:
    """A fault as replacements in a clean text. `edits`: words of the lines that a fix may touch; none if a person must."""

    id: str
    replaced: Mapping[str, str]
    edits: tuple[str, ...] = ()


@record
class Dialect:
    """Clean files of one dialect, the faults to plant in them, and how many files to make."""

    files: Mapping[str, str]
    faults: tuple[Fault, ...]
    count: int


RUN_CONFIG = Dialect(
    {
        "run.toml": """\
[model]
path = "Qwen/Qwen2.5-Coder-0.5B-Instruct"
attention = "sdpa"
remove_padding = false

[data]
train_files = ["train.parquet"]
train_batch_size = 2
max_prompt_tokens = 2048
max_response_tokens = 2048

[rollout]
n = 2
max_model_len = 4096
max_tokens = 1024
stop = ["</function>"]
keep_stop = true

[agent]
max_turns = 20
max_parallel = 2

[sandbox]
cpus = 4
reserved_cpus = 4

[slurm]
gpus_per_node = 1
runtime_cpus = 32
runtime_memory_mib = 65536
trainer_time_limit = "6:00:00"
runtime_time_limit = '6:00:00'
"""
    },
    (
        Fault("CFG001", {"max_tokens = 1024": "max_tokens = 5000"}, ("max_tokens",)),
        Fault("CFG001", {"max_model_len = 4096": "max_model_len = 2048"}, ("max_model_len",)),
        Fault(
            "CFG002", {"gpus_per_node = 1": "gpus_per_node = 3"}, ("train_batch_size", "ppo_mini_batch_size", "[actor]")
        ),
        Fault("CFG004", {"max_turns = 20": "max_turnss = 20"}, ("max_turn",)),
        Fault(
            "CFG005",
            {"Qwen/Qwen2.5-Coder-0.5B-Instruct": "Qwen/Qwen3-0.6B", "max_model_len = 4096": "max_model_len = 65536"},
            ("max_model_len",),
        ),
        Fault("CFG007", {'train_files = ["train.parquet"]\n': ""}),
        Fault("CFG004", {"[sandbox]": "[sandboxx]"}, ("[sandbox",)),
        Fault("CFG004", {"max_turns = 20": "max_start_length = 20"}),
        Fault("CFG004", {"n = 2": "n = 'two'"}),
        Fault("CFG004", {"remove_padding = false": "remove_padding = true"}, ("remove_padding",)),
        Fault("CFG006", {"n = 2": "n = 2\nauto_tool_choice = true"}, ("tool_call_parser",)),
        Fault("AGT001", {'"</function>"': '"</parameter>"'}, ("stop =",)),
        Fault("AGT002", {"max_turns = 20": "max_turns = 20\ntools = ['terminal']  # ~"}, ("tools",)),
        Fault(
            "MEM004",
            {"remove_padding = false": "remove_padding = false\ngradient_checkpointing = false"},
            ("gradient",),
        ),
        Fault("RUN003", {"reserved_cpus = 4": "reserved_cpus = 4\nready_timeout_s = 60"}, ("ready_timeout_s",)),
        Fault("AGT014", {"keep_stop = true": "keep_stop = false"}, ("keep_stop",)),
        Fault("AGT020", {"max_turns = 20": "budget_note_tokens = 3000"}, ("budget_note_tokens",)),
        Fault(
            "RUN005",
            {"train_batch_size = 2": "train_batch_size = 32", "max_parallel = 2": "max_parallel = 20"},
            ("max_parallel",),
        ),
        Fault("SLM001", {"'6:00:00'": "'1:00:00'"}, ("runtime_time_limit",)),
        Fault(
            "TRN003",
            {"remove_padding = false": "remove_padding = false\nlora_rank = 8\n[actor]\ncpu_offload = true"},
            ("cpu_offload",),
        ),
        Fault(
            "TRN007",
            {"remove_padding = false": "remove_padding = false\nlora_rank = 8\n[actor]\nstrategy = 'fsdp'"},
            ("strategy",),
        ),
    ),
    84,
)
PRIME = Dialect(
    {
        "rl.toml": """\
max_steps = 1000

[model]
name = "Qwen/Qwen2.5-7B-Instruct"

[deployment]
num_infer_gpus = 1
num_train_gpus = 1
gpus_per_node = 2

[trainer.model]
seq_len = 2048
ac = { freq = 1 }

[trainer.model.lora]
rank = 8
alpha = 32.0

[orchestrator]
batch_size = 8
group_size = 2
seq_len = 2048

[orchestrator.train.sampling]
max_completion_tokens = 2000

[[orchestrator.train.source]]
env = { taskset = { id = "html-env" } }

[weight_broadcast]
type = 'filesystem'

[inference.vllm]
max_model_len = 4096
"""
    },
    (
        Fault("CFG001", {"max_completion_tokens = 2000": "max_completion_tokens = 4000"}, ("max_completion_tokens",)),
        Fault("CFG002", {"batch_size = 8": "batch_size = 9"}, ("batch_size",)),
        Fault("PRM001", {"ac = { freq = 1 }": "ac = 'selective'"}, ("ac =",)),
        Fault("PRM002", {"[trainer.model]\nseq_len = 2048": "[trainer.model]\nseq_len = 1024"}, ("seq_len",)),
        Fault("PRM003", {"max_completion_tokens = 2000": "max_completion_tokens = 2000\ntop_p = 0.9  # ~"}, ("top_p",)),
        Fault("PRM005", {"[[orchestrator.train.source]]": "[orchestrator.train.source]"}),
        Fault("PRM005", {'env = { taskset = { id = "html-env" } }': "name = 'x'"}),
        Fault("PRM006", {"[trainer.model.lora]": "[trainer.model.experimental.lora]"}, ("lora]",)),
        Fault("PRM007", {"group_size = 2": "rollouts_per_example = 2  # ~"}, ("rollouts_per_example", "group_size")),
        Fault(
            "PRM007",
            {"[inference.vllm]\nmax_model_len = 4096": "[inference]\ngpu_memory_utilization = 0.5"},
            ("[inference",),
        ),
        Fault("CFG009", {"type = 'filesystem'": "type = 'nccl'"}, ("type =",)),
        Fault(
            "CFG010",
            {"max_model_len = 4096": "max_model_len = 4096\ngpu_memory_utilization = 50"},
            ("gpu_memory_utilization",),
        ),
        Fault("CFG004", {"max_steps = 1000": "max_stepz = 1000"}, ("max_step",)),
        Fault("PRM008", {"gpus_per_node = 2": "gpus_per_node = 1"}),  # the node may lack them
    ),
    62,
)
PRIME_2025 = Dialect(
    {
        "old.toml": """\
inference_gpu_ids = [0]
trainer_gpu_ids = [1]
max_steps = 1000

[model]
name = "Qwen/Qwen2.5-7B-Instruct"

[trainer.model]
ac = { freq = 1 }

[orchestrator]
batch_size = 8
rollouts_per_example = 2
seq_len = 2048

[orchestrator.sampling]
max_tokens = 2000

[[orchestrator.env]]
id = "html-env"

[inference.model]
enable_auto_tool_choice = true
tool_call_parser = "hermes"
max_model_len = 4096
"""
    },
    (
        Fault("CFG001", {"max_tokens = 2000": "max_tokens = 4000"}, ("max_tokens",)),
        Fault("CFG002", {"batch_size = 8": "batch_size = 9"}, ("batch_size",)),
        Fault("CFG006", {'tool_call_parser = "hermes"\n': ""}, ("tool_call_parser",)),
        Fault("PRM001", {"ac = { freq = 1 }": "ac = 'selective'"}, ("ac =",)),
        Fault("PRM002", {"max_steps = 1000": "seq_len = 2048", "= 2\nseq_len = 2048": "= 2"}, ("seq_len",)),
        Fault("PRM003", {"max_tokens = 2000": "max_tokens = 2000\ntop_p = 0.9  # ~"}, ("top_p",)),
        Fault(
            "PRM004",
            {"[orchestrator.sampling]": "[orchestrator.buffer]\ntype = 'online'\n\n[orchestrator.sampling]"},
            ("type", "online_difficulty_filtering"),
        ),
        Fault("PRM005", {"[[orchestrator.env]]": "[orchestrator.env]"}),
        Fault(
            "PRM006", {"[trainer.model]": "[trainer.model.experimental.lora]\nrank = 8\n\n[trainer.model]"}, ("lora]",)
        ),
    ),
    44,
)
VERL = Dialect(
    {
        "run.sh": """\
#!/bin/bash
#SBATCH --gres=gpu:h100:2 --time=6:00:00
set -euo pipefail

N=2
python3 -m verl.trainer.main_ppo \\
    algorithm.adv_estimator=grpo \\
    data.train_batch_size=4 \\
    data.max_prompt_length=2048 \\
    data.max_response_length=2048 \\
    actor_rollout_ref.model.path=Qwen/Qwen2.5-Coder-0.5B-Instruct \\
    actor_rollout_ref.actor.ppo_mini_batch_size=4 \\
    actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=1 \\
    actor_rollout_ref.rollout.name=vllm \\
    actor_rollout_ref.rollout.n=$N \\
    actor_rollout_ref.rollout.max_model_len=4096 \\
    actor_rollout_ref.rollout.log_prob_micro_batch_size_per_gpu=1 \\
    trainer.n_gpus_per_node=2 \\
    trainer.save_freq=5 \\
    trainer.total_epochs=1
"""
    },
    (
        Fault("CFG001", {"max_response_length=2048": "max_response_length=4096"}, ("max_response_length",)),
        Fault(
            "CFG002",
            {"N=2": "N=3", "train_batch_size=4": "train_batch_size=5", "mini_batch_size=4": "mini_batch_size=2"},
            ("train_batch_size",),
        ),
        Fault("CFG002", {"mini_batch_size=4": "mini_batch_size=8"}, ("mini_batch_size",)),
        Fault("CFG002", {"N=2": "N=3", "mini_batch_size=4": "mini_batch_size=3"}, ("mini_batch_size",)),
        Fault("CFG004", {"data.max_prompt_length": "data.max_prompt_lenght"}, ("max_prompt_l",)),
        Fault("CFG004", {"data.max_prompt_length": "data.max_start_length"}),
        Fault("CFG004", {"trainer.total_epochs": "+trainer.total_epochs"}, ("total_epochs",)),
        Fault("CFG004", {"n_gpus_per_node=2 \\\n": "n_gpus_per_node=2\n"}),
        Fault(
            "CFG008",
            {"trainer.save_freq": "actor_rollout_ref.actor.ulysses_sequence_parallel_size=3 \\\n    trainer.save_freq"},
        ),
        Fault("CFG010", {"save_freq=5": "nnodes=0"}),
        Fault("CFG011", {"adv_estimator=grpo": "adv_estimator=grop"}, ("adv_estimator",)),
        Fault("CFG011", {"adv_estimator=grpo": "adv_estimator=dagger"}),
        Fault("CFG012", {"save_freq=5": "save_freq=5 actor_rollout_ref.actor.ppo_micro_batch_size=1"}),
        Fault(
            "CFG012",
            {
                "n=$N": "n=$N actor_rollout_ref.actor.ulysses_sequence_parallel_size=2 actor_rollout_ref.model.use_remove_padding=False"
            },
            ("n=$N",),
        ),
        Fault("CFG012", {"rollout.log_prob_micro_batch_size_per_gpu=1": "rollout.load_format=safetensors"}),
        Fault("SLM005", {"gpu:h100:2": "gpu:h100:1"}),  # fewer GPUs of the run, or more of the node
        Fault(
            "TRN007",
            {
                "actor_rollout_ref.actor.ppo_mini": "actor_rollout_ref.model.lora_rank=8 \\\n    actor_rollout_ref.actor.strategy=fsdp \\\n    actor_rollout_ref.actor.ppo_mini"
            },
            ("strategy",),
        ),
    ),
    68,
)
VERL_YAML = Dialect(
    {
        "ppo.yaml": """\
defaults:
  - ppo_trainer
  - _self_

data:
  train_batch_size: 4
  max_prompt_length: 2048
  max_response_length: 2048

actor_rollout_ref:
  model:
    path: Qwen/Qwen2.5-Coder-0.5B-Instruct
  actor:
    ppo_mini_batch_size: 4
    ppo_micro_batch_size_per_gpu: 1
    strategy: fsdp
  rollout:
    name: vllm
    n: 2
    max_model_len: 4096
    log_prob_micro_batch_size_per_gpu: 1
    gpu_memory_utilization: 0.5

trainer:
  n_gpus_per_node: 2
  save_freq: 5
"""
    },
    (
        Fault("CFG001", {"max_response_length: 2048": "max_response_length: 4096"}, ("max_response_length",)),
        Fault("CFG002", {"n: 2": "n: 1", "train_batch_size: 4": "train_batch_size: 5"}, ("train_batch_size",)),
        Fault("CFG002", {"mini_batch_size: 4": "mini_batch_size: 8"}, ("mini_batch_size",)),
        Fault("CFG004", {"save_freq: 5": "save_freq: 5\n  logger: ${data.nothing}"}),
        Fault("CFG008", {"strategy: fsdp": "ulysses_sequence_parallel_size: 3"}),
        Fault("CFG010", {"gpu_memory_utilization: 0.5": "gpu_memory_utilization: 50"}, ("gpu_memory_utilization",)),
        Fault("TRN007", {"model:\n": "model:\n    lora_rank: 8\n"}, ("strategy",)),
    ),
    28,
)
SKYRL = Dialect(
    {
        "dev.conf": """\
GPU_NODES=1
GPUS_PER_NODE=1
CPUS_FOR_RUNTIME=32
RUNTIME_MEMORY=64G
CPUS_PER_WORKER=4
TRAINING_TIME_LIMIT="6:00:00"
RUNTIME_TIME_LIMIT='6:00:00'

MODEL="Qwen/Qwen2.5-Coder-0.5B-Instruct"
BATCH_SIZE=${BATCH_SIZE:-2}
ROLLOUT_N=2
MAX_PROMPT_LENGTH=2048
MAX_MODEL_LEN=8192
""",
        "task.yaml": """\
agent_cls: skyrl_agent.agents.oh_codeact.OHCodeActAgent
generator:
  num_trajectories: 2
  max_iterations: 20
  max_prompt_length: 4096
  sampling_params:
    max_tokens: 1024
dispatcher:
  max_parallel_agents: 2
""",
    },
    (
        Fault("CFG001", {"max_tokens: 1024": "max_tokens: 9000"}, ("max_tokens",)),
        Fault("CFG001", {"MAX_MODEL_LEN=8192": "MAX_MODEL_LEN=2048"}, ("MAX_MODEL_LEN",)),
        Fault("CFG001", {"max_prompt_length: 4096": "max_prompt_length: 7000"}, ("max_prompt_length",)),
        Fault("CFG002", {"GPUS_PER_NODE=1": "GPUS_PER_NODE=3"}, ("BATCH_SIZE",)),
        Fault("CFG003", {"num_trajectories: 2": "num_trajectories: 4"}, ("num_trajectories",)),
        Fault("AGT020", {"max_prompt_length: 4096": "max_prompt_length: 2500"}, ("max_prompt_length",)),
        Fault("RUN005", {"BATCH_SIZE:-2": "BATCH_SIZE:-32", "agents: 2": "agents: 20"}, ("max_parallel_agents",)),
        Fault("SLM001", {"'6:00:00'": "'1:00:00'"}, ("RUNTIME_TIME_LIMIT",)),
        Fault("CFG004", {"ROLLOUT_N=2": "ROLLOUT_N=$(nproc)"}),
    ),
    46,
)
SKYRL_TRAINER = Dialect(
    {
        "run.sh": """\
#!/bin/bash
#SBATCH --gres=gpu:h100:4 --time=6:00:00
set -euo pipefail

N=2
uv run --isolated --extra fsdp -m skyrl.train.entrypoints.main_base \\
  trainer.algorithm.advantage_estimator=grpo \\
  trainer.policy.model.path=Qwen/Qwen2.5-1.5B-Instruct \\
  trainer.placement.policy_num_nodes=1 \\
  trainer.placement.policy_num_gpus_per_node=4 \\
  trainer.epochs=20 \\
  trainer.train_batch_size=32 \\
  trainer.policy_mini_batch_size=32 \\
  trainer.max_prompt_length=512 \\
  trainer.ckpt_interval=10 \\
  generator.inference_engine.num_engines=4 \\
  generator.inference_engine.backend=vllm \\
  generator.inference_engine.gpu_memory_utilization=0.8 \\
  generator.inference_engine.engine_init_kwargs.max_model_len=2048 \\
  generator.n_samples_per_prompt=$N \\
  generator.sampling_params.max_generate_length=1024
"""
    },
    (
        Fault("CFG001", {"max_generate_length=1024": "max_generate_length=4096"}, ("max_generate_length",)),
        Fault("CFG001", {"max_model_len=2048": "max_model_len=1024"}, ("max_model_len", "max_generate_length")),
        Fault("CFG002", {"train_batch_size=32": "train_batch_size=33"}, ("train_batch_size",)),
        Fault("CFG002", {"mini_batch_size=32": "mini_batch_size=64"}, ("mini_batch_size",)),
        Fault("CFG004", {"trainer.epochs": "trainer.epohcs"}, ("trainer.ep",)),
        Fault("CFG004", {"trainer.epochs": "trainer.nonsense"}),
        Fault("CFG010", {"gpu_memory_utilization=0.8": "gpu_memory_utilization=80"}, ("gpu_memory_utilization",)),
        Fault("SLM005", {"gpu:h100:4": "gpu:h100:2"}),
    ),
    32,
)
OF_A_MACHINE = ("RUN006", "RUN008", "RUN009")
"""Checks that need a plan, and judge images or a running sandbox."""
DIALECTS = {
    "RunConfig": RUN_CONFIG,
    "prime-rl": PRIME,
    "prime-rl-2025": PRIME_2025,
    "verl": VERL,
    "verl YAML": VERL_YAML,
    "SkyRL-agent": SKYRL,
    "SkyRL": SKYRL_TRAINER,
}


@pytest.mark.parametrize("name", DIALECTS)
def test_a_planted_fault_is_fixed_and_nothing_else_changes(name: str) -> None:
    dialect, chance = DIALECTS[name], random.Random(name)
    before = problems(dialect.files)
    assert all(id_ == "PRM007" for id_, _ in before)  # a notice about the old schema
    for number in range(dialect.count):
        fault = dialect.faults[number % len(dialect.faults)]
        with_fault = decorated(planted(dialect.files, fault), chance)
        assert fault.id in {id_ for id_, _ in problems(with_fault) - before}, fault
        made = repaired(with_fault)
        after = {proposal.file: proposal.new for proposal in made.proposals}
        if not fault.edits:
            assert after == with_fault, fault
            assert fault.id not in made.fixed, fault
            continue
        assert problems(after) <= before, (fault, made.left)
        assert made.left == (), fault
        foreign = [line for line in changed(with_fault, after) if not is_of(line, fault)]
        assert foreign == [], fault
        assert [is_of_windows(text) for text in after.values()] == [is_of_windows(text) for text in with_fault.values()]
        assert [proposal.new for proposal in repaired(after).proposals] == list(after.values()), fault


def test_300_files() -> None:
    assert sum(dialect.count for dialect in DIALECTS.values()) >= 300
    assert all(dialect.count >= 4 * len(dialect.faults) for dialect in DIALECTS.values())


def test_every_check_of_a_configuration_is_planted() -> None:
    every = {check.id for check in config_only(registry().checks)[0]}
    assert every - {fault.id for dialect in DIALECTS.values() for fault in dialect.faults} == set(OF_A_MACHINE)


def problems(files: Mapping[str, str]) -> set[tuple[str, str]]:
    """Findings, and checks that could not be made, by id and key."""
    outcomes = judged(files)
    found = {
        (outcome.id, (finding.location.key if finding.location else None) or finding.message)
        for outcome in outcomes
        for finding in outcome.findings
    }
    return found | {(outcome.id, outcome.reason) for outcome in outcomes if outcome.status is Status.UNKNOWN}


def planted(files: Mapping[str, str], fault: Fault) -> dict[str, str]:
    made = dict(files)
    for old, new in fault.replaced.items():
        (file,) = (file for file, text in made.items() if text.count(old) == 1)
        made[file] = made[file].replace(old, new)
    return made


def decorated(files: Mapping[str, str], chance: random.Random) -> dict[str, str]:
    """The files with comments, blank lines and line ends that a fix must keep."""
    made: dict[str, str] = {}
    for file, text in files.items():
        lines: list[str] = []
        for line in text.splitlines():
            is_inside = bool(lines) and lines[-1].endswith("\\")
            if not is_inside and chance.random() < 0.2:
                lines.extend(chance.choice([['# größer, 更大, [x] = "1"'], ["", "# -- n = 3"], ["", ""]]))
            can_have_comment = line.strip() and not line.startswith("#") and not line.endswith("\\")
            lines.append(
                line + (chance.choice(["  # ü", " # = 1"]) if can_have_comment and chance.random() < 0.2 else "")
            )
        end = chance.choice(["\n", "\n", "\r\n"])
        made[file] = end.join(lines) + (end if chance.random() < 0.8 else "")
    return made


def changed(before: Mapping[str, str], after: Mapping[str, str]) -> list[str]:
    """The lines that a fix removed or added."""
    lines = [
        line for file, text in before.items() for line in difflib.ndiff(text.splitlines(), after[file].splitlines())
    ]
    return [line for line in lines if line[0] in "+-"]


def is_of_windows(text: str) -> bool:
    return text.count("\n") == text.count("\r\n")


def is_of(line: str, fault: Fault) -> bool:
    """Whether a changed line belongs to the fault; a new table may come with a blank line."""
    return any(word in line for word in fault.edits) or line == "+ "
