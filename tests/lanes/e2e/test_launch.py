"""One command trains: both jobs, the gate, sandboxes, rewards, steps, a requeue, a resume, and nothing left."""

import pytest

from lanes.e2e.whole import Whole
from skyrl_train.launch.role import Role

pytestmark = pytest.mark.e2e


def test_a_launch_trains_is_requeued_goes_on_and_leaves_nothing(whole: Whole) -> None:
    whole.launch(whole.config(steps=3))
    assert whole.status == 0, whole.said
    whole.until(lambda: whole.has_step(2), "global_step_2")
    first = whole.counts()[0]
    assert first.turns > first.rollouts  # two turns in most
    assert 0 < first.reward < first.scored  # real pytest passed for some, and not for others
    trainer = whole.trainer
    assert whole.cluster.run("scontrol", "requeue", trainer).returncode == 0
    assert whole.end_of(Role.TRAINER).status == 0, whole.logs()
    assert whole.has_step(3)
    assert f"training goes on from {whole.saved(2)}" in whole.log(Role.TRAINER)
    assert whole.end_of(Role.RUNTIME).status == 0
    whole.leaves_nothing()
