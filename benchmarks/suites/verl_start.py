"""verl's own checks of a configuration, as it runs them when it starts, as the judge of every ERROR about a value."""

import json
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from benchmarks.field.doctor import opinion
from benchmarks.suites.cases import ROOT, Case

LIMIT_S = 900
_WHOLE = (
    "actor_rollout_ref.model.path=/m", "data.train_files=a.parquet", "data.val_files=a.parquet", "data.train_batch_size=64",
    "actor_rollout_ref.actor.ppo_mini_batch_size=32", "actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=2",
    "actor_rollout_ref.rollout.log_prob_micro_batch_size_per_gpu=2", "actor_rollout_ref.ref.log_prob_micro_batch_size_per_gpu=2",
    "actor_rollout_ref.rollout.name=vllm", "actor_rollout_ref.rollout.n=4", "algorithm.adv_estimator=grpo",
    "trainer.n_gpus_per_node=8", "trainer.nnodes=1",
)  # fmt: skip
_MEGATRON = "model_engine=megatron"
_A, _R, _REF, _C, _M = (
    "actor_rollout_ref.actor", "actor_rollout_ref.rollout", "actor_rollout_ref.ref", "critic", "actor_rollout_ref.model",
)  # fmt: skip
_TP, _PP, _CP = (f"{_A}.megatron.{name}_parallel_size" for name in ("tensor_model", "pipeline_model", "context"))
_SP, _SHARE, _N = f"{_A}.ulysses_sequence_parallel_size", f"{_R}.gpu_memory_utilization", f"{_R}.n"
_BATCH, _MINI = "data.train_batch_size", f"{_A}.ppo_mini_batch_size"
_MICRO, _LOG = "ppo_micro_batch_size", "log_prob_micro_batch_size"
_FREE = f"{_A}.use_dynamic_bsz=True"
_REWARDS = "algorithm.use_kl_in_reward=True"
BASES: tuple[tuple[str, ...], ...] = (
    (),
    (_FREE, f"{_A}.ppo_max_token_len_per_gpu=16384", f"{_M}.use_remove_padding=True"),
    (f"{_A}.use_kl_loss=True", f"{_A}.kl_loss_coef=0.001", f"{_A}.kl_loss_type=low_var_kl", f"{_A}.strategy=fsdp2"),
    (_REWARDS, "algorithm.kl_ctrl.kl_coef=0.01", f"{_R}.name=sglang", f"{_R}.tensor_model_parallel_size=4"),
    ("algorithm.adv_estimator=gae", "critic.model.path=/m", f"{_C}.{_MICRO}_per_gpu=2", f"{_C}.strategy=fsdp"),
    (f"{_M}.lora_rank=32", f"{_M}.lora_alpha=16", f"{_R}.load_format=safetensors", "algorithm.adv_estimator=rloo"),
    (_MEGATRON, f"{_TP}=2", f"{_A}.loss_agg_mode=seq-mean-token-mean"),
    (f"{_BATCH}=512", f"{_MINI}=128", "trainer.nnodes=2", f"{_A}.clip_ratio_high=0.28", f"{_A}.policy_loss.loss_mode=gspo"),
)  # fmt: skip
"""What verl's own examples set beside the words of every command: plain, dynamic batches, KL in the loss and in the reward,
a critic, an adapter, Megatron, two nodes. verl takes each."""
CHANGES: tuple[tuple[str, ...], ...] = (
    (), (f"{_BATCH}=9",), (f"{_BATCH}=9", _FREE), (f"{_BATCH}=10", f"{_N}=4"), (f"{_BATCH}=6", f"{_N}=4", f"{_MINI}=6"),
    (f"{_MINI}=128",), (f"{_MINI}=128", _FREE), (f"{_MINI}=64",), (f"{_MINI}=24",), (f"{_MINI}=1",), (f"{_MINI}=0",),
    (f"{_BATCH}=16", f"{_MINI}=32"), (f"{_BATCH}=7", f"{_N}=8", f"{_MINI}=7"), (f"{_N}=3",), (f"{_N}=5",), (f"{_N}=1",),
    ("trainer.nnodes=3",), ("trainer.nnodes=4",), ("trainer.n_gpus_per_node=6",), ("trainer.n_gpus_per_node=7", f"{_BATCH}=49"),
    (f"{_SP}=2",), (f"{_SP}=2", f"{_M}.use_remove_padding=False"), (f"{_SP}=3",), (f"{_SP}=8",), (f"{_SP}=16",),
    (f"{_SHARE}=0.5",), (f"{_SHARE}=50",), (f"{_SHARE}=1.2",), (f"{_SHARE}=-0.1",), (f"{_SHARE}=0",),
    (f"{_R}.temperature=0",), (f"{_R}.temperature=-1",), (f"{_R}.temperature=0", f"{_R}.val_kwargs.do_sample=True"),
    (f"{_R}.temperature=0.1", f"{_R}.val_kwargs.do_sample=True"),
    (f"{_R}.top_p=2",), (f"{_R}.top_p=0.9",), (f"{_R}.top_p=0",), (f"{_R}.top_k=-1",), (f"{_R}.top_k=-2",),
    (f"{_N}=0",), (f"{_N}=-1",), ("trainer.nnodes=0",), ("trainer.n_gpus_per_node=0",), ("trainer.nnodes=-1",),
    (f"{_R}.tensor_model_parallel_size=2",), (f"{_R}.tensor_model_parallel_size=3",),
    (f"{_R}.max_model_len=600",), (f"{_R}.max_model_len=4096",), ("data.max_prompt_length=4096", f"{_R}.max_model_len=4096"),
    (f"{_R}.{_LOG}=4",), (f"{_REF}.{_LOG}=4",), (f"{_REF}.{_LOG}=4", f"{_REF}.{_LOG}_per_gpu=null"), (f"{_A}.{_MICRO}=4",),
    (f"{_A}.{_MICRO}=8", f"{_A}.{_MICRO}_per_gpu=null"), (f"{_A}.{_MICRO}=4", f"{_A}.{_MICRO}_per_gpu=null"),
    (f"{_A}.{_MICRO}=24", f"{_A}.{_MICRO}_per_gpu=null"), (f"{_A}.{_MICRO}_per_gpu=null",), (f"{_R}.{_LOG}_per_gpu=null",),
    (f"{_REF}.{_LOG}_per_gpu=null",), (f"{_R}.{_LOG}_per_gpu=null", _FREE), (f"{_C}.{_MICRO}_per_gpu=null",), (f"{_C}.{_MICRO}=4",),
    (f"{_C}.ppo_mini_batch_size=4096",), (f"{_C}.enable=True",), (f"{_C}.enable=True", f"{_C}.{_MICRO}_per_gpu=4"),
    ("algorithm.adv_estimator=nothing",), ("algorithm.adv_estimator=gea",), ("algorithm.adv_estimator=reinforce_plus_plus",),
    ("algorithm.adv_estimator=grpo_passk",), ("algorithm.adv_estimator=GRPO",),
    (f"{_A}.strategy=ddp",), (f"{_A}.strategy=fsdp2",), (f"{_A}.strategy=fdsp",), (f"{_A}.strategy=megatron",),
    (f"{_A}.loss_agg_mode=mean",), (f"{_A}.loss_agg_mode=token-sum",), (f"{_A}.loss_agg_mode=token_mean",),
    (f"{_A}.policy_loss.loss_mode=vanila",), (f"{_A}.policy_loss.loss_mode=cispo",), (f"{_A}.kl_loss_type=low_var",),
    (f"{_A}.kl_loss_type=k3+",), ("algorithm.kl_penalty=k4",), ("algorithm.kl_penalty=k2",), ("algorithm.kl_ctrl.type=adaptiv",),
    ("algorithm.kl_ctrl.type=adaptive",), ("algorithm.kl_ctrl.type=adaptive", "algorithm.kl_ctrl.horizon=0"),
    (f"{_A}.optim.lr_scheduler_type=cosine",), (f"{_A}.optim.lr_scheduler_type=linear",),
    (f"{_R}.mode=sync",), (f"{_R}.mode=async",), (f"{_R}.name=hf",), (f"{_R}.name=vlm",), (f"{_R}.name=sglang",),
    ("trainer.nnodes=two",), ("trainer.n_gpus_per_node=eight",), (f"{_BATCH}=many",), (f"{_BATCH}=many", f"{_MINI}=few"), (f"{_N}=four",),
    (f"{_R}.load_format=dummy",), (f"{_R}.multi_turn.enable=True",), ("data.truncation=left",),
    (f"{_R}.max_num_seqs=0",), (f"{_R}.max_num_seqs=-4",), (f"{_R}.max_num_seqs=64",),
    (f"{_R}.expert_parallel_size=4",), (f"{_R}.tensor_model_parallel_size=4", f"{_R}.expert_parallel_size=4"),
    (f"{_R}.pipeline_model_parallel_size=2",), (f"{_R}.moe_tensor_parallel_size=2",), (f"{_R}.data_parallel_size=2",),
    (f"{_M}.lora_rank=1024",), (f"{_M}.lora_rank=512",), (f"{_M}.lora_rank=1024", f"{_M}.lora.merge=True"),
    (f"{_R}.trace.max_samples_per_step_per_worker=-1",), (f"{_R}.trace.max_samples_per_step_per_worker=2",),
    (f"{_A}.router_replay.mode=R5",), (f"{_A}.router_replay.mode=R2",),
    (f"{_A}.optim.lr=1e-6",), (f"{_A}.ppo_epochs=0",), (f"{_R}.agent.num_workers=7",),
)  # fmt: skip
"""Words that are added to a command: good, refused by verl, or refused later."""
MEGATRON: tuple[tuple[str, ...], ...] = (
    (f"{_TP}=1",), (f"{_TP}=3",), (f"{_TP}=2", f"{_PP}=2"), (f"{_TP}=4", f"{_PP}=4"), (f"{_TP}=4", f"{_CP}=2"), (f"{_PP}=3",),
    (f"{_TP}=2", f"{_BATCH}=9", f"{_MINI}=9"), (f"{_A}.megatron.dtype=float32",), (f"{_A}.megatron.router_replay.mode=R4",),
)  # fmt: skip
DRAWN = 1
"""Further bases on which each change is tried, besides the plain one."""


def commands() -> list[tuple[str, ...]]:
    """Each change on the plain base, and on others that a fixed seed draws; Megatron's on Megatron."""
    draw = random.Random(0)
    pairs = [(base, change) for change in CHANGES for base in ((), *draw.sample(BASES[1:], DRAWN))]
    pairs += [(BASES[6], change) for change in MEGATRON]
    pairs += [(base, ()) for base in BASES[1:]]
    return [(*base, *change) for base, change in pairs]


LATER = {
    "CFG001": "docs/checks/CFG001.md: a prompt that fills",
    "CFG002": "docs/checks/CFG002.md: verl checks only in the first update",
    "CFG008": "docs/checks/CFG008.md: verl and vLLM stop with an assertion after the queue",
    "CFG010": "docs/checks/CFG010.md: The model server refuses to start",
    "CFG011": "docs/checks/CFG011.md: verl looks the word up when it starts its workers",
}
"""Where the page of a check tells of the crash that verl's start does not find."""


def values(_: Path) -> Iterator[Case]:
    """An ERROR of ours is a refusal of verl's at its start, or its page tells of the later crash."""
    drawn = commands()
    with ThreadPoolExecutor(1) as pool:
        answers = pool.submit(_answers, [[*_WHOLE, *change] for change in drawn])
        ours = [_errors(change) for change in drawn]
    for change, errors, refused in zip(drawn, ours, answers.result(), strict=True):
        name = f"{' '.join(change)}: {refused or 'taken'}; {', '.join(errors) or 'no error'}"
        documented = "" if refused else next((LATER[error] for error in errors if error in LATER), "")
        yield Case(name, bool(errors), bool(refused), documented)


def _errors(change: Sequence[str]) -> list[str]:
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "run.sh"
        words = " ".join(f"'{word}'" for word in (*_WHOLE, *change))
        script.write_text(f"python3 -m verl.trainer.main_ppo {words}\n", encoding="utf-8")
        found = opinion(script, Path(folder))
    assert not found.crash, found.crash
    assert not found.refused, found.refused
    return sorted({error.id for error in found.errors})


def _answers(commands: Sequence[Sequence[str]]) -> list[str]:
    words = [sys.executable, str(ROOT / "benchmarks/suites/children/verl_start.py")]
    lines = "".join(json.dumps(command) + "\n" for command in commands)
    # The doctor, at work in the other thread, changes into directories that it deletes.
    done = subprocess.run(words, input=lines, capture_output=True, text=True, timeout=LIMIT_S, check=False, cwd=ROOT)
    answers: list[str] = [json.loads(line) for line in done.stdout.splitlines() if line.startswith('"')]
    if len(answers) != len(commands):
        raise RuntimeError(f"verl's checks ended: {done.stderr[-2000:]}")
    return answers
