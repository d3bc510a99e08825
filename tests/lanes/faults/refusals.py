"""What a refused launch must show: which finding, said so that one can act on it, and nothing begun or left."""

from collections.abc import Sequence

from lanes.e2e.whole import LIMIT_S, Whole
from lanes.faults.ends import root_of
from lanes.slurm.lab import processes_with, wait_until
from skyrl_train.launch.directory import read_jobs
from skyrl_train.launch.role import Role

REFUSED = 78


def tells(said: str, *words: str) -> None:
    """Value seen, value wanted, where, what to do: whoever asks names them."""
    missing = [word for word in words if word not in said]
    assert not missing, f"{missing} not in: {said}"


def refused_at_login(whole: Whole, *words: str, status: int = REFUSED) -> None:
    """Nothing was submitted, and the directory of the launch is as it was."""
    assert whole.status == status, whole.said
    tells(whole.said, *words)
    assert not (whole.job / "jobs.json").exists()
    assert not processes_with(f"SKYRL_JOB_DIR={whole.job}")


def refused_in_job(whole: Whole, role: Role, *words: str, roles: Sequence[Role] = tuple(Role)) -> None:
    """The gate of this job's node refused; the other job ended with it, and no trainer was ever started."""
    assert whole.status == 0, whole.said
    passed = whole.job / "verdict.json"
    wait_until(lambda: whole.ended(role) or passed.exists(), f"the gate of the {role} speaks\n{whole.logs()}", LIMIT_S)
    ended = whole.ended(role)
    assert ended is not None, f"the gate let the trainer start\n{whole.logs()}"
    assert (ended.status, ended.reason.startswith("the gate refused: ")) == (REFUSED, True), f"{ended}\n{whole.logs()}"
    tells(ended.reason, *words)
    assert f"{root_of(whole)} " in ended.reason  # diagnose names what the gate did
    for one in roles:
        if one in read_jobs(str(whole.job)):
            whole.cluster.wait(read_jobs(str(whole.job))[one], LIMIT_S)
    never_trained(whole)
    whole.leaves_nothing()


def never_trained(whole: Whole) -> None:
    assert not (whole.job / "verdict.json").exists()  # without which no trainer starts
    assert not (whole.job / "rollout_counts.jsonl").exists()
    assert not (whole.at / "checkpoints").exists()
    log = whole.log(Role.TRAINER)
    assert "TaskRunner" not in log
    assert "Started a local Ray instance" not in log
