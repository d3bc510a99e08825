"""verl's own checks of a configuration, as it runs them when it starts, as the judge of every ERROR about a value."""

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.field.doctor import opinion
from benchmarks.suites.cases import Case
from benchmarks.suites.foreign import ROOT

LIMIT_S = 300
_WHOLE = (
    "actor_rollout_ref.model.path=/m", "data.train_files=a.parquet", "data.val_files=a.parquet", "data.train_batch_size=64",
    "actor_rollout_ref.actor.ppo_mini_batch_size=32", "actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=2",
    "actor_rollout_ref.rollout.log_prob_micro_batch_size_per_gpu=2", "actor_rollout_ref.ref.log_prob_micro_batch_size_per_gpu=2",
    "actor_rollout_ref.rollout.name=vllm", "actor_rollout_ref.rollout.n=4", "algorithm.adv_estimator=grpo",
    "trainer.n_gpus_per_node=8", "trainer.nnodes=1",
)  # fmt: skip
_MEGATRON = "model_engine=megatron"
_TP, _PP, _CP = (
    f"actor_rollout_ref.actor.megatron.{name}_parallel_size" for name in ("tensor_model", "pipeline_model", "context")
)
_SP = "actor_rollout_ref.actor.ulysses_sequence_parallel_size"
_BATCH, _MINI, _N = (
    "data.train_batch_size",
    "actor_rollout_ref.actor.ppo_mini_batch_size",
    "actor_rollout_ref.rollout.n",
)
_SHARE = "actor_rollout_ref.rollout.gpu_memory_utilization"
_FREE = "actor_rollout_ref.actor.use_dynamic_bsz=True"
CHANGES: tuple[tuple[str, ...], ...] = (
    (), (f"{_BATCH}=9",), (f"{_BATCH}=9", _FREE), (f"{_BATCH}=10", f"{_N}=4"), (f"{_BATCH}=6", f"{_N}=4", f"{_MINI}=6"),
    (f"{_MINI}=128",), (f"{_MINI}=128", _FREE), (f"{_MINI}=64",), (f"{_MINI}=24",), (f"{_MINI}=1",), (f"{_MINI}=0",),
    (f"{_BATCH}=16", f"{_MINI}=32"), (f"{_BATCH}=7", f"{_N}=8", f"{_MINI}=7"), (f"{_N}=3",), (f"{_N}=5",), (f"{_N}=1",),
    ("trainer.nnodes=3",), ("trainer.nnodes=4",), ("trainer.n_gpus_per_node=6",), ("trainer.n_gpus_per_node=7", f"{_BATCH}=49"),
    (_MEGATRON,), (_MEGATRON, f"{_TP}=3"), (_MEGATRON, f"{_TP}=2", f"{_PP}=2"), (_MEGATRON, f"{_TP}=4", f"{_PP}=4"),
    (_MEGATRON, f"{_TP}=4", f"{_CP}=2"), (_MEGATRON, f"{_PP}=3"), (_MEGATRON, f"{_TP}=2", f"{_BATCH}=9", f"{_MINI}=9"),
    (f"{_SP}=2",), (f"{_SP}=3",), (f"{_SP}=8",), (f"{_SP}=16",),
    (f"{_SHARE}=0.5",), (f"{_SHARE}=50",), (f"{_SHARE}=1.2",), (f"{_SHARE}=-0.1",), (f"{_SHARE}=0",),
    ("actor_rollout_ref.rollout.temperature=0",), ("actor_rollout_ref.rollout.temperature=-1",),
    ("actor_rollout_ref.rollout.temperature=0", "actor_rollout_ref.rollout.val_kwargs.do_sample=True"),
    ("actor_rollout_ref.rollout.top_p=2",), ("actor_rollout_ref.rollout.top_p=0.9",), ("actor_rollout_ref.rollout.top_p=0",),
    ("actor_rollout_ref.rollout.top_k=-1",), ("actor_rollout_ref.rollout.top_k=-2",),
    (f"{_N}=0",), (f"{_N}=-1",), ("trainer.nnodes=0",), ("trainer.n_gpus_per_node=0",), ("trainer.nnodes=-1",),
    ("actor_rollout_ref.rollout.tensor_model_parallel_size=2",), ("actor_rollout_ref.rollout.tensor_model_parallel_size=3",),
    ("actor_rollout_ref.rollout.max_model_len=600",), ("actor_rollout_ref.rollout.max_model_len=4096",),
    ("data.max_prompt_length=4096", "actor_rollout_ref.rollout.max_model_len=4096"),
    ("actor_rollout_ref.rollout.log_prob_micro_batch_size=4",), ("actor_rollout_ref.ref.log_prob_micro_batch_size=4",),
    ("actor_rollout_ref.actor.ppo_micro_batch_size=4",), ("actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=null",),
    ("actor_rollout_ref.rollout.log_prob_micro_batch_size_per_gpu=null",),
    ("actor_rollout_ref.rollout.log_prob_micro_batch_size_per_gpu=null", _FREE),
    ("algorithm.adv_estimator=nothing",), ("actor_rollout_ref.actor.strategy=ddp",), ("actor_rollout_ref.actor.loss_agg_mode=mean",),
    ("actor_rollout_ref.rollout.mode=sync",), ("actor_rollout_ref.rollout.name=hf",), ("trainer.nnodes=two",), (f"{_BATCH}=many",),
    ("actor_rollout_ref.rollout.load_format=dummy",), ("actor_rollout_ref.rollout.multi_turn.enable=True",),
    ("actor_rollout_ref.rollout.multi_turn.format=nothing", "actor_rollout_ref.rollout.multi_turn.enable=True"),
    ("data.truncation=nothing",), ("actor_rollout_ref.rollout.max_num_seqs=0",), ("actor_rollout_ref.rollout.max_num_seqs=-4",),
    ("actor_rollout_ref.actor.optim.lr=1e-6",), ("actor_rollout_ref.actor.ppo_epochs=0",),
    ("actor_rollout_ref.rollout.agent.num_workers=0",), ("actor_rollout_ref.rollout.agent.num_workers=7",),
)  # fmt: skip
"""Words that are added to a whole command: good, refused by verl, or refused later.

None trains an adapter or a critic: verl asks vLLM and the model's files about those.
"""
LATER = {
    "CFG001": "docs/checks/CFG001.md: a prompt that fills",
    "CFG002": "docs/checks/CFG002.md: verl checks only in the first update",
    "CFG008": "docs/checks/CFG008.md: verl and vLLM stop with an assertion after the queue",
    "CFG010": "docs/checks/CFG010.md: The model server refuses to start",
}
"""Where the page of a check tells of the crash that verl's start does not find."""
SILENT = "docs/suites.md: Not every refusal of verl is an ERROR of ours"


def values(_: Path) -> Iterator[Case]:
    """An ERROR of ours is a refusal of verl's at its start, or its page tells of the later crash."""
    for change, refused in zip(CHANGES, _answers([[*_WHOLE, *change] for change in CHANGES]), strict=True):
        errors = _errors(change)
        name = f"{' '.join(change)}: {refused or 'taken'}; {', '.join(errors) or 'no error'}"
        documented = SILENT if refused else next((LATER[error] for error in errors if error in LATER), "")
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
    done = subprocess.run(words, input=lines, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    answers: list[str] = [json.loads(line) for line in done.stdout.splitlines() if line.startswith('"')]
    if len(answers) != len(commands):
        raise RuntimeError(f"verl's checks ended: {done.stderr[-2000:]}")
    return answers
