"""skyrl-doctor site-check on a real cluster: it passes what is installed, and finds what is not."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from lanes.slurm.hooks import Installed
from lanes.slurm.lab import GPU_PARTITION, wait_until

pytestmark = pytest.mark.slurm
ROOT = Path(__file__).parents[3]


def report(installed: Installed, *words: str, user: str = "root") -> tuple[int, dict[str, str]]:
    """The exit status, and the outcome of each subject."""
    command = (sys.executable, "-m", "skyrl_doctor", "site-check", "--user", user, *words)
    path = f"{installed.cluster.env['PYTHONPATH']}:{ROOT}"
    done = installed.cluster.run(*command, PYTHONPATH=path)
    lines = [line for line in done.stdout.splitlines() if not line.startswith(" ")]
    assert lines, done.stderr
    return done.returncode, {line[8:].partition(":")[0]: line[:8].strip() for line in lines}


@contextmanager
def changed(path: Path, text: str, mode: int = 0o755) -> Iterator[None]:
    before = path.read_text(), path.stat().st_mode & 0o777
    path.write_text(text)
    path.chmod(mode)
    try:
        yield
    finally:
        path.write_text(before[0])
        path.chmod(before[1])


def test_a_sound_installation_passes_with_jobs_of_each_kind(installed: Installed) -> None:
    status, outcomes = report(installed, "--gpu-partition", GPU_PARTITION)
    assert (status, set(outcomes.values())) == (0, {"PASS"}), outcomes
    jobs = {"ordinary job", "job that asks", "Epilog", "job of vLLM", "other GPU job", "GPU job that asks"}
    assert jobs - set(outcomes) == set()
    wait_until(lambda: not installed.cluster.jobs(), "no job of the check is left")


def test_a_task_prolog_that_users_cannot_start_is_found(installed: Installed) -> None:
    script = installed.at / "taskprolog.sh"
    with changed(script, script.read_text(), mode=0o700):
        status, outcomes = report(installed, "--no-jobs")
    assert (status, outcomes["TaskProlog"]) == (1, "FAIL")


def test_a_doctor_that_does_not_start_is_found_by_the_job_too(installed: Installed) -> None:
    with changed(installed.at / "doctor", "#!/nowhere/python\n"):
        status, outcomes = report(installed)
    assert (status, outcomes["DOCTOR"], outcomes["job that asks"]) == (1, "FAIL", "FAIL")
    assert outcomes["ordinary job"] == "PASS"


def test_a_python_that_users_may_not_read_is_found(installed: Installed) -> None:
    """As of a doctor that was installed below /root."""
    closed = installed.at / "closed"
    closed.mkdir(mode=0o700)
    (closed / "python").symlink_to(sys.executable)
    with changed(installed.at / "doctor", f"#!{closed}/python\nprint('skyrl-doctor 1')\n"):
        assert report(installed, "--no-jobs")[1]["DOCTOR"] == "PASS"
        status, outcomes = report(installed, "--no-jobs", user="nobody")
    assert (status, outcomes["DOCTOR"]) == (1, "FAIL")


def test_accounts_need_accounting(installed: Installed) -> None:
    """A job of this cluster has no account but the one that its user passes."""
    script = installed.at / "site.sh"
    with changed(script, f"{script.read_text()}GPU_ACCOUNTS=chem\n", mode=0o644):
        status, outcomes = report(installed, "--no-jobs")
    assert (status, outcomes["accounts"]) == (1, "FAIL")
    account = ("srun", "printenv", "SLURM_JOB_ACCOUNT")
    assert installed.cluster.run(*account).stdout == ""
    assert installed.cluster.run("srun", "--account=chem", *account[1:]).stdout == "chem\n"


def test_what_slurm_cannot_find_is_found(installed: Installed) -> None:
    """The filter beside slurm.conf is gone, and slurmctld refuses all jobs: no job is run."""
    kept = installed.cluster.base / "job_submit.lua"
    text, mode = kept.read_text(), kept.stat().st_mode
    kept.unlink()
    try:
        status, outcomes = report(installed, "--no-jobs")
    finally:
        kept.write_text(text)
        kept.chmod(mode)
    assert (status, outcomes["job_submit.lua"]) == (1, "FAIL")


def test_scripts_that_serve_jobs_which_did_not_ask_are_found(installed: Installed) -> None:
    with changed(installed.at / "taskprolog.sh", "#!/bin/sh\necho export SKYRL_DOCTOR_SET=1\n"):
        _, outcomes = report(installed)
    assert outcomes["ordinary job"] == "FAIL"


def test_a_cluster_without_the_scripts_is_refused(installed: Installed) -> None:
    with installed.without_hooks():
        path = installed.cluster.base / "slurm.conf"
        text = path.read_text()
        path.write_text(text.replace("HealthCheckProgram=", "#HealthCheckProgram="))
        assert installed.cluster.run("scontrol", "reconfigure").returncode == 0
        try:
            assert report(installed, "--no-jobs") == (1, {"slurm.conf": "FAIL"})
        finally:
            path.write_text(text)
