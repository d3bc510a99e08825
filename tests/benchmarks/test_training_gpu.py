"""The proof on a GPU, as far as it can be tried without one: its configurations, its command lines, its arithmetic."""

from pathlib import Path

import pytest

from benchmarks.training_gpu.__main__ import append, judged, main
from benchmarks.training_gpu.cases import CASES, Case
from benchmarks.training_gpu.compare import figures, verdicts


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_both_runs_have_the_same_settings(case: Case, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--folder", str(tmp_path), "--case", case.name, "--dry-run"]) == 0
    ours, plain = capsys.readouterr().out.splitlines()
    assert ours.endswith(f"-m skyrl_train train {tmp_path}/{case.name}/ours --no-gate")
    for word in (
        f"data.max_response_length={case.response}",
        f"actor_rollout_ref.rollout.n={case.n}",
        f"actor_rollout_ref.model.lora_rank={case.lora_rank}",
        "actor_rollout_ref.actor.strategy='fsdp2'",
        "actor_rollout_ref.rollout.ignore_eos=True",
        "trainer.total_training_steps=3",
        "reward.num_workers=1",
    ):
        assert f" {word} " in f"{plain} "
    assert "skyrl_train" not in plain
    assert "agent_loop" not in plain


def step(seconds: float, **more: float) -> dict[str, float]:
    return {"timing_s/step": seconds, "timing_s/gen": seconds / 2, "response_length/mean": 1000, **more}


def test_figures_leave_the_first_step_out() -> None:
    pearson = "training/rollout_actor_probs_pearson_corr"
    made = figures([step(50, **{pearson: 0.999}), step(10), step(12)], started_s=150.0, sequences=16)
    assert made == {
        "steps": 3,
        "start_to_first_step_s": 100.0,
        "step_s": 11.0,
        "generation_s": 5.5,
        "tokens_per_s": pytest.approx(16000 / 5.5),
        "pearson": 0.999,
        "peak_gib": 0.0,
        "grad_norm": None,
    }


def test_what_was_not_measured_does_not_hold() -> None:
    nothing = figures([], started_s=0.0, sequences=16)
    assert set(verdicts(nothing, nothing, moved=False).values()) == {False}
    good = {"steps": 3, "step_s": 10.0, "start_to_first_step_s": 90.0, "pearson": 0.995, "tokens_per_s": 1000.0}
    plain = {**good, "step_s": 9.9, "start_to_first_step_s": 90.0}
    assert set(verdicts(good, plain, moved=True).values()) == {True}
    assert not verdicts({**good, "step_s": 10.2}, plain, moved=True)["overhead"]
    assert not verdicts({**good, "start_to_first_step_s": 91.0}, plain, moved=True)["start_up"]


def test_the_verdict_waits_for_both_runs(tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    assert judged(CASES[0], out) is None
    good = {"steps": 3, "step_s": 10.0, "start_to_first_step_s": 90.0, "pearson": 0.995, "tokens_per_s": 1000.0}
    append(out, CASES[0], "plain", good)
    assert judged(CASES[0], out) is None
    append(out, CASES[0], "ours", good)
    append(out, CASES[1], "moved", {"moved": True})
    assert judged(CASES[0], out) == {**dict.fromkeys(verdicts(good, good, moved=True), True), "weights_moved": False}
    append(out, CASES[0], "moved", {"moved": True})
    append(out, CASES[0], "plain_again", {**good, "step_s": 9.0})
    assert judged(CASES[0], out) == {**dict.fromkeys(verdicts(good, good, moved=True), True), "overhead": False}
