"""The scripts of contrib/slurm with a doctor and a scontrol of our own; the slurm lane runs them under a real Slurm."""

import os
import shutil
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from contrib.site_node import ROOT, SCRIPTS, Node, directory, job
from scripts import SHELLCHECK, complaints
from skyrl_train.launch.marks import marked
from skyrl_train.process import wait_until

ERROR = "::error title=GPU003 gpu-memory-taken::somebody holds 3 GiB, wanted none%0Afix: kill it"
PASS = "skyrl-doctor: pass (1 passed)"
OURS = {"SLURM_JOB_PARTITION": "rl", "SLURM_JOB_GPUS": "0"}
# scontrol, as far as the health check calls it: the node is a file, and an update is kept in it with a time.
SCONTROL = """#!/bin/sh
at=$(dirname "$0")/node
case "$*" in
  *"show node"*) cat "$at" ;;
  *State=DRAIN*) printf 'NodeName=n1 State=IDLE+DRAIN X=1 Reason=%s [root@now]\\n' "${4#Reason=}" >"$at" ;;
  *State=UNDRAIN*) printf 'NodeName=n1 State=IDLE X=1\\n' >"$at" ;;
esac
echo "$*" >>"$at.told"
"""
DOCTOR = 'cd "$(dirname "$0")"; echo "$5" >>asked; cat said; exit $(cat status)'
IDLE = "NodeName=n1 State=IDLE X=1\n"


def test_they_are_clean_for_any_shell() -> None:
    assert SCRIPTS == ["common.sh", "epilog.sh", "healthcheck.sh", "prolog.sh", "taskprolog.sh"]
    for name in (*SCRIPTS, "site.sh.example"):
        assert subprocess.run(["sh", "-n", str(ROOT / name)], check=False).returncode == 0
    assert complaints([SHELLCHECK, "-x", *SCRIPTS, "site.sh.example"], ROOT) == ""


def test_each_file_says_what_it_is_for_and_can_be_run() -> None:
    for name in SCRIPTS:
        assert os.access(ROOT / name, os.X_OK) == (name != "common.sh")


@pytest.mark.parametrize(
    "text", ["echo export HALF=1; exit 2", "echo export HALF=1; kill -SEGV $$", "echo export HALF=1; sleep 600", None]
)
@pytest.mark.parametrize("script", ["taskprolog.sh", "prolog.sh", "epilog.sh", "healthcheck.sh"])
def test_whatever_becomes_of_the_doctor_they_say_yes(node: Node, script: str, text: str | None) -> None:
    doctor = str(node.at / "absent") if text is None else node.program("doctor", text)
    limits = "\n".join(f"{name}_LIMIT_S=1" for name in ("TASKPROLOG", "PROLOG", "EPILOG", "HEALTH"))
    node.settings(f"DOCTOR={doctor}\nTRAIN={doctor}\nGPU_PARTITIONS=rl\n{limits}")
    began = time.monotonic()
    with job(SKYRL_DOCTOR_ENV="gpu", **OURS) as variables:
        directory(variables["SLURM_JOB_ID"]).mkdir()
        done = node.run(script, **variables)
    assert (done.returncode, done.stdout) == (0, "")
    assert time.monotonic() - began < 200


@pytest.mark.parametrize("shell", ["sh", "bash", "dash"])
def test_what_hangs_is_ended_with_all_that_it_started(shell: str, tmp_path: Path) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"no {shell} here")
    hangs = "trap '' TERM; sleep 60 & sleep 600"
    text = f'here={ROOT}; . "$here/common.sh"; limited 1 sh -c "{hangs}"; echo $?'
    env = {"PATH": os.environ["PATH"], "HANGS_IN": str(tmp_path)}
    done = subprocess.run([shell, "-c", text], env=env, capture_output=True, text=True, timeout=300, check=False)
    assert done.stdout == "124\n"
    assert wait_until(lambda: not marked({"HANGS_IN": str(tmp_path)}), 5)


@pytest.mark.parametrize("broken", ["if", "exit 3", ". /nowhere", "false"])
@pytest.mark.parametrize("script", ["taskprolog.sh", "prolog.sh", "epilog.sh", "healthcheck.sh"])
def test_nor_does_a_broken_setting_of_the_site_stop_a_job(node: Node, script: str, broken: str) -> None:
    node.settings(f"DOCTOR=false\nTRAIN=false\n{broken}")
    assert node.run(script).returncode == 0
    (node.at / "common.sh").unlink()
    assert node.run(script).returncode == 0


def test_a_prolog_logs_what_it_saw(node: Node) -> None:
    node.settings(f"GPU_PARTITIONS=rl\nDOCTOR={node.program('doctor', f'echo {ERROR!r}; exit 1')}")
    done = node.run("prolog.sh", SLURM_JOB_ID="77", **OURS)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    first, second = node.log("prolog.log").splitlines()
    assert (first.split(" ", 1)[1], second) == ("job=77 node=n1 status=1", ERROR)


def test_a_prolog_that_hangs_is_noted(node: Node) -> None:
    node.settings(f"GPU_PARTITIONS=rl\nPROLOG_LIMIT_S=1\nDOCTOR={node.program('doctor', 'sleep 60')}")
    node.run("prolog.sh", SLURM_JOB_ID="77", **OURS)
    assert "job=77 timed out" in node.log("prolog.log")


@pytest.mark.parametrize("environ", [{}, {"SLURM_JOB_PARTITION": "rl"}, {"SLURM_JOB_GPUS": "0"}])
def test_a_job_that_the_site_does_not_name_waits_for_no_check(node: Node, environ: dict[str, str]) -> None:
    node.settings(f"GPU_PARTITIONS=rl\nDOCTOR={node.program('doctor', 'exit 1')}")
    assert node.run("prolog.sh", SLURM_JOB_ID="77", **environ).returncode == 0
    assert node.log("prolog.log") == ""


def test_an_epilog_sweeps_the_job_of_its_user(node: Node) -> None:
    node.settings(f"SCRATCH='/tmp /local'\nTRAIN={node.program('train', 'echo $SLURM_SCRIPT_CONTEXT: $*')}")
    with job() as variables:
        directory(variables["SLURM_JOB_ID"]).mkdir()
        assert node.run("epilog.sh", **variables).returncode == 0
    words = f"sweep {variables['SLURM_JOB_ID']} --over --uid {os.getuid()} --base /tmp --base /local"
    assert node.log("epilog.log").splitlines()[1] == f"epilog_slurmd: {words}"
    assert node.run("epilog.sh").returncode == 0
    assert len(node.log("epilog.log").splitlines()) == 2


@pytest.mark.parametrize("name", ["skyrl-{uid}-{job}", "skyrl-{uid}-{job}-2"])
def test_an_epilog_finds_the_jobs_that_have_a_directory(node: Node, name: str) -> None:
    (node.at / "scratch").mkdir()
    node.settings(f"SCRATCH={node.at}/scratch\nTRAIN={node.program('train', 'echo swept')}")
    (node.at / "scratch" / name.format(uid=1000, job=77)).mkdir()
    for job_id, swept in (("7", 0), ("770", 0), ("77", 1)):
        node.run("epilog.sh", SLURM_JOB_ID=job_id, SLURM_JOB_UID="1000")
        assert node.log("epilog.log").count("swept") == swept


@dataclass
class Health:
    """A node whose health check has looked; the doctor says what the test says."""

    node: Node

    def __post_init__(self) -> None:
        self.node.settings(
            f"DOCTOR={self.node.program('doctor', DOCTOR)}\ncd {self.node.at}\nHEALTH_CHECKS=GPU003,ENV008"
        )
        self.node.program("scontrol", SCONTROL)
        self.is_now(IDLE)

    def is_now(self, text: str) -> None:
        (self.node.at / "node").write_text(text)

    def looks(self, status: int, said: str = "") -> str:
        """What Slurm has about the node after one more look."""
        (self.node.at / "said").write_text(f"{said or PASS}\n")
        (self.node.at / "status").write_text(str(status))
        assert self.node.run("healthcheck.sh", "look").returncode == 0
        return (self.node.at / "node").read_text()


@pytest.fixture
def health(node: Node) -> Health:
    return Health(node)


DRAINED = (
    "NodeName=n1 State=IDLE+DRAIN X=1 Reason=skyrl-doctor: GPU003 gpu-memory-taken somebody holds 3 GiB, wanted none "
)


def test_an_error_that_two_looks_found_drains_and_its_end_sets_free(health: Health) -> None:
    assert health.looks(1, ERROR) == IDLE
    assert health.looks(1, ERROR) == f"{DRAINED}[root@now]\n"
    assert health.looks(1, ERROR) == f"{DRAINED}[root@now]\n"
    assert health.looks(0) == IDLE
    assert health.node.log("health.log").count("\n") == 2


def test_two_different_errors_are_not_one_that_lasts(health: Health) -> None:
    health.looks(1, ERROR)
    assert health.looks(1, ERROR.replace("GPU003", "GPU001")) == IDLE


@pytest.mark.parametrize("status", [3, 127])
def test_what_could_not_be_looked_at_changes_nothing(health: Health, status: int) -> None:
    assert [health.looks(status, ERROR) for _ in range(2)] == [IDLE, IDLE]
    assert [health.looks(1, ERROR), health.looks(status), health.looks(1, ERROR)] == [IDLE] * 3  # no two in a row
    drained = health.looks(1, ERROR)
    assert health.looks(status) == drained != IDLE


def test_a_check_that_no_longer_looks_sets_nothing_free(health: Health) -> None:
    """Such as one of a GPU that is gone."""
    health.looks(1, ERROR)
    drained = health.looks(1, ERROR)
    assert health.looks(0, PASS.replace("1 passed", "1 skipped")) == drained != IDLE
    assert health.looks(0) == IDLE
    assert (health.node.at / "asked").read_text().splitlines()[-2:] == ["GPU003,ENV008", "GPU003"]


@pytest.mark.parametrize(
    ("counts", "is_freed"),
    [
        ("1 passed", True),
        ("2 warnings", True),
        ("1 passed, 1 warning, 3 infos", True),
        ("1 passed, 1 skipped", False),
        ("1 passed, 1 unknown", False),
        ("no checks", False),
    ],
)
def test_only_a_report_in_which_every_check_ran_sets_a_node_free(
    health: Health, counts: str, *, is_freed: bool
) -> None:
    health.looks(1, ERROR)
    drained = health.looks(1, ERROR)
    assert health.looks(0, PASS.replace("1 passed", counts)) == (IDLE if is_freed else drained)


def test_what_the_doctor_passes_or_only_notes_drains_nothing(health: Health) -> None:
    unknown = "::warning title=GPU001 mig-uuid::unknown: nvidia-smi did not answer within 5 s"
    note = ERROR.replace("error", "notice")
    for status, said in ((0, ERROR), (1, f"{unknown}\n{note}")):
        assert [health.looks(status, said) for _ in range(2)] == [IDLE, IDLE]


@pytest.mark.parametrize(
    "admins",
    [
        "NodeName=n1 State=IDLE+DRAIN X=1 Reason=fan broken [admin@now]\n",
        f"{DRAINED}[admin@later]\n",
        f"{DRAINED.strip()}, do not touch [root@now]\n",
        "NodeName=n1 State=DOWN* X=1 Reason=Not responding [slurm@now]\n",
    ],
)
def test_a_node_of_the_admins_is_left_alone(health: Health, admins: str) -> None:
    """Drained before, drained again with the same words, or with a note that was changed."""
    health.looks(1, ERROR)
    health.looks(1, ERROR)
    health.is_now(admins)
    assert health.looks(0) == admins
    assert [health.looks(1, ERROR), health.looks(1, ERROR)] == [admins, admins]
    assert health.looks(0) == admins


def test_a_node_that_an_admin_set_free_may_be_drained_again(health: Health) -> None:
    health.looks(1, ERROR)
    health.looks(1, ERROR)
    health.is_now(IDLE)
    assert health.looks(1, ERROR) == f"{DRAINED}[root@now]\n"


def test_it_answers_at_once_with_what_was_seen_last(health: Health) -> None:
    assert health.node.run("healthcheck.sh").stdout == ""
    last = health.node.at / "state" / "n1" / "last"
    wait_until(last.exists, 20)
    health.node.program("doctor", "sleep 20")
    health.node.settings(f"DOCTOR={health.node.at}/doctor\nHEALTH_LIMIT_S=1")
    last.write_text("seen status=0\n")
    assert health.node.run("healthcheck.sh").stdout == "seen status=0\n"
    assert wait_until(lambda: "status=124" in last.read_text(), 20)


def test_one_look_at_a_time(health: Health) -> None:
    held = health.node.at / "state" / "n1" / "lock"
    held.parent.mkdir(parents=True)
    with subprocess.Popen(["flock", str(held), "cat"], stdin=subprocess.PIPE) as holder:
        while subprocess.run(["flock", "-n", str(held), "true"], check=False).returncode == 0:
            pass
        assert [health.looks(1, ERROR), health.looks(1, ERROR)] == [IDLE, IDLE]
        assert not (held.parent / "last").exists()
        holder.communicate()


def test_a_controller_that_hangs_changes_nothing(health: Health) -> None:
    health.node.program("scontrol", "sleep 600")
    with (health.node.at / "site.sh").open("a") as file:
        file.write("SCONTROL_LIMIT_S=1\n")
    assert [health.looks(1, ERROR), health.looks(1, ERROR)] == [IDLE, IDLE]
