"""Faults that only a run meets: it ends in the named finding, in time, and keeps what it had."""

import time
from contextlib import suppress
from pathlib import Path

import pytest

from lanes.e2e.whole import Whole
from lanes.faults import ends
from skyrl_train.checkpoints.saved import examine
from skyrl_train.contracts.agent.finish import Finish

pytestmark = pytest.mark.e2e
RAY_WAITS = {"RAY_health_check_timeout_ms": "60000", "RAY_health_check_failure_threshold": "10"}
"""The fault is to end the run, and not a machine that is slow."""
FAILED = frozenset({Finish.ERROR_INITIALIZATION, Finish.ERROR_RUNTIME})


def begin(whole: Whole, *, steps: int) -> None:
    whole.launch(whole.config(steps=steps), **RAY_WAITS)
    assert whole.status == 0, whole.said


def test_a_runtime_that_is_killed_while_commands_run(whole: Whole) -> None:
    begin(whole, steps=3)
    whole.until(lambda: ends.sandboxes(whole), "the first sandbox")
    ends.kill(ends.server(whole))
    ended = ends.ends_with(whole, "RUN011")
    assert ended.reason == "the runtime job ended: the runtime was killed by signal 9"


def test_every_rollout_of_a_step_fails(whole: Whole) -> None:
    begin(whole, steps=9)
    whole.until(lambda: whole.has_step(1), "global_step_1")
    done = len(whole.counts())
    limit = time.monotonic() + ends.END_S
    while whole.ended(ends.Role.TRAINER) is None and time.monotonic() < limit:
        ends.kill(ends.sandboxes(whole))
        time.sleep(0.2)
    ends.ends_with(whole, "TRN001")
    lost = whole.counts()[done:]
    assert [one.masked for one in lost[-2:]] == [one.rollouts for one in lost[-2:]] == [8, 8]
    assert set(lost[-1].ends) <= FAILED


def test_a_disk_that_is_full_at_a_checkpoint(whole: Whole) -> None:
    with ends.small_disk(whole.at / "checkpoints", "24m") as disk:
        begin(whole, steps=3)
        whole.until(lambda: whole.has_step(1), "global_step_1")
        fill(disk)
        ends.ends_with(whole, "CKP003")
        assert examine(str(whole.saved(1))).complete
        assert not whole.saved(2).exists() or not examine(str(whole.saved(2))).complete
        assert (whole.saved(1).parent / "latest_checkpointed_iteration.txt").read_text() == "1"


def fill(disk: Path) -> None:
    with (disk / "ballast").open("wb", buffering=0) as file, suppress(OSError):
        while file.write(bytes(1 << 16)):
            pass
