"""One command trains: both jobs, the gate, sandboxes, rewards, steps, a kill, a requeue, a resume, and nothing left."""

import json

import pytest

from lanes.e2e.whole import Whole
from skyrl_train.launch.role import Role

pytestmark = pytest.mark.e2e


def test_a_launch_trains_is_killed_and_requeued_goes_on_and_leaves_nothing(whole: Whole) -> None:
    whole.launch(whole.config(steps=3))
    assert whole.status == 0, whole.said
    whole.until(lambda: whole.has_step(2), "global_step_2")
    killed_and_requeued(whole)
    steps_were_real(whole)
    whole.cluster.start_again(whole.trainer)
    assert whole.end_of(Role.TRAINER).status == 0, whole.logs()
    assert whole.has_step(3), whole.logs()
    assert f"training resumes from {whole.saved(2)}" in whole.log(Role.TRAINER)
    assert whole.weights(2) != whole.weights(3)
    assert whole.end_of(Role.RUNTIME).status == 0, whole.logs()
    whole.leaves_nothing()


def killed_and_requeued(whole: Whole) -> None:
    """Slurm takes the job back into its queue, and nobody in it gets to tidy up."""
    assert whole.cluster.run("scontrol", "requeue", whole.trainer).returncode == 0
    whole.cluster.kill(whole.trainer)
    whole.cluster.wait_for(whole.trainer, "PENDING")
    assert whole.ended(Role.TRAINER) is None
    assert not whole.has_step(3), "the trainer was quicker than its kill"


def steps_were_real(whole: Whole) -> None:
    first = whole.counts()[0]
    assert first.turns > first.rollouts  # two turns in most
    assert 0 < first.reward < first.scored  # real pytest passed for some, and not for others
    one = json.loads((whole.job / "metrics.jsonl").read_text().splitlines()[0])["data"]
    assert one["training/rollout_probs_diff_mean"] < 0.05  # vLLM samples with the weights that the trainer trains
    assert one["training/rollout_actor_probs_pearson_corr"] > 0.99
    assert whole.weights(1) != whole.weights(2)
