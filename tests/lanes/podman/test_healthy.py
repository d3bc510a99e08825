"""A store with nothing wrong: no check says a word, and none leaves a trace."""

import pytest

from lanes.podman.lab import Lab
from skyrl_doctor.core.model import Status

pytestmark = pytest.mark.podman
CHECKS = ("POD001", "POD002", "POD003", "POD005", "POD006", "POD007", "POD008")


@pytest.mark.parametrize("check_id", CHECKS)
def test_is_silent_on_a_healthy_store(lab: Lab, check_id: str) -> None:
    lab.detached("one")
    outcome = lab.doctor(check_id)
    assert (outcome.status, outcome.findings, outcome.reason) == (Status.PASS, (), "")


def test_is_silent_on_a_store_with_cleanly_stopped_containers(lab: Lab) -> None:
    lab.detached("stopped")
    assert lab.podman("stop", "--time", "0", "stopped").returncode == 0
    lab.detached("ended", "true")
    lab.podman("wait", "ended")
    said = {check_id: lab.doctor(check_id) for check_id in CHECKS}
    assert {check_id: outcome.findings for check_id, outcome in said.items()} == dict.fromkeys(CHECKS, ())
    assert {outcome.status for outcome in said.values()} == {Status.PASS}


def test_leaves_no_trace_in_the_store(lab: Lab) -> None:
    lab.detached("one")
    before = lab.listing()
    for check_id in CHECKS:
        lab.doctor(check_id)
    assert lab.listing() == before
