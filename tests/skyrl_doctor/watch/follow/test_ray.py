"""Which of Ray's sessions on a node are this job's."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from skyrl_doctor.watch.follow.follower import Follower
from skyrl_doctor.watch.follow.ray import MOST, sessions_of
from skyrl_doctor.watch.read.logs import Logs
from skyrl_train.launch.marks import MARK

LOST = (
    "[2026-03-02 09:14:03,350 I 28907 28914] (gcs_server) gcs_node_manager.cc:734: , death reason = UNEXPECTED_TERMINATION, "
    "death message = health check failed due to missing too many heartbeats node_id=b84e node_name=192.0.2.2\n"
)


@contextmanager
def starter(**environ: str) -> Iterator[int]:
    """A process of some job. Yields its number."""
    command = [sys.executable, "-c", "print(flush=True); input()"]
    with subprocess.Popen(command, env=environ, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        yield process.pid
        process.kill()


def session(base: Path, pid: int, number: int = 1) -> Path:
    logs = base / "ray" / f"session_2026-03-02_09-14-03_{number:06}_{pid}" / "logs"
    logs.mkdir(parents=True)
    return logs


def test_those_of_the_job_s_own_processes(tmp_path: Path) -> None:
    look = sessions_of({"RAY_TMPDIR": str(tmp_path), "SLURM_JOB_ID": "4711", MARK: "/j"})
    assert look() == []
    with starter(SLURM_JOB_ID="4711") as pid:
        ours = str(session(tmp_path, pid))
        assert look() == [ours]
    with starter(SLURM_JOB_ID="47110", **{MARK: "/j"}) as pid:
        session(tmp_path, pid)
        assert look() == [ours]  # its starter is gone, and it stays ours
    session(tmp_path, 4194305)
    assert look() == [ours]  # of a process that is gone nobody knows


def test_without_slurm_those_of_the_launch(tmp_path: Path) -> None:
    with starter(**{MARK: "/j"}) as pid:
        ours = str(session(tmp_path, pid))
        assert sessions_of({"TMPDIR": str(tmp_path), MARK: "/j"})() == [ours]
        assert sessions_of({"TMPDIR": str(tmp_path), MARK: "/other"})() == []
        assert sessions_of({"TMPDIR": str(tmp_path)})() == []


def test_there_is_an_end_to_sessions(tmp_path: Path) -> None:
    with starter(**{MARK: "/j"}) as pid:
        for number in range(MOST + 3):
            session(tmp_path, pid, number)
        assert len(sessions_of({"RAY_TMPDIR": str(tmp_path), MARK: "/j"})()) == MOST


def test_a_lost_node_is_read_where_ray_tells_of_it(tmp_path: Path) -> None:
    (tmp_path / "job").mkdir()
    logs = Logs()
    with starter(**{MARK: "/j"}) as pid:
        follower = Follower([str(tmp_path / "job")], more=sessions_of({"TMPDIR": str(tmp_path), MARK: "/j"}))
        assert list(follower.turn(0.0)) == []
        (session(tmp_path, pid) / "gcs_server.out").write_text(LOST, encoding="utf-8")
        seen = [one for lines in follower.turn(100.0) for one in logs.take(lines, 100.0)]
        follower.close()
    assert [(one.slug, one.cascade) for one in seen] == [("node-lost", True)]
