"""The advice of `budget`: settings to paste, changes that fit together, and slices."""

import json
from pathlib import Path

import pytest

from skyrl_doctor.cli.app import dispatch

ROOT = Path(__file__).parents[3]
A, R, M = "actor_rollout_ref.actor", "actor_rollout_ref.rollout", "actor_rollout_ref.model"
VERL = "python -m verl.trainer.main_ppo algorithm.adv_estimator=grpo trainer.n_gpus_per_node=8"
FULL_LOGITS = (
    f"{VERL} {M}.path=Qwen/Qwen2.5-1.5B-Instruct {R}.free_cache_engine=False {R}.gpu_memory_utilization=0.7 "
    f"{A}.ppo_micro_batch_size_per_gpu=96 {R}.log_prob_micro_batch_size_per_gpu=16 data.max_prompt_length=2048 +env.max_steps=50"
)


@pytest.fixture(autouse=True)
def _at_the_root(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))


def budget(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    dispatch(["budget", *words])
    return capsys.readouterr().out


def test_changes_that_are_enough_only_together_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    out = budget(capsys, FULL_LOGITS, "--gpu", "H100")
    heading = " ".join(out[out.index("changes that") :].split("\n  - ")[0].split())
    assert heading == "changes that help most; no single one is enough, but the first and the second together fit:"
    data = json.loads(budget(capsys, FULL_LOGITS, "--gpu", "H100", "--format", "json"))
    assert data["together"] == [change["summary"] for change in data["changes"]][:2]
    both = [f"{key}={value}" for change in data["changes"][:2] for key, value in change["settings"].items()]
    assert "fits:    yes" in budget(capsys, f"{FULL_LOGITS} {' '.join(both)}", "--gpu", "H100")


def test_the_time_counts_neither_tools_nor_further_turns(capsys: pytest.CaptureFixture[str]) -> None:
    out = " ".join(budget(capsys, FULL_LOGITS, "--gpu", "H100").split())
    assert "s a step without the time of tools, if each reply has all 512 tokens (" in out
    assert "note: this is the time of one turn; a rollout has up to 50 (env.max_steps) note: " in out
    assert "one turn" not in budget(capsys, FULL_LOGITS.replace("max_steps=50", "max_steps=1"), "--gpu", "H100")


def test_a_setting_is_one_line_to_paste(capsys: pytest.CaptureFixture[str]) -> None:
    words = f"{VERL} model_engine=megatron {M}.path=Qwen/Qwen3-8B {A}.ppo_micro_batch_size_per_gpu=4 data.max_response_length=8192"
    table = f"      {A}.megatron.override_transformer_config"
    out = budget(capsys, words, "--gpu", "H100").splitlines()
    assert [line for line in out if "recompute_" in line] == [
        f"{table}.recompute_granularity = full",
        f"{table}.recompute_method = uniform",
        f"{table}.recompute_num_layers = 1",
    ]


def test_slices_get_no_number_of_gpus(capsys: pytest.CaptureFixture[str]) -> None:
    words = ("--model", "Qwen/Qwen3-8B", "--gpu", "A100-80GB 2g.20gb")
    out = " ".join(budget(capsys, *words).split())
    assert (
        "gpu_memory_utilization gives vLLM 9.8 GiB, but its weights need 15.3 GiB and a forward pass 1.4 GiB; "
        "use a larger slice or a whole GPU host: "
    ) in out
    assert (
        "note: MIG slices cannot be joined (GPU002): use one slice that is large enough, or whole GPUs changes" in out
    )
    assert "enough: 6" not in out
    assert "needed" not in json.loads(budget(capsys, *words, "--format", "json"))


def test_one_slice_that_is_enough_has_no_note(capsys: pytest.CaptureFixture[str]) -> None:
    assert "MIG slices" not in budget(capsys, "examples/mig20.toml", "--gpu", "2g.20gb")
