"""Which interpreter trains, and what it says of itself."""

import importlib.metadata
import json
import platform
import sys
import sysconfig
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.pythons import script
from skyrl_doctor.core.errors import CouldNotLook
from skyrl_doctor.core.model import Location
from skyrl_doctor.facts.environ import Environ
from skyrl_doctor.facts.host import Host
from skyrl_doctor.facts.interpreter import (
    Interpreter,
    TrainingPython,
    interpreter,
    parse_interpreter,
    start_fault,
    training_python,
)
from skyrl_doctor.machine.local import LocalMachine
from skyrl_doctor.machine.queries import Completed
from skyrl_doctor.machine.recorded import RecordedMachine
from skyrl_doctor.plan.model import Plan, Value
from support import plan_of

PYTHON = TrainingPython("/p", "UV_PYTHON")
ANSWER = {
    "version": "3.12.1",
    "implementation": "cpython",
    "platform": "linux",
    "machine": "x86_64",
    "prefix": "/t",
    "base_prefix": "/usr",
    "include": "/inc",
    "header": False,
    "distributions": {"/first": ["torch==2.11.0+cu130", "odd"], "/second": ["torch==2.10.0", "torch==2.9.0"]},
    "requires": {"torch": ["sympy>=1.13"]},
}


def test_the_first_of_a_name_counts() -> None:
    assert parse_interpreter(json.dumps(ANSWER), PYTHON) == Interpreter(
        python=PYTHON,
        version="3.12.1",
        implementation="cpython",
        platform="linux",
        machine="x86_64",
        prefix="/t",
        base_prefix="/usr",
        include="/inc",
        header=False,
        packages={"torch": "2.11.0+cu130", "odd": ""},
        requires={"torch": ("sympy>=1.13",)},
        doubled=("torch",),
    )


@pytest.mark.parametrize("name", sorted(ANSWER))
def test_an_answer_without_a_field_is_none(name: str) -> None:
    partial = {key: value for key, value in ANSWER.items() if key != name}
    with pytest.raises(CouldNotLook, match=name):
        parse_interpreter(json.dumps(partial), PYTHON)


@given(st.text())
def test_no_text_is_taken_for_an_interpreter(text: str) -> None:
    with pytest.raises(CouldNotLook):
        parse_interpreter(text, PYTHON)


def done(rc: int | None = 1, err: str = "", **more: bool) -> Completed:
    return Completed(command="c", rc=rc, err=err, **more)  # type: ignore[arg-type]  # flags only


@pytest.mark.parametrize(
    "err",
    [
        "python: error while loading shared libraries: libpython3.12.so.1.0: cannot open shared object file",
        "Fatal Python error: init_fs_encoding: failed to get the Python codec of the filesystem encoding",
        "/bin/sh: 1: exec: cannot execute binary file: Exec format error",
    ],
)
def test_what_keeps_an_interpreter_from_starting(err: str) -> None:
    assert start_fault(done(err=f"noise\n{err}\nmore")) == f"it does not start: {err}"


def test_what_is_no_fault_of_the_start() -> None:
    assert start_fault(done(rc=0, err="Fatal Python error: in a text")) == ""
    assert start_fault(done(err="Traceback (most recent call last):\nKeyError: 'x'")) == ""
    assert start_fault(done(rc=None, timed_out=True)) == ""
    assert start_fault(done(rc=-9)) == ""
    assert start_fault(done(rc=None, found=False)) == (
        "it does not start: its loader or the program in its #! line is missing"
    )


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
        "/b/python", "UV_PYTHON", None, "it does not exist"
    )
    assert choose(absent("/v/bin/python"), VIRTUAL_ENV="/v").problem == "it does not exist"


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
    assert choose({"stat /x/fifo": {**FILE, "kind": "fifo"}}, UV_PYTHON="/x/fifo").problem == "it is a fifo, not a file"


def test_a_request_for_a_version_is_answered_by_path_and_says_so() -> None:
    assert choose({"which python3.12": "/usr/bin/python3.12"}, UV_PYTHON="cpython@3.12") == TrainingPython(
        "/usr/bin/python3.12", "UV_PYTHON=cpython@3.12, looked up in PATH"
    )


def test_a_request_that_path_does_not_answer_is_no_verdict() -> None:
    with pytest.raises(CouldNotLook) as missing:
        choose({"which python3.12": {"value": None}}, UV_PYTHON="3.12")
    assert str(missing.value) == ("UV_PYTHON=3.12 names a version, not a path, and PATH has no python3.12")
    with pytest.raises(CouldNotLook) as only_uv:
        choose({}, UV_PYTHON=">=3.12,<3.13")
    assert str(only_uv.value) == ("UV_PYTHON=>=3.12,<3.13 names a version, not a path, and only uv can resolve it")


def test_a_plan_with_something_else_than_a_text_is_no_verdict() -> None:
    with pytest.raises(CouldNotLook):
        choose({}, plan_of(python__interpreter=3.12))


def test_on_a_real_machine(tmp_path: Path) -> None:
    (tmp_path / "dangling").symlink_to(tmp_path / "gone")
    machine = LocalMachine({})
    found = training_python(machine, Plan(), Environ({"UV_PYTHON": str(tmp_path / "dangling")}), host(str(tmp_path)))
    assert found == TrainingPython(str(tmp_path / "dangling"), "UV_PYTHON", None, "it does not exist")


def test_a_real_interpreter_says_what_it_is() -> None:
    python = TrainingPython(sys.executable, "test")
    found = interpreter(LocalMachine(), python)
    assert (found.python, found.version, found.prefix) == (python, platform.python_version(), sys.prefix)
    assert found.header == (Path(found.include) / "Python.h").is_file()
    assert found.markers["python_version"] == sysconfig.get_python_version()


def test_versions_are_those_of_importlib() -> None:
    found = interpreter(LocalMachine(), TrainingPython(sys.executable, "test"))
    asked = ("pytest", "hypothesis", "pydantic", "import-linter")
    assert {name: found.packages[name] for name in asked} == {name: importlib.metadata.version(name) for name in asked}


def metadata(site: Path, name: str, text: str) -> None:
    (site / name).mkdir(parents=True)
    (site / name / "METADATA").write_text(text)


def test_requirements_of_the_stack_alone_are_read_and_the_first_of_a_name_counts(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    metadata(first, "vllm-0.24.0.dist-info", "Name: vllm\nRequires-Dist: torch==2.11.0\n\nRequires-Dist: prose\n")
    metadata(second, "vllm-0.33.0.dist-info", "Name: vllm\nRequires-Dist: torch==2.13.0\n\n")
    metadata(second, "Flash_Attn-2.8.3.dist-info", "Name: flash-attn\nRequires-Dist: einops\n\n")
    metadata(second, "~orch-2.0.dist-info", "Name: torch\n\n")
    metadata(second, "rich-1.dist-info", "Name: rich\nRequires-Dist: x\n\n")
    metadata(second, "rich-2.dist-info", "Name: rich\n\n")
    (second / "six-1.16.0-py3.12.egg-info").write_text("Name: six\nVersion: 1.16.0\n\n")
    machine = LocalMachine({"PYTHONPATH": f"{first}:{second}"})
    found = interpreter(machine, TrainingPython(sys.executable, "test"))
    versions = {name: found.packages.get(name) for name in ("vllm", "flash-attn", "six", "torch")}
    assert versions == {"vllm": "0.24.0", "flash-attn": "2.8.3", "six": "1.16.0", "torch": None}
    read = {name: found.requires.get(name) for name in ("vllm", "flash-attn", "rich")}
    assert read == {"vllm": ("torch==2.11.0",), "flash-attn": ("einops",), "rich": None}
    assert found.doubled == ("rich",)


def test_what_an_interpreter_prints_at_its_start_is_not_its_answer(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text("print('{welcome}'); print('{')\n")
    machine = LocalMachine({"PYTHONPATH": str(tmp_path)})
    assert interpreter(machine, TrainingPython(sys.executable, "test")).version == platform.python_version()


def test_no_answer_is_no_fact(tmp_path: Path) -> None:
    silent = TrainingPython(str(script(tmp_path / "silent", "exit 0")), "test")
    with pytest.raises(CouldNotLook, match="printed no JSON object"):
        interpreter(LocalMachine(), silent)
    with pytest.raises(CouldNotLook, match="it does not exist"):
        interpreter(LocalMachine(), TrainingPython("/gone", "test", None, "it does not exist"))
    hanging = RecordedMachine({"ask interpreter /p": {"timed_out": True, "out": [], "err": []}}, strict=True)
    with pytest.raises(CouldNotLook, match="timed out after 10 s"):
        interpreter(hanging, TrainingPython("/p", "test"))
