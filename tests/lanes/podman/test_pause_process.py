"""POD001 against real podman: the error of two users' first runs, made, found, healed."""

import os
import subprocess
from pathlib import Path

import pytest

from lanes.podman.lab import Lab, state_of, wait_until
from skyrl_doctor.core.model import Outcome, Status

pytestmark = pytest.mark.podman
MIGRATE = ("podman system migrate",)
CLEAN = Outcome(id="POD001", slug="pause-process-dead", status=Status.PASS)


def remedy_of(outcome: Outcome) -> tuple[str, ...]:
    (finding,) = outcome.findings
    assert finding.remedy is not None
    return finding.remedy.commands


def test_a_job_that_slurm_ended_leaves_a_namespace_that_nobody_holds(lab: Lab) -> None:
    lab.detached("rollout")
    lab.kill_all(reaped=True)
    found = lab.doctor("POD001")  # before podman takes the pid file away
    refused = lab.sandbox()
    assert (refused.returncode, "invalid internal status" in refused.stdout) == (1, True)
    again = lab.doctor("POD001")
    assert (remedy_of(found), remedy_of(again)) == (MIGRATE, MIGRATE)
    (finding,) = again.findings
    assert finding.message == (
        f"the store lists rollout as running, but {lab.pause_file} does not exist and no conmon is alive; expected a living process that holds Podman's namespace"
    )
    lab.heal(again)
    assert (lab.sandbox().returncode, lab.doctor("POD001")) == (0, CLEAN)


def test_the_dead_are_found_while_they_are_zombies(lab: Lab) -> None:
    lab.detached("rollout")
    lab.kill_all()
    found = lab.doctor("POD001")
    assert remedy_of(found) == MIGRATE
    assert lab.sandbox().returncode == 1
    lab.heal(found)
    assert (lab.sandbox().returncode, lab.doctor("POD001")) == (0, CLEAN)


def test_the_number_of_the_pause_process_is_another_ones_now(lab: Lab) -> None:
    lab.kill_all()
    stranger = lab.start(["sleep", "300"])
    lab.ends.append(lambda: (stranger.kill(), stranger.wait()))
    lab.pause_file.write_text(str(stranger.pid))
    found = lab.doctor("POD001")
    refused, migrated = lab.sandbox(), lab.podman("system", "migrate")
    assert (refused.returncode, "cannot set user namespace" in refused.stdout, migrated.returncode) == (1, True, 1)
    assert remedy_of(found) == (f"rm {lab.pause_file}",)
    lab.heal(found)
    assert (lab.sandbox().returncode, lab.doctor("POD001")) == (0, CLEAN)


def test_the_number_of_the_pause_process_is_one_in_a_namespace_of_its_own(lab: Lab) -> None:
    lab.kill_all()
    stranger = lab.start(["unshare", "--user", "--map-root-user", "sleep", "300"])
    lab.ends.append(lambda: (stranger.kill(), stranger.wait()))
    wait_until(lambda: os.readlink(f"/proc/{stranger.pid}/ns/user") != os.readlink("/proc/self/ns/user"))
    wait_until(lambda: Path(f"/proc/{stranger.pid}/comm").read_text() == "sleep\n")
    lab.pause_file.write_text(str(stranger.pid))
    found = lab.doctor("POD001")
    assert lab.sandbox().returncode == 1
    lab.heal(found)
    assert (lab.sandbox().returncode, lab.doctor("POD001")) == (0, CLEAN)


@pytest.mark.parametrize("text", ["1", "4194304", "abc", "", "-1", "99999999999999999999"])
def test_podman_mends_these_itself_and_the_doctor_is_silent(lab: Lab, text: str) -> None:
    """A dead pause process alone, another user's process, and no number at all."""
    lab.kill_all()
    lab.pause_file.write_text(text)
    assert (lab.doctor("POD001"), lab.sandbox().returncode) == (CLEAN, 0)


def test_a_dead_pause_process_beside_a_living_container_is_no_fault(lab: Lab) -> None:
    lab.detached("rollout")
    pid = lab.pids()[str(lab.pause_file)]
    os.kill(pid, 9)
    wait_until(lambda: state_of(pid) in ("", "Z"))
    assert (lab.doctor("POD001"), lab.sandbox().returncode) == (CLEAN, 0)


def test_a_zombie_pause_process_is_no_fault(lab: Lab) -> None:
    lab.kill_all()
    parent = subprocess.Popen(["sh", "-c", "sleep 0 & exec sleep 300"], preexec_fn=lab.user.become)
    lab.ends.append(lambda: (parent.kill(), parent.wait()))
    children = Path(f"/proc/{parent.pid}/task/{parent.pid}/children")
    wait_until(lambda: state_of(int(children.read_text().split()[0])) == "Z" if children.read_text() else False)
    lab.pause_file.write_text(children.read_text().split()[0])
    assert (lab.doctor("POD001"), lab.sandbox().returncode) == (CLEAN, 0)


def test_cleanly_stopped_containers_without_a_pause_process_are_no_fault(lab: Lab) -> None:
    lab.detached("stopped")
    assert lab.podman("stop", "--time", "0", "stopped").returncode == 0
    lab.kill_all()
    assert (lab.doctor("POD001"), lab.sandbox().returncode) == (CLEAN, 0)
