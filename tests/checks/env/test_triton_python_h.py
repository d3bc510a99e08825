"""ENV001."""

import shutil
from pathlib import Path

import pytest

from checks.env.triton_python_h import triton_python_h
from fakes.pythons import headerless_venv
from skyrl_doctor.core.model import Finding, Location, Outcome, Remedy, RemedyKind, Role, Severity, Status
from skyrl_doctor.facts.host import Roles
from skyrl_doctor.facts.interpreter import TrainingPython
from skyrl_doctor.facts.triton_build import Built, TritonBuild
from skyrl_doctor.machine.local import LocalMachine
from support import judge, plan_of, recorded

GPU = Roles(frozenset({Role.GPU}), asked=True)
LOGIN = Roles(frozenset({Role.LOGIN}), asked=False)
PYTHON = TrainingPython("/opt/train/bin/python", "UV_PYTHON")
HEALTHY = TritonBuild(compiler="/usr/bin/gcc", version="3.12", include="/inc", header=True, compiled=Built(ok=True))
MISSING = "/tmp/skyrl-doctor-q3v7k2xa/main.c:1:10: fatal error: Python.h: No such file or directory"
NO_HEADERS = Finding(
    message=(
        "the training interpreter /opt/train/bin/python (from UV_PYTHON) has no Python.h in /usr/include/python3.12; expected the headers that Triton compiles with"
    ),
    evidence=(MISSING,),
    remedy=Remedy(
        kind=RemedyKind.FIX_ENV,
        summary=(
            "install this Python's -dev package, or build the environment on uv's or a module's; set UV_PYTHON to it"
        ),
        commands=("uv python install 3.12", "uv venv --managed-python --python 3.12 NEW_VENV"),
    ),
)


def found(build: TritonBuild, *, python: TrainingPython = PYTHON, roles: Roles = GPU) -> list[Finding]:
    return list(triton_python_h(python, build, roles))


def test_is_silent_where_the_file_compiles() -> None:
    assert found(HEALTHY) == []


def test_an_interpreter_without_headers() -> None:
    build = TritonBuild(
        compiler="/usr/bin/gcc",
        version="3.12",
        include="/usr/include/python3.12",
        compiled=Built(ok=False, output=MISSING),
    )
    assert found(build) == [NO_HEADERS]


def test_headers_that_the_compiler_finds_elsewhere_are_headers() -> None:
    """CPATH may name them: what counts is that it compiles."""
    assert found(TritonBuild(compiler="cc", include="/nowhere", header=False, compiled=Built(ok=True))) == []


def test_an_interpreter_that_is_not_there_names_the_line_of_the_plan() -> None:
    place = Location("run.toml", 3, "python.interpreter")
    python = TrainingPython("/gone/python", "python.interpreter", place, "it does not exist")
    assert found(TritonBuild(problem=python.problem), python=python) == [
        Finding(
            message=(
                "the training interpreter /gone/python (from python.interpreter): it does not exist; "
                "expected an interpreter that runs"
            ),
            location=place,
            remedy=Remedy(
                kind=RemedyKind.FIX_CONFIG,
                summary="name an interpreter by its full path, in python.interpreter",
            ),
        )
    ]


def test_no_compiler_at_all() -> None:
    (finding,) = found(TritonBuild(compiler=None, include="/inc", header=True))
    assert finding.evidence == (
        "Triton would fail with: Failed to find C compiler. Please specify via CC environment variable.",
    )
    assert finding.message == "CC is unset and PATH has neither gcc nor clang; expected a C compiler for Triton"


@pytest.mark.parametrize("cc", ["gcc -m64", "", "nosuch"])
def test_cc_is_one_word(cc: str) -> None:
    failed = Built(ok=False, output=f"No such file or directory: {cc!r}")
    (finding,) = found(TritonBuild(cc=cc, compiler=cc, include="/inc", header=True, compiled=failed))
    assert finding.message == (
        f"CC={cc!r} does not compile a C file; expected the path of a compiler without arguments, or unset"
    )
    assert finding.evidence == (failed.output,)


def test_a_compiler_that_fails_for_another_reason() -> None:
    said = "/inc/Python.h:12:10: fatal error: pyconfig.h: No such file or directory"
    (finding,) = found(
        TritonBuild(compiler="/usr/bin/gcc", include="/inc", header=True, compiled=Built(ok=False, output=said))
    )
    assert finding.message == (
        "/usr/bin/gcc fails on two lines of C that include Python.h of /inc; expected a compiler and headers that Triton can use"
    )
    assert finding.evidence == (said,)


def test_libcuda_is_a_finding_of_its_own() -> None:
    said = "/usr/bin/ld: cannot find -lcuda: No such file or directory\ncollect2: error: ld returned 1 exit status"
    build = TritonBuild(
        gpu_here=True, compiler="gcc", header=True, compiled=Built(ok=True), libcuda=Built(ok=False, output=said)
    )
    (finding,) = found(build)
    assert finding.message == (
        "the linker does not find libcuda, although a GPU driver is loaded; expected libcuda.so.1 where Triton looks"
    )
    assert finding.evidence == tuple(said.splitlines())


def test_is_an_error_where_a_gpu_is_and_a_warning_elsewhere() -> None:
    broken = TritonBuild(problem="it does not exist")
    with_gpu = TritonBuild(problem="it does not exist", gpu_here=True)
    severities = [
        found(build, roles=roles)[0].severity for build, roles in ((broken, LOGIN), (with_gpu, LOGIN), (broken, GPU))
    ]
    assert severities == [Severity.WARNING, Severity.ERROR, Severity.ERROR]


def test_reproduces_on_a_recording() -> None:
    assert judge("ENV001", "triton_no_python_h") == Outcome(
        id="ENV001", slug="triton-python-h", status=Status.FAIL, findings=(NO_HEADERS,)
    )


def test_silent_on_the_clean_machine() -> None:
    assert judge("ENV001", "clean_gpu_node").status is Status.PASS


def test_a_compiler_that_hangs_is_no_verdict() -> None:
    key = "ask triton_build /opt/train/bin/python libcuda"
    hanging = '{"version": "3.12", "include": "/i", "header": true, "cc": null, "compiler": "gcc", "compile": {"rc": null, "said": "", "limit_s": 8.0}, "libcuda": null}'
    machine = recorded("clean_gpu_node").but({key: {"rc": 0, "out": [hanging], "err": []}})
    outcome = judge("ENV001", machine)
    assert (outcome.status, outcome.reason) == (Status.UNKNOWN, "Triton's compiler: timed out after 8 s")


@pytest.mark.skipif(not (shutil.which("gcc") or shutil.which("clang")), reason="no C compiler here")
def test_a_real_interpreter_without_headers_is_found(tmp_path: Path) -> None:
    python = headerless_venv(tmp_path / "bare")
    machine = LocalMachine({"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "UV_PYTHON": str(python)})
    outcome = judge("ENV001", machine)
    assert outcome.status is Status.FAIL
    (finding,) = outcome.findings
    assert finding.message.startswith(
        f"the training interpreter {python} (from UV_PYTHON) has no Python.h in {tmp_path}/"
    )
    assert (
        "fatal error: Python.h: No such file or directory" in finding.evidence[0]
        or "'Python.h' file not found" in finding.evidence[0]
    )
    assert finding.severity is Severity.ERROR


def test_the_plan_names_the_interpreter_before_the_environment_does(tmp_path: Path) -> None:
    machine = LocalMachine({"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "UV_PYTHON": "/usr/bin/true"})
    plan = plan_of(python__interpreter=str(tmp_path / "gone"))
    (finding,) = judge("ENV001", machine, plan=plan).findings
    assert finding.message == (
        f"the training interpreter {tmp_path}/gone (from python.interpreter): it does not exist; "
        "expected an interpreter that runs"
    )
