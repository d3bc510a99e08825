"""The doctor's look at a node: with the node's settings, of which nothing is left whichever way it ends."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from skyrl_train.config.load import parse, resolved
from skyrl_train.launch import commands

JOB = str(11 * 10**8 + os.getpid())


def look(at: Path, *words: str) -> "subprocess.Popen[str]":
    job_dir = at / "job"
    job_dir.mkdir()
    commands.write(str(job_dir), commands.Commands(runtime=(), trainer=("true",), runtime_url="http://x"))
    (job_dir / "config.json").write_text(resolved(parse('[model]\npath = "a/b"\n')))
    made = at / f"skyrl-{os.getuid()}-{JOB}"
    (job_dir / "trainer_node.sh").write_text(f'mkdir {made}; export MADE={made}; exec "$@"\n')
    line = (sys.executable, "-m", "skyrl_train", "job", "look", str(job_dir), *words)
    environ = {**os.environ, "SLURM_JOB_ID": JOB, "TMPDIR": str(at)}
    return subprocess.Popen(line, env=environ, stdout=subprocess.PIPE, text=True, start_new_session=True)


@pytest.mark.parametrize(("ends", "status"), [("exit 3", 3), ("kill -9 $$", 1), ("kill $PPID; sleep 600", 1)])
def test_the_doctor_has_the_settings_and_they_go_with_it(ends: str, status: int, tmp_path: Path) -> None:
    """The last of the ends is what Slurm does to a job that is cancelled."""
    with look(tmp_path, "/bin/bash", "-c", f"ls -d $MADE; {ends}") as looked:
        said, _ = looked.communicate(timeout=300)
    made = tmp_path / f"skyrl-{os.getuid()}-{JOB}"
    assert (said, looked.returncode, made.exists()) == (f"{made}\n", status, False)
