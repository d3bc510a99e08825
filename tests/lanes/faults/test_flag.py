"""A flag that an earlier run left in the job's directory: of the faults that end a run, the one that needs no training."""

import pytest

from lanes.e2e.whole import Whole
from lanes.faults.ends import ends_with
from lanes.faults.refusals import REFUSED, never_trained, refused_at_login, tells
from lanes.ports import held_ports
from skyrl_train.contracts.job_files import READY, URL

pytestmark = pytest.mark.e2e
PUBLISHES = "echo {url} > {job}/{name}; touch {job}/{flag}; exec sleep 3600"
"""As one that was killed leaves them; it never listens."""


def test_a_flag_in_the_directory_of_a_launch(whole: Whole) -> None:
    whole.job.mkdir()
    (whole.job / READY).write_text("ready\n")
    whole.launch(whole.config(steps=1))
    refused_at_login(whole, "SLM004", READY, "earlier launch", str(whole.job), "--job-dir", status=2)
    assert [path.name for path in whole.job.iterdir()] == [READY]


def test_a_flag_whose_runtime_is_gone(whole: Whole) -> None:
    """The trainer's own gate looks once more: a runtime may be killed between its flag and the trainer's start."""
    with held_ports(1) as (port,):  # bound, and nobody listens there
        url = f"http://127.0.0.1:{port}"
        gone = PUBLISHES.format(url=url, job=whole.job, name=URL, flag=READY)
        whole.launch(whole.config(steps=1), "--runtime-command", f"bash -c '{gone}'")
        assert whole.status == 0, whole.said
        ended = ends_with(whole, "SLM004", status=REFUSED)
    tells(
        ended.reason, f"SLM004 {whole.job / READY}", url, "no process listens", "earlier run", f"rm {whole.job / READY}"
    )
    never_trained(whole)
    shown = whole.cluster.run(*whole.skyrl_train("status", str(whole.job))).stdout
    tells(shown, "gate: SLM004", "doctor:   SLM004", "both jobs have ended")
