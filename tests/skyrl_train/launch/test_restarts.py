"""The turns of a trainer: who sends it back into the queue, and the runtime of the next turn."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from skyrl_train.contracts.errors import TrainError
from skyrl_train.contracts.job_files import KEY, READY, URL
from skyrl_train.launch import restarts
from skyrl_train.launch.directory import Ended, is_superseded, read_ended, read_jobs, write_ended, write_jobs
from skyrl_train.launch.restarts import Next, Scheduler, new_runtime, next_turn
from skyrl_train.launch.role import Role
from skyrl_train.launch.slurm import SlurmError, State

TRAINER, OLD, NEW = "8", "7", "9"
FIRST: dict[str, str] = {}
SECOND = {"SLURM_RESTART_COUNT": "1"}


def turn(told: State, environ: dict[str, str] = FIRST, *, stopped: bool = True, warned: bool = False) -> Next | None:
    return next_turn(TRAINER, environ, stopped=stopped, warned=warned, ask=lambda _: told)


def test_one_that_slurm_has_queued_again_goes_on() -> None:
    """Measured on Slurm 22.05: a requeue, by an admin or a better job, counts up before the job gets SIGTERM; scancel does not."""
    assert turn(State("COMPLETING", restarts=1)) is Next.COMING
    assert turn(State("COMPLETING", restarts=2), SECOND) is Next.COMING
    assert turn(State("COMPLETING", restarts=1), SECOND) is None
    assert turn(State("COMPLETING", restarts=0)) is None


def test_one_that_was_warned_asks_for_another() -> None:
    assert turn(State(""), stopped=False, warned=True) is Next.TO_ASK_FOR
    assert turn(State("COMPLETING", ran_s=61, limit_s=60), warned=True) is Next.TO_ASK_FOR
    assert turn(State("COMPLETING", ran_s=61, limit_s=60)) is None
    assert turn(State(""), stopped=False) is None


def test_one_that_is_cancelled_after_the_warning_does_not() -> None:
    assert turn(State("COMPLETING", ran_s=50, limit_s=60), warned=True) is None
    assert turn(State("COMPLETING", ran_s=50), warned=True) is None
    assert turn(State(""), warned=True) is None


@pytest.mark.parametrize(("said", "count"), [("1", 1), ("", 0), ("x", 0), ("²", 0)])
def test_the_count_of_turns(said: str, count: int) -> None:
    assert restarts.number({"SLURM_RESTART_COUNT": said}) == count
    assert restarts.number({}) == 0


def test_slurm_that_does_not_answer_says_nothing() -> None:
    def silent(job_id: str) -> State:
        raise SlurmError(job_id)

    assert restarts.asked(TRAINER, silent) == State("")


@dataclass
class Cluster:
    """Slurm's commands, faked: it remembers what it was told, and in which order."""

    states: dict[str, list[State]]
    told: list[str] = field(default_factory=list)
    refuses: str = ""

    def state(self, job_id: str) -> State:
        states = self.states[job_id]
        return states.pop(0) if len(states) > 1 else states[0]

    def submit(self, script: str, environ: dict[str, str]) -> str:
        if self.refuses:
            raise SlurmError(self.refuses)
        self.told.append(f"submit {Path(script).name} {sorted(environ)}")
        return NEW

    def scheduler(self, cancel: Callable[[str], None] | None = None) -> Scheduler:
        return Scheduler(
            state=self.state,
            submit=self.submit,
            cancel=cancel or (lambda job_id: self.told.append(f"cancel {job_id}")),
            sleep=lambda _: None,
        )


def half_done(at: Path) -> str:
    write_jobs(str(at), {Role.RUNTIME: OLD, Role.TRAINER: TRAINER})
    for name in (URL, KEY, READY):
        (at / name).write_text("of the turn before\n")
    return str(at)


def begin(job_dir: str, cluster: Cluster, environ: dict[str, str] = SECOND, *, stopped: bool = False) -> str:
    return new_runtime(job_dir, TRAINER, environ, cluster.scheduler(), lambda: stopped)


def test_a_runtime_that_lasts_as_long_is_kept(tmp_path: Path) -> None:
    job_dir = half_done(tmp_path)
    cluster = Cluster({OLD: [State("RUNNING", ran_s=60, limit_s=660)], TRAINER: [State("RUNNING", limit_s=600)]})
    assert begin(job_dir, cluster) == ""
    assert (cluster.told, (tmp_path / READY).exists()) == ([], True)


def test_one_that_would_end_first_makes_way_for_another(tmp_path: Path) -> None:
    job_dir = half_done(tmp_path)
    running = State("RUNNING", ran_s=61, limit_s=660)
    cluster = Cluster({OLD: [running, running, State("CANCELLED")], TRAINER: [State("RUNNING", limit_s=600)]})
    environ = {"HOME": "/h", "SLURM_JOB_ID": "8", "SLURM_CONF": "/c", "CUDA_VISIBLE_DEVICES": "0"} | SECOND
    assert begin(job_dir, cluster, environ) == NEW
    assert cluster.told == [f"cancel {OLD}", "submit runtime.sh ['HOME', 'SLURM_CONF']"]
    assert read_jobs(job_dir) == {"runtime": NEW, "trainer": TRAINER}
    assert [name for name in (URL, KEY, READY) if (tmp_path / name).exists()] == []


def test_one_that_told_its_end_is_replaced_and_forgotten(tmp_path: Path) -> None:
    job_dir = half_done(tmp_path)
    write_ended(job_dir, Role.RUNTIME, Ended(0, "", 0))
    cluster = Cluster({OLD: [State("")]})
    assert begin(job_dir, cluster) == NEW
    assert read_ended(job_dir, Role.RUNTIME) is None
    assert [told.split()[0] for told in cluster.told] == ["submit"]


def test_the_old_one_is_superseded_before_it_is_told(tmp_path: Path) -> None:
    """Or it would cancel the trainer on its way out."""
    job_dir = half_done(tmp_path)
    seen: list[bool] = []
    cluster = Cluster({OLD: [State("RUNNING"), State("RUNNING"), State("")], TRAINER: [State("RUNNING", limit_s=600)]})
    scheduler = cluster.scheduler(lambda job_id: seen.append(is_superseded(job_dir, Role.RUNTIME, job_id)))
    assert not is_superseded(job_dir, Role.RUNTIME, OLD)
    new_runtime(job_dir, TRAINER, SECOND, scheduler, lambda: False)
    assert seen == [True]


def test_before_its_id_is_written_and_without_slurm_none_is_superseded(tmp_path: Path) -> None:
    assert not is_superseded(str(tmp_path), Role.RUNTIME, OLD)
    write_jobs(str(tmp_path), {Role.RUNTIME: "local:12"})
    assert not is_superseded(str(tmp_path), Role.RUNTIME, "")


def test_what_cannot_be_started_again_is_said(tmp_path: Path) -> None:
    cluster = Cluster(
        {OLD: [State("")], TRAINER: [State("RUNNING")]}, refuses="sbatch refused: no jobs from compute nodes"
    )
    with pytest.raises(TrainError, match=r"this turn needs a runtime of its own, .*no jobs from compute nodes"):
        begin(half_done(tmp_path), cluster)


def test_one_that_does_not_end_is_not_doubled(tmp_path: Path) -> None:
    cluster = Cluster({OLD: [State("COMPLETING")], TRAINER: [State("RUNNING")]})
    with pytest.raises(TrainError, match=r"job 7, did not end within 90 s"):
        begin(half_done(tmp_path), cluster)


def test_one_that_is_told_to_end_meanwhile_starts_no_other(tmp_path: Path) -> None:
    cluster = Cluster({OLD: [State("RUNNING")], TRAINER: [State("RUNNING", limit_s=60)]})
    assert begin(half_done(tmp_path), cluster, stopped=True) == ""
    assert cluster.told == [f"cancel {OLD}"]
    assert read_jobs(str(tmp_path)) == {"trainer": TRAINER}
