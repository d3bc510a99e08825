"""Commands, run by a real sandboxd."""

import os
import signal
import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from sandboxd_process import KEY, Sandboxd, running
from skyrl_train.contracts.sandboxd_api import ALLOCATOR
from skyrl_train.procfs import stat_of


def told(answer: dict[str, object]) -> tuple[object, object, object]:
    return answer["exit_code"], answer["stdout"], answer["stderr"]


def descriptors(sandboxd: Sandboxd) -> int:
    return len(list(Path(f"/proc/{sandboxd.process.pid}/fd").iterdir()))


@pytest.mark.parametrize(
    ("command", "wanted"),
    [
        ("echo out; echo err >&2; exit 3", (3, "out\n", "err\n")),
        ("true", (0, None, None)),
        ("kill -9 $$", (-9, None, None)),
        ("no-such-program", (127, None, "/bin/bash: line 1: no-such-program: command not found\n")),
        ("source /dev/null && [[ a == a ]] && a=(1 2) && echo ${a[1]}", (0, "2\n", None)),
        ("printf '\\xff\\x00\\xc3\\xa9'", (0, "\ufffd\0é", None)),
        ("cat", (0, None, None)),
        ("ulimit -c 0; echo é", (0, "é\n", None)),
    ],
)
def test_a_command_gives_its_output_and_its_exit_code(
    sandboxd: Sandboxd, command: str, wanted: tuple[object, ...]
) -> None:
    answer = sandboxd.execute(command)
    assert told(answer) == wanted
    assert set(answer) == {"id", "timestamp", "command_id", "order", "exit_code", "stdout", "stderr", "kind"}
    assert (answer["kind"], answer["order"]) == ("BashOutput", 0)


def test_it_runs_where_it_is_told(sandboxd: Sandboxd, tmp_path: Path) -> None:
    assert told(sandboxd.execute("pwd", cwd=str(tmp_path))) == (0, f"{tmp_path}\n", None)


def test_a_directory_that_is_not_there_is_the_answer(sandboxd: Sandboxd) -> None:
    said = "Error executing command: [Errno 2] No such file or directory: '/no/such/place'"
    assert told(sandboxd.execute("pwd", cwd="/no/such/place")) == (-1, None, said)


@pytest.mark.parametrize("command", ["a\0b", "x" * 200_000])
def test_what_the_system_does_not_take_is_the_answer(sandboxd: Sandboxd, command: str) -> None:
    exit_code, stdout, stderr = told(sandboxd.execute(command))
    assert (exit_code, stdout) == (-1, None)
    assert str(stderr).startswith("Error executing command: ")


def test_commands_know_nothing_of_our_keys_and_our_locale(tmp_path: Path) -> None:
    env = {"PATH": os.environ["PATH"], "OTHER": "x", "OH_SESSION_API_KEYS_0": KEY, "OH_SESSION_API_KEYS_1": "second"}
    with running(tmp_path, env={**env, "SESSION_API_KEY": "third"}) as sandboxd:
        _, stdout, _ = told(sandboxd.execute("env"))
    names = {line.partition("=")[0] for line in str(stdout).splitlines()}
    assert names - {"PWD", "SHLVL", "_", "OLDPWD"} == {"PATH", "OTHER", "AI_AGENT"}


def test_commands_know_nothing_of_our_allocator_but_of_their_own(tmp_path: Path) -> None:
    (name,) = ALLOCATOR
    env = {"PATH": os.environ["PATH"], "OH_SESSION_API_KEYS_0": KEY}
    for given, seen in ((ALLOCATOR, ""), ({name: "1"}, "1")):
        with running(tmp_path, env={**env, **given}) as sandboxd:
            assert told(sandboxd.execute(f"echo ${name}")) == (0, seen + "\n", None)


def test_a_time_out_ends_the_whole_group_and_keeps_the_output(sandboxd: Sandboxd) -> None:
    began = time.monotonic()
    seconds = 10_000 + sandboxd.process.pid
    answer = sandboxd.execute(f"echo before; (trap '' TERM; sleep {seconds}) & sleep {seconds}", timeout=1)
    assert told(answer) == (-1, "before\n", "Command timed out after 1 seconds")
    assert time.monotonic() - began < 600
    assert told(sandboxd.execute(f"pgrep -x -f 'sleep {seconds}'")) == (1, None, None)


def test_a_trap_may_clean_up_at_a_time_out(sandboxd: Sandboxd, tmp_path: Path) -> None:
    sandboxd.execute(f"trap 'touch {tmp_path}/cleaned; exit' TERM; sleep 600 & wait", timeout=0)
    answer = sandboxd.execute(f"trap 'touch {tmp_path}/cleaned; exit' TERM; echo up; sleep 600 & wait", timeout=1)
    assert answer["stdout"] == "up\n"
    assert (tmp_path / "cleaned").exists()


def test_what_a_command_leaves_in_the_background_holds_nobody_up(sandboxd: Sandboxd, tmp_path: Path) -> None:
    command = f"(while sleep 0.05; do echo tick; done) & echo $! > {tmp_path}/pid; echo started"
    exit_code, stdout, _ = told(sandboxd.execute(command, timeout=120))  # held up, it would say -1
    assert (exit_code, str(stdout).splitlines()[0]) == (0, "started")
    assert told(sandboxd.execute(f"kill -0 $(cat {tmp_path}/pid) && kill $(cat {tmp_path}/pid)")) == (0, None, None)


def test_more_output_than_is_kept_is_cut_in_the_middle_with_a_notice(tmp_path: Path) -> None:
    with running(tmp_path, "--output-limit", "100") as sandboxd:
        exit_code, stdout, _ = told(sandboxd.execute("printf 'a%.0s' {1..60}; printf 'b%.0s' {1..60}"))
        notice = "\n[sandboxd: 20 bytes left out here; of 120 the first and last 50 are kept]\n"
        assert (exit_code, stdout) == (0, "a" * 50 + notice + "b" * 50)


def test_a_flood_of_output_leaves_the_memory_flat(fresh: Sandboxd) -> None:
    fresh.execute("head -c 20M /dev/zero | tr '\\0' x; echo; echo short test summary info")
    before = fresh.status("VmHWM")
    exit_code, stdout, _ = told(fresh.execute("head -c 60M /dev/zero | tr '\\0' x; echo; echo short test summary info"))
    assert (exit_code, str(stdout).endswith("\nshort test summary info\n")) == (0, True)
    assert len(str(stdout)) < 4.1 * 1024 * 1024
    assert fresh.status("VmHWM") - before < 20 * 1024


def test_what_a_flood_took_is_given_back_whichever_connection_it_came_by(fresh: Sandboxd) -> None:
    """Beyond what is kept of the last events, that is: 16 MiB."""
    flood = {"command": "head -c 20M /dev/zero | tr '\\0' '\\377'; echo"}  # two bytes in memory for each of these
    before = fresh.status("VmRSS")
    for _ in range(12):
        with httpx.Client(base_url=fresh.url, headers=fresh.client.headers, timeout=300, trust_env=False) as client:
            assert client.post("/api/bash/execute_bash_command", json=flood).json()["exit_code"] == 0
    assert fresh.status("VmRSS") - before < 24 * 1024


def test_a_background_command_is_followed_by_its_events(sandboxd: Sandboxd) -> None:
    command = sandboxd.client.post("/api/bash/start_bash_command", json={"command": "echo done", "timeout": 9}).json()
    assert {key: command[key] for key in ("command", "cwd", "timeout", "kind")} == {
        "command": "echo done",
        "cwd": None,
        "timeout": 9,
        "kind": "BashCommand",
    }
    asked = {"command_id__eq": str(uuid.UUID(command["id"])), "kind__eq": "BashOutput", "sort_order": "TIMESTAMP"}
    page: dict[str, object] = {"items": []}
    while not page["items"]:
        page = sandboxd.client.get("/api/bash/bash_events/search", params=asked).json()
    assert page["next_page_id"] is None
    (output,) = page["items"]  # type: ignore[misc]
    assert (output["command_id"], output["exit_code"], output["stdout"]) == (command["id"], 0, "done\n")
    assert sandboxd.client.get(f"/api/bash/bash_events/{output['id']}").json() == output
    later = sandboxd.client.get("/api/bash/bash_events/search", params={**asked, "order__gt": 0}).json()
    assert later == {"items": [], "next_page_id": None}


def test_a_background_command_can_be_stopped(sandboxd: Sandboxd) -> None:
    command = sandboxd.client.post("/api/bash/start_bash_command", json={"command": "sleep 600"}).json()
    stop = f"/api/bash/bash_commands/{command['id']}/stop"
    assert sandboxd.client.post(stop).json() == {"success": True}
    assert sandboxd.client.post(stop).json() == {"success": True}
    asked = {"command_id__eq": command["id"]}
    items: list[dict[str, object]] = []
    while not items:
        items = sandboxd.client.get("/api/bash/bash_events/search", params=asked).json()["items"]
    assert [item["exit_code"] for item in items] == [-signal.SIGTERM]
    unknown = sandboxd.client.post(f"/api/bash/bash_commands/{uuid.uuid4()}/stop")
    assert (unknown.status_code, unknown.json()) == (404, {"detail": "Not Found"})


def test_events_are_searched_in_pages_and_cleared(fresh: Sandboxd) -> None:
    for number in range(5):
        fresh.execute(f"echo {number}")
    first = fresh.client.get("/api/bash/bash_events/search", params={"kind__eq": "BashOutput", "limit": 2}).json()
    rest = fresh.client.get(
        "/api/bash/bash_events/search", params={"kind__eq": "BashOutput", "page_id": first["next_page_id"]}
    ).json()
    newest = fresh.client.get(
        "/api/bash/bash_events/search", params={"sort_order": "TIMESTAMP_DESC", "limit": 1}
    ).json()
    since = {"timestamp__gte": rest["items"][-1]["timestamp"]}
    assert [item["stdout"] for item in first["items"] + rest["items"]] == [f"{number}\n" for number in range(5)]
    assert newest["items"] == rest["items"][-1:]
    assert fresh.client.get("/api/bash/bash_events/search", params=since).json()["items"] == rest["items"][-1:]
    assert fresh.client.delete("/api/bash/bash_events").json() == {"cleared_count": 10}
    assert fresh.client.get("/api/bash/bash_events/search").json() == {"items": [], "next_page_id": None}


def test_commands_run_side_by_side(sandboxd: Sandboxd) -> None:
    with ThreadPoolExecutor(12) as pool:
        answers = list(pool.map(lambda number: sandboxd.execute(f"sleep 0.2; echo {number}"), range(12)))
    assert [answer["stdout"] for answer in answers] == [f"{number}\n" for number in range(12)]


def test_no_zombie_and_no_descriptor_is_left(sandboxd: Sandboxd, tmp_path: Path) -> None:
    left = tmp_path / "left"
    sandboxd.execute("true")
    before = descriptors(sandboxd)
    for number in range(5):
        sandboxd.execute("exit 1", cwd=None if number % 2 else "/nowhere")
        sandboxd.execute(f"sleep 600 & echo $! >>{left}; exit", timeout=60)
    sandboxd.execute(f"kill $(cat {left})")
    children = Path(f"/proc/{sandboxd.process.pid}/task/{sandboxd.process.pid}/children").read_text().split()
    deadline = time.monotonic() + 60
    while (any(map(is_zombie, children)) or descriptors(sandboxd) > before) and time.monotonic() < deadline:
        sandboxd.execute("true")
    assert [child for child in children if is_zombie(child)] == []
    assert descriptors(sandboxd) == before


def is_zombie(pid: str) -> bool:
    found = stat_of(int(pid))
    return found is not None and found.state == "Z"


def test_it_ends_when_asked_and_takes_its_commands_along(fresh: Sandboxd, tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    fresh.client.post("/api/bash/start_bash_command", json={"command": f"echo $$ > {pid}; trap '' TERM; sleep 600"})
    fresh.execute(f"until [ -s {pid} ]; do sleep 0.01; done")
    assert fresh.end() == 0
    assert not Path(f"/proc/{pid.read_text().strip()}").exists()
