"""The words of the runtime API, held against what the real client does with them (RUN004)."""

import pytest

from skyrl_train.contracts.sandbox.wire import (
    SESSION_KEY_HEADER,
    TERMINAL_POD_STATUSES,
    PodStatus,
    Session,
    State,
    Status,
    pod_status_of,
    status_of,
)


@pytest.mark.parametrize(
    ("state", "status", "pod_status"),
    [
        (State.QUEUED, "running", "pending"),
        (State.PULLING, "running", "pending"),
        (State.BUILDING, "running", "pending"),
        (State.STARTING, "running", "running"),
        (State.READY, "running", "ready"),
        (State.PAUSED, "paused", "pending"),
        (State.FAILED, "stopped", "failed"),
        (State.STOPPED, "stopped", "failed"),
    ],
)
def test_every_state_has_its_two_words(state: State, status: str, pod_status: str) -> None:
    assert (status_of(state).value, pod_status_of(state).value) == (status, pod_status)


def test_only_ready_ends_a_clients_wait_and_only_an_end_ends_its_hope() -> None:
    assert [state for state in State if pod_status_of(state) is PodStatus.READY] == [State.READY]
    ended = {state for state in State if pod_status_of(state) in TERMINAL_POD_STATUSES}
    assert ended == {State.FAILED, State.STOPPED}
    assert {state for state in State if status_of(state) is Status.STOPPED} == ended


@pytest.mark.parametrize("state", State)
def test_what_clients_call_methods_on_is_there_in_every_state(state: State) -> None:
    told = Session(session_id="s", runtime_id="r", url="http://h:1", state=state).to_json()
    assert {key: type(value) for key, value in told.items() if key != "session_api_key"} == {
        "session_id": str,
        "runtime_id": str,
        "id": str,
        "url": str,
        "status": str,
        "pod_status": str,
        "state": str,
        "container_statuses": list,
        "events": list,
        "restart_count": int,
        "restart_reasons": list,
        "pod_logs": str,
        "work_hosts": dict,
    }
    assert SESSION_KEY_HEADER == "X-Session-API-Key"
