"""The body of POST /start: read whole, or refused with the field that is wrong."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skyrl_train.sandbox.start_request import RequestError, StartRequest, is_session_id, read_start

CLIENT_1_58 = {
    "image": "docker.io/namanjain12/pandas_final:0123abc",
    "command": "/usr/local/bin/openhands-agent-server --port 60000",
    "working_dir": "/",
    "environment": {"LANG": "C.UTF-8"},
    "session_id": "agent-server-8f7c0d3e-5a51-4f6f-9a2e-0d5f6f0c1b2a",
    "run_as_user": 10001,
    "fs_group": 10001,
    "image_pull_policy": "IfNotPresent",
    "runtime_class": "sysbox-runc",
    "resource_factor": 2,
}


def test_what_the_real_client_sends() -> None:
    assert read_start(CLIENT_1_58) == StartRequest(
        image="docker.io/namanjain12/pandas_final:0123abc",
        session_id="agent-server-8f7c0d3e-5a51-4f6f-9a2e-0d5f6f0c1b2a",
        command=("/usr/local/bin/openhands-agent-server", "--port", "60000"),
        working_dir="/",
        environment={"LANG": "C.UTF-8"},
        image_pull_policy="IfNotPresent",
        resource_factor=2,
    )


def test_older_clients_send_a_list_and_less() -> None:
    told = {"image": "a/bc", "session_id": "s", "command": ["a", "b c"], "working_dir": "/openhands/code/"}
    assert read_start(told) == StartRequest(
        image="a/bc", session_id="s", command=("a", "b c"), working_dir="/openhands/code/", environment={}
    )


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("image", None), ("image", ""), ("image", "d"), ("image", ["docker.io/a/b"]), ("image", "--privileged"),
        ("image", "a b"), ("image", "docker.io/a/../b"), ("image", "x" * 600), ("image", "docker.io/docker.io/a/b"),
        ("session_id", None), ("session_id", ""), ("session_id", "../etc"), ("session_id", "a/b"), ("session_id", ".."),
        ("session_id", "a..b"), ("session_id", "a\nb"), ("session_id", "a" * 129), ("session_id", "-rf"),
        ("session_id", "é"), ("session_id", 7),
        ("command", 7), ("command", "a 'b"), ("command", ["a", 7]), ("command", "a\0b"), ("command", {"a": "b"}),
        ("working_dir", "testbed"), ("working_dir", "/a/../b"), ("working_dir", 7), ("working_dir", "/a\0"),
        ("environment", []), ("environment", {"A B": "c"}), ("environment", {"A": 1}), ("environment", {"A": "\0"}),
        ("environment", {"": "x"}), ("environment", {"A=B": "x"}),
        ("image_pull_policy", "Sometimes"), ("image_pull_policy", 1), ("image_pull_policy", ["Always"]),
        ("resource_factor", 3), ("resource_factor", 0), ("resource_factor", True), ("resource_factor", "2"),
        ("resource_factor", float("nan")),
    ],
)  # fmt: skip
def test_a_field_that_cannot_be_used_is_named(field: str, value: object) -> None:
    with pytest.raises(RequestError) as refused:
        read_start({**CLIENT_1_58, field: value})
    assert refused.value.field == field
    assert str(refused.value).startswith(f"{field}: ")
    assert len(str(refused.value)) < 400


@pytest.mark.parametrize("body", [None, [], "x", 7])
def test_a_body_that_is_no_object_is_refused(body: object) -> None:
    with pytest.raises(RequestError, match=r"^body: expected a JSON object"):
        read_start(body)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
)


@given(st.dictionaries(st.sampled_from(sorted(CLIENT_1_58)), JSON))
def test_no_body_is_half_understood(changes: dict[str, object]) -> None:
    try:
        request = read_start({**CLIENT_1_58, **changes})
    except RequestError:
        return
    assert is_session_id(request.session_id)
    assert request.working_dir.startswith("/")


@given(st.text())
def test_a_session_id_is_a_name_of_one_file(text: str) -> None:
    if is_session_id(text):
        assert "/" not in text
        assert text not in (".", "..")
        assert text.isascii()


def test_a_command_that_takes_seconds_to_split_is_refused() -> None:
    """The server would stand still for every client meanwhile."""
    body = {"image": "localhost/box:latest", "session_id": "s1"}
    assert len(read_start({**body, "command": "a " * 1000}).command) == 1000
    with pytest.raises(RequestError, match="at most 65536 characters, found 400000; send a list of words"):
        read_start({**body, "command": "a " * 200_000})
