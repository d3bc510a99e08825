"""The compile child's answer."""

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.pythons import script
from skyrl_doctor.core.errors import CouldNotLook
from skyrl_doctor.facts.interpreter import TrainingPython, interpreter
from skyrl_doctor.facts.triton_build import DRIVER, Built, TritonBuild, parse_triton_build, triton_build
from skyrl_doctor.machine import local
from skyrl_doctor.machine.local import LocalMachine
from skyrl_doctor.machine.recorded import RecordedMachine

GCC = """/tmp/x/main.c:1:10: fatal error: Python.h: No such file or directory
    1 | #include <Python.h>
      |          ^~~~~~~~~~
compilation terminated.
"""
STEP = {"rc": 0, "said": "", "limit_s": 8.0}
ANSWER = {
    "version": "3.12",
    "include": "/inc",
    "header": True,
    "cc": None,
    "compiler": "/usr/bin/gcc",
    "compile": STEP,
    "libcuda": None,
}


def parsed(**changes: object) -> TritonBuild:
    return parse_triton_build(json.dumps({**ANSWER, **changes}), who="child", gpu_here=False)


def test_reads_an_answer() -> None:
    assert parsed() == TritonBuild(
        compiler="/usr/bin/gcc", version="3.12", include="/inc", header=True, compiled=Built(ok=True)
    )
    assert parsed(cc="", compiler="").cc == ""


def test_the_lines_that_name_an_error() -> None:
    built = parsed(compile={**STEP, "rc": 1, "said": GCC}).compiled
    assert built == Built(ok=False, output=GCC)
    assert built.errors == ("/tmp/x/main.c:1:10: fatal error: Python.h: No such file or directory",)
    assert Built(ok=False, output="Permission denied: ''").errors == ("Permission denied: ''",)
    assert Built(ok=False).errors == ()


@pytest.mark.parametrize("step", ["compile", "libcuda"])
def test_a_step_without_an_end_is_no_answer(step: str) -> None:
    with pytest.raises(CouldNotLook, match="timed out after 8 s"):
        parsed(**{step: {**STEP, "rc": None}})


@given(st.text())
def test_no_text_is_taken_for_a_compiler_that_works(text: str) -> None:
    with pytest.raises(CouldNotLook):
        parse_triton_build(text, who="child", gpu_here=False)


@given(st.integers(), st.text())
def test_only_status_zero_is_success(code: int, said: str) -> None:
    built = parsed(compile={"rc": code, "said": said, "limit_s": 8.0}).compiled
    assert built is not None
    assert built.ok == (code == 0)
    assert len(built.errors) <= 3


OWN = TrainingPython(sys.executable, "test")
needs_compiler = pytest.mark.skipif(not shutil.which("gcc"), reason="gcc is not installed")


class NoGpu(LocalMachine):
    """This machine, without the GPU that it may have."""

    def answer(self, question):  # type: ignore[no-untyped-def]  # passes on whatever it is given
        return super().answer(type(question)(f"{DRIVER}-none") if getattr(question, "path", "") == DRIVER else question)


@pytest.fixture
def child() -> ModuleType:
    """The child program as a module, with a limit that a test can wait for."""
    spec = importlib.util.spec_from_file_location("triton_build_child", f"{local.CHILDREN}/triton_build.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def looked(**environ: str) -> TritonBuild:
    found = triton_build(NoGpu(environ), OWN)
    assert isinstance(found, TritonBuild)
    return found


@needs_compiler
def test_it_compiles_and_leaves_nothing_behind(tmp_path: Path) -> None:
    found = looked(PATH="/usr/local/bin:/usr/bin:/bin", TMPDIR=str(tmp_path))
    assert found.compiled is not None
    assert (found.compiled.ok, found.cc, found.problem, found.gpu_here) == (found.header, None, "", False)
    assert list(tmp_path.iterdir()) == []


def test_both_children_name_the_same_headers() -> None:
    said = interpreter(NoGpu(), OWN)
    found = triton_build(NoGpu(), OWN)
    assert (said.include, said.header) == (found.include, found.header)


def test_no_compiler_on_path(tmp_path: Path) -> None:
    found = looked(PATH=str(tmp_path))
    assert (found.compiler, found.compiled) == (None, None)


def test_gcc_comes_before_clang_and_cc_before_both(tmp_path: Path) -> None:
    for name in ("gcc", "clang", "mine"):
        script(tmp_path / name, "exit 0")
    assert looked(PATH=str(tmp_path)).compiler == str(tmp_path / "gcc")
    assert looked(PATH=str(tmp_path), CC=str(tmp_path / "mine")).compiler == str(tmp_path / "mine")
    (tmp_path / "gcc").unlink()
    assert looked(PATH=str(tmp_path)).compiler == str(tmp_path / "clang")


@pytest.mark.parametrize("cc", ["", "gcc -m64"])
def test_cc_is_one_word_even_if_it_is_empty(cc: str) -> None:
    found = looked(PATH="/usr/bin:/bin", CC=cc)
    assert found.compiled is not None
    assert (found.compiler, found.compiled.ok) == (cc, False)
    assert found.compiled.output.endswith(f": {cc!r}")


def test_a_compiler_that_hangs_is_ended_and_its_directory_removed(
    tmp_path: Path, child: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    (tmp_path / "bin").mkdir()
    hanging = script(tmp_path / "bin" / "cc", "exec sleep 600")
    monkeypatch.setattr(child, "LIMIT_S", 0.2)
    assert child.compile_source(str(hanging), "", []) == {"rc": None, "said": "", "limit_s": 0.2}
    assert [path.name for path in tmp_path.iterdir()] == ["bin"]


def test_the_working_directory_is_never_written(
    tmp_path: Path, child: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: str, mode: int) -> None:
        assert mode == 0o700
        raise OSError(28, "No space left on device", path)

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TMPDIR", "/nowhere")
    monkeypatch.setattr(os, "mkdir", refuse)
    with pytest.raises(OSError, match="No space left on device: '/dev/shm/skyrl-doctor-"):
        child.temporary_directory()


def triton_in(directory: Path, libraries: str) -> None:
    driver = directory / "triton" / "backends" / "nvidia"
    driver.mkdir(parents=True)
    (directory / "triton" / "__init__.py").write_text("raise SystemExit('must not be imported')\n")
    (driver / "driver.py").write_text(f"import os\n{libraries}\n")


@needs_compiler
def test_links_against_libcuda_as_the_installed_triton_does(
    tmp_path: Path, child: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "lib").mkdir()
    monkeypatch.setenv("TRITON_LIBCUDA_PATH", str(tmp_path / "lib"))
    monkeypatch.syspath_prepend(tmp_path / "new")
    triton_in(tmp_path / "new", "libraries = ['libcuda.so.1']")
    assert "cannot find -l:libcuda.so.1" in child.libcuda("gcc")["said"]
    versioned = tmp_path / "lib" / "libcuda.so.1"
    subprocess.run(["gcc", "-shared", "-fPIC", "-xc", "/dev/null", "-o", versioned], check=True)
    assert child.libcuda("gcc")["rc"] == 0
    monkeypatch.syspath_prepend(tmp_path / "old")
    triton_in(tmp_path / "old", 'libraries = ["cuda"]')
    assert "cannot find -lcuda" in child.libcuda("gcc")["said"]
    (tmp_path / "lib" / "libcuda.so").symlink_to(versioned)
    assert child.libcuda("gcc")["rc"] == 0


def test_without_triton_nothing_links_against_libcuda(child: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [])
    assert child.libcuda("gcc") is None


def test_an_interpreter_that_does_not_start_is_a_fault_and_not_an_unknown(tmp_path: Path) -> None:
    loader = "python: error while loading shared libraries: libpython3.12.so.1.0: cannot open shared object file"
    broken = script(tmp_path / "broken", f"echo '{loader}' >&2; exit 127")
    gone = tmp_path / "gone"
    gone.write_text("#!/nowhere/python\n")
    gone.chmod(0o755)
    locked = tmp_path / "locked"
    locked.write_text("x")
    faults = [triton_build(NoGpu(), TrainingPython(str(path), "test")).problem for path in (broken, gone, locked)]
    assert faults == [
        f"it does not start: {loader}",
        "it does not start: its loader or the program in its #! line is missing",
        "it does not start: cannot be run: [Errno 13] Permission denied: '" + str(locked) + "'",
    ]


def test_an_interpreter_that_hangs_is_no_fact() -> None:
    machine = RecordedMachine(
        {f"stat {DRIVER}": {"absent": DRIVER}, "ask triton_build /p": {"timed_out": True, "out": [], "err": []}},
        strict=True,
    )
    with pytest.raises(CouldNotLook, match="timed out after 25 s"):
        triton_build(machine, TrainingPython("/p", "test"))
