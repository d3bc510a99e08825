"""Which runtime is meant, and how many sandboxes are tried."""

import pytest

from skyrl_doctor.core.errors import CouldNotLook, NotApplicable
from skyrl_doctor.facts.environ import Environ
from skyrl_doctor.facts.runtime import RuntimePlace, RuntimeUrls, SaidUrl
from skyrl_doctor.machine.recorded import RecordedMachine
from skyrl_doctor.plan.model import Plan
from skyrl_doctor.probes.runtime import MOST, planned, runtime_place, runtime_urls
from support import plan_of

KEYLESS = {"stat /job/runtime_api_key.txt": {"absent": "/job/runtime_api_key.txt"}}
READY = {
    "stat /job/runtime_ready.flag": {
        "kind": "file",
        "mode": 0o644,
        "uid": 1,
        "gid": 1,
        "size": 1,
        "mtime": 0,
        "device": 1,
        "inode": 1,
    },
    "read /job/runtime_url.txt": ["http://job:1", ""],
    **KEYLESS,
}


def urls(environ: dict[str, str], plan: Plan | None = None, **answers: object) -> RuntimeUrls:
    machine = RecordedMachine({**READY, **answers}, strict=True)
    return runtime_urls(machine, plan or Plan(), Environ(environ))


def test_the_configuration_comes_before_the_job_and_the_environment() -> None:
    environ = {"SKYRL_JOB_DIR": "/job/", "SANDBOX_REMOTE_RUNTIME_API_URL": "http://env:1"}
    assert urls(environ, plan_of(sandbox__runtime_url="http://plan:1")).said == (
        SaidUrl("sandbox.runtime_url", "http://plan:1"),
        SaidUrl("/job/runtime_url.txt", "http://job:1\n"),
        SaidUrl("$SANDBOX_REMOTE_RUNTIME_API_URL", "http://env:1"),
    )


def test_a_runtime_that_is_not_ready_is_none() -> None:
    gone = {"stat /job/runtime_ready.flag": {"absent": "/job/runtime_ready.flag"}}
    with pytest.raises(NotApplicable):
        urls({"SKYRL_JOB_DIR": "/job"}, **gone)
    with pytest.raises(NotApplicable):
        urls({})


def test_where_the_key_is_from() -> None:
    machine = RecordedMachine(READY, strict=True)

    def place(**environ: str) -> RuntimePlace:
        return runtime_place(machine, RuntimeUrls((SaidUrl("x", "http://n:1/\n"),)), Environ(environ))

    assert place() == RuntimePlace(url="http://n:1", said_by="x")
    assert place(ALLHANDS_API_KEY="k").key_from == "env ALLHANDS_API_KEY"
    assert place(SKYRL_JOB_DIR="/job", ALLHANDS_API_KEY=" ").key_from == ""
    with pytest.raises(CouldNotLook, match=r"\(SLM004\)$"):
        runtime_place(machine, RuntimeUrls((SaidUrl("x", "log\nhttp://n:1"),)), Environ({}))


@pytest.mark.parametrize(
    ("values", "count"),
    [
        ({}, 1),
        ({"agent__max_parallel": 7}, 7),
        ({"data__train_batch_size": 2, "rollout__n": 4}, 8),
        ({"data__train_batch_size": 2, "rollout__n": 4, "agent__max_parallel": 3}, 3),
        ({"agent__max_parallel": 500}, MOST),
        ({"agent__max_parallel": 0}, 1),
    ],
)
def test_as_many_as_the_run_has_at_once(values: dict[str, object], count: int) -> None:
    assert planned(plan_of(**values)) == count
