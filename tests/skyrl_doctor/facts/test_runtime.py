"""What the canary said, and the URL of a job."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skyrl_doctor.core.errors import CouldNotLook, NotApplicable
from skyrl_doctor.facts.environ import Environ
from skyrl_doctor.facts.runtime import (
    MOST_SANDBOXES,
    Canary,
    RuntimePlace,
    RuntimeUrls,
    UrlSource,
    parse_canary,
    planned_sandboxes,
    runtime_place,
    runtime_urls,
)
from skyrl_doctor.machine.recorded import RecordedMachine
from skyrl_doctor.plan.model import Plan
from skyrl_train.contracts.job_files import one_url
from skyrl_train.sandbox.client.canary import CanaryResult
from support import plan_of

SEEN = {
    "asked": 2,
    "worked": 1,
    "failures": [["RUN010", "503"]],
    "start_s": [0.5],
    "command_s": [0.01],
    "has_key": True,
    "server_version": "1.58.0",
    "wrong_key_refused": None,
    "left": 0,
}


def test_reads_what_the_canary_prints() -> None:
    canary = parse_canary(json.dumps(SEEN))
    assert canary == Canary(
        asked=2, worked=1, failures=(("RUN010", "503"),), start_s=(0.5,), has_key=True, server_version="1.58.0"
    )
    assert (canary.of("RUN010"), canary.of("RUN001"), canary.slowest_s) == (("503",), (), 0.5)
    assert set(SEEN) == set(CanaryResult.__dataclass_fields__)


@pytest.mark.parametrize("text", ["", "{}", '{"why": "no httpx"}', json.dumps({**SEEN, "start_s": ["x"]})])
def test_no_sighting_is_never_a_good_one(text: str) -> None:
    with pytest.raises(CouldNotLook):
        parse_canary(text)


@given(st.dictionaries(st.sampled_from(list(SEEN)), st.none() | st.integers() | st.text() | st.lists(st.text())))
def test_any_answer_is_read_or_refused(answer: dict[str, object]) -> None:
    with pytest.raises(CouldNotLook):
        parse_canary(json.dumps({**answer, "failures": 3}))


@given(st.text())
def test_a_url_is_one_line(text: str) -> None:
    url = one_url(text)
    assert url is None or (url in text and len(url.split()) == 1 and url.startswith("http"))


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
    assert urls(environ, plan_of(sandbox__runtime_url="http://plan:1")).sources == (
        UrlSource("sandbox.runtime_url", "http://plan:1"),
        UrlSource("/job/runtime_url.txt", "http://job:1\n"),
        UrlSource("$SANDBOX_REMOTE_RUNTIME_API_URL", "http://env:1"),
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
        return runtime_place(machine, RuntimeUrls((UrlSource("x", "http://n:1/\n"),)), Environ(environ))

    assert place() == RuntimePlace(url="http://n:1", source="x")
    assert place(ALLHANDS_API_KEY="k").key_from == "env ALLHANDS_API_KEY"
    assert place(SKYRL_JOB_DIR="/job", ALLHANDS_API_KEY=" ").key_from == ""
    with pytest.raises(CouldNotLook, match=r"\(SLM004\)$"):
        runtime_place(machine, RuntimeUrls((UrlSource("x", "log\nhttp://n:1"),)), Environ({}))


@pytest.mark.parametrize(
    ("values", "count"),
    [
        ({}, 1),
        ({"agent__max_parallel": 7}, 7),
        ({"data__train_batch_size": 2, "rollout__n": 4}, 8),
        ({"data__train_batch_size": 2, "rollout__n": 4, "agent__max_parallel": 3}, 3),
        ({"agent__max_parallel": 500}, MOST_SANDBOXES),
        ({"agent__max_parallel": 0}, 1),
    ],
)
def test_as_many_as_the_run_has_at_once(values: dict[str, object], count: int) -> None:
    assert planned_sandboxes(plan_of(**values)) == count
