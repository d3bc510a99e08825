"""What the training interpreter says of itself, asked of a real one."""

import importlib.metadata
import platform
import sys
import sysconfig
from pathlib import Path

import pytest

from fakes.pythons import script
from skyrl_doctor.core.errors import CouldNotLook
from skyrl_doctor.facts.interpreter import TrainingPython
from skyrl_doctor.machine.local import LocalMachine
from skyrl_doctor.machine.recorded import RecordedMachine
from skyrl_doctor.probes.interpreter import interpreter


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
    with pytest.raises(CouldNotLook, match="gave no answer that reads as one"):
        interpreter(LocalMachine(), silent)
    with pytest.raises(CouldNotLook, match="there is no such file"):
        interpreter(LocalMachine(), TrainingPython("/gone", "test", None, "there is no such file"))
    hanging = RecordedMachine({"ask interpreter /p": {"timed_out": True, "out": [], "err": []}}, strict=True)
    with pytest.raises(CouldNotLook, match="no answer within 10 s"):
        interpreter(hanging, TrainingPython("/p", "test"))
