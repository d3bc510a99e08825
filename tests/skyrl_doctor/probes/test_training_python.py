"""Which interpreter trains."""

from pathlib import Path
from typing import Any

import pytest

from skyrl_doctor.core.errors import CouldNotLook
from skyrl_doctor.core.model import Location
from skyrl_doctor.facts.environ import Environ
from skyrl_doctor.facts.host import Host
from skyrl_doctor.facts.interpreter import TrainingPython
from skyrl_doctor.machine.local import LocalMachine
from skyrl_doctor.machine.recorded import RecordedMachine
from skyrl_doctor.plan.model import Plan, Value
from skyrl_doctor.probes.training_python import training_python
from support import plan_of

FILE = {"kind": "file", "mode": 493, "uid": 0, "gid": 0, "size": 1, "mtime": 0.0, "device": 1, "inode": 1}
DIRECTORY = {**FILE, "kind": "dir"}


def host(cwd: str = "/run", own: str = "/own/python") -> Host:
    return Host(name="n", user="me", uid=7, gid=7, pid=1, cpus=1, system="Linux", python=own, cwd=cwd, now=0.0)


def choose(answers: dict[str, Any], plan: Plan | None = None, **environ: str) -> TrainingPython:
    machine = RecordedMachine(answers, strict=True)
    return training_python(machine, plan or Plan(), Environ(environ), host())


def absent(path: str) -> dict[str, dict[str, str]]:
    return {f"stat {path}": {"absent": path}}


def test_the_plan_comes_first_and_keeps_its_line() -> None:
    place = Location("run.toml", 4, "python.interpreter")
    plan = Plan(("run.toml",), "run-config", {"python.interpreter": Value("python.interpreter", "/a/python", place)})
    assert choose({"stat /a/python": FILE}, plan, UV_PYTHON="/b/python") == TrainingPython(
        "/a/python", "python.interpreter", place
    )


def test_then_uv_python_then_the_active_environment() -> None:
    assert choose({"stat /b/python": FILE}, UV_PYTHON="/b/python", VIRTUAL_ENV="/v") == TrainingPython(
        "/b/python", "UV_PYTHON"
    )
    assert choose({"stat /v/bin/python": FILE}, VIRTUAL_ENV="/v") == TrainingPython("/v/bin/python", "VIRTUAL_ENV")


def test_then_the_projects_own_and_at_last_the_doctors() -> None:
    assert choose({"stat /run/.venv/bin/python": FILE}) == TrainingPython(
        "/run/.venv/bin/python", "the project's .venv"
    )
    assert choose({**absent("/run/.venv/bin/python"), "stat /own/python": FILE}) == TrainingPython(
        "/own/python", "the doctor's own interpreter"
    )


@pytest.mark.parametrize("empty", ["", "  "])
def test_an_empty_variable_is_an_unset_one(empty: str) -> None:
    assert choose({"stat /v/bin/python": FILE}, UV_PYTHON=empty, VIRTUAL_ENV="/v").source == "VIRTUAL_ENV"


def test_a_path_that_somebody_wrote_is_kept_though_nothing_is_there() -> None:
    assert choose(absent("/b/python"), UV_PYTHON="/b/python") == TrainingPython(
        "/b/python", "UV_PYTHON", None, "there is no such file"
    )
    assert choose(absent("/v/bin/python"), VIRTUAL_ENV="/v").fault == "there is no such file"


def test_a_relative_path_is_taken_from_the_working_directory() -> None:
    assert choose({"stat /run/env/bin/python": FILE}, UV_PYTHON="./env/bin/python").path == "/run/env/bin/python"


def test_a_directory_is_searched_as_uv_does() -> None:
    answers = {"stat /opt/py": DIRECTORY, "stat /opt/py/bin/python3": FILE}
    assert choose(answers, UV_PYTHON="/opt/py") == TrainingPython("/opt/py/bin/python3", "UV_PYTHON")
    bare = {"stat /opt/py": DIRECTORY, **absent("/opt/py/bin/python3"), **absent("/opt/py/bin/python")}
    assert choose(bare, UV_PYTHON="/opt/py") == TrainingPython(
        "/opt/py", "UV_PYTHON", None, "it is a directory without bin/python3"
    )


def test_something_else_than_a_file() -> None:
    assert choose({"stat /x/fifo": {**FILE, "kind": "fifo"}}, UV_PYTHON="/x/fifo").fault == "it is a fifo, not a file"


def test_a_request_for_a_version_is_answered_by_path_and_says_so() -> None:
    assert choose({"which python3.12": "/usr/bin/python3.12"}, UV_PYTHON="cpython@3.12") == TrainingPython(
        "/usr/bin/python3.12", "UV_PYTHON=cpython@3.12, a request that PATH answers"
    )


def test_a_request_that_path_does_not_answer_is_no_verdict() -> None:
    with pytest.raises(CouldNotLook) as missing:
        choose({"which python3.12": {"value": None}}, UV_PYTHON="3.12")
    assert str(missing.value) == (
        "UV_PYTHON=3.12 is a request for a version, not the path of an interpreter, and PATH has no python3.12"
    )
    with pytest.raises(CouldNotLook) as only_uv:
        choose({}, UV_PYTHON=">=3.12,<3.13")
    assert str(only_uv.value) == (
        "UV_PYTHON=>=3.12,<3.13 is a request for a version, not the path of an interpreter, and no command answers it without uv"
    )


def test_a_plan_with_something_else_than_a_text_is_no_verdict() -> None:
    with pytest.raises(CouldNotLook):
        choose({}, plan_of(python__interpreter=3.12))


def test_on_a_real_machine(tmp_path: Path) -> None:
    (tmp_path / "dangling").symlink_to(tmp_path / "gone")
    machine = LocalMachine({})
    found = training_python(machine, Plan(), Environ({"UV_PYTHON": str(tmp_path / "dangling")}), host(str(tmp_path)))
    assert found == TrainingPython(str(tmp_path / "dangling"), "UV_PYTHON", None, "there is no such file")
