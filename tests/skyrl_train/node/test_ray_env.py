"""How the variables of a run reach Ray's workers."""

from hypothesis import given
from hypothesis import strategies as st

from skyrl_train.node.ray_env import Need, fingerprints, missing, needs, unproven, worker_variables

URL, KEY = "SANDBOX_REMOTE_RUNTIME_API_URL", "SANDBOX_API_KEY"
JOB = {URL: "http://cpu1:8000", KEY: "k-123456", "PATH": "/bin", "HF_TOKEN": ""}


def test_workers_need_what_the_job_has_of_it() -> None:
    assert needs(JOB, ["MINE"]) == (
        Need("MINE", "[env] of the configuration", vital=True),
        Need(URL, "the clients of the sandbox runtime read it", vital=True),
        Need(KEY, "the clients of the sandbox runtime read it", vital=True),
    )
    assert needs({}, []) == ()


def test_what_they_inherit_is_not_handed_on_again() -> None:
    assert dict(worker_variables(JOB, {}, JOB)) == {}
    assert dict(worker_variables(JOB, {"MINE": "1"}, JOB)) == {"MINE": "1"}


def test_what_came_after_ray_was_started_is_handed_on() -> None:
    assert dict(worker_variables(JOB, {}, {"PATH": "/bin"})) == {URL: "http://cpu1:8000", KEY: "k-123456"}
    assert dict(worker_variables(JOB, {}, {**JOB, URL: "http://old"})) == {URL: "http://cpu1:8000"}


def test_the_configuration_counts_over_the_environment() -> None:
    assert dict(worker_variables(JOB, {URL: "http://other"}, JOB)) == {URL: "http://other"}


def test_secrets_are_not_shown() -> None:
    shown = repr(worker_variables(JOB, {}, {}))
    assert shown == f"Variables({URL}, {KEY})"
    assert "k-123456" not in f"{worker_variables(JOB, {}, {})}"


def test_what_no_worker_will_have() -> None:
    wanted = needs(JOB, [])
    assert missing(wanted, inherited=JOB, passed=()) == ()
    assert missing(wanted, inherited=(), passed=(URL, KEY)) == ()
    assert missing(wanted, inherited=(URL,), passed=()) == (
        Need(KEY, "the clients of the sandbox runtime read it", vital=True),
    )


def test_the_first_task_proves_it_without_telling_a_value() -> None:
    wanted = {URL: "http://cpu1:8000", KEY: "k-123456"}
    told = fingerprints({**wanted, "OTHER": "x"}, wanted, "salt")
    assert set(told) == {URL, KEY}
    assert "k-123456" not in str(told)
    assert unproven(wanted, told, "salt") == ()
    assert unproven(wanted, fingerprints({URL: "http://old"}, wanted, "salt"), "salt") == (
        f"{URL} has another value in Ray's workers",
        f"{KEY} did not reach Ray's workers",
    )


@given(st.dictionaries(st.sampled_from([URL, KEY, "A", "B"]), st.text(max_size=3)), st.booleans())
def test_every_need_is_inherited_or_handed_on(environ: dict[str, str], started_with_it: bool) -> None:
    inherited = environ if started_with_it else {}
    passed = worker_variables(environ, {"A": "1"}, inherited)
    worker = {**inherited, **passed}
    assert all(worker[need.name] == {**environ, "A": "1"}[need.name] for need in needs(environ, ["A"]))
    assert missing(needs(environ, ["A"]), inherited=inherited, passed=passed) == ()
