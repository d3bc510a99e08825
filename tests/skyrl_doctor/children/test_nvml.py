"""The program that asks NVML, run as the doctor runs it, against an acted-out driver."""

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import pynvml
import pytest

import skyrl_doctor.children
from skyrl_doctor.facts.gpu import Closed, Gpu, Gpus, Memory, Process, Slice
from skyrl_doctor.facts.gpu.nvml import Refused, parse_nvml

CHILD = Path(skyrl_doctor.children.__file__ or "").with_name("nvml.py")
FAKES = Path(__file__).parents[2] / "fakes" / "nvml"
MIB = 1 << 20
NOT_SUPPORTED, NO_PERMISSION, NOT_FOUND = ({"nvml_error": code} for code in (3, 4, 6))
WHOLE = {
    "uuid": "GPU-1",
    "name": "NVIDIA H100 80GB HBM3",
    "mig": [0, 0],
    "memory_v2": [81559 * MIB, 4 * MIB],
    "computing": [[7, 3 * MIB], [9, None]],
}


def ask(state: dict[str, object], *, path: Path = FAKES) -> Gpus | Refused:
    environ = {"PATH": os.defpath, "PYTHONPATH": str(path), "FAKE_NVML": json.dumps(state)}
    done = subprocess.run(
        [sys.executable, "-B", str(CHILD)], env=environ, capture_output=True, text=True, timeout=300, check=True
    )
    assert done.stderr == ""
    return parse_nvml(done.stdout)


def test_tells_of_a_whole_gpu() -> None:
    assert ask({"driver": "580.95.05", "gpus": [WHOLE]}) == Gpus(
        source="nvml",
        driver="580.95.05",
        gpus=(
            Gpu(
                index=0,
                uuid="GPU-1",
                name="NVIDIA H100 80GB HBM3",
                mig=False,
                memory=Memory(total_mib=81559, used_mib=4, free_mib=81555),
                processes=(Process(pid=7, used_mib=3), Process(pid=9)),
            ),
        ),
    )


def test_tells_of_slices_and_of_what_is_closed() -> None:
    one = {
        "uuid": "MIG-1",
        "name": "NVIDIA A100-SXM4-80GB MIG 2g.20gb",
        "gi": 3,
        "ci": 0,
        "shape": [2, 2, 19968],
        "memory_v2": [19968 * MIB, 13 * MIB],
    }
    parent = {
        "uuid": "GPU-1",
        "name": "NVIDIA A100-SXM4-80GB",
        "mig": [1, 1],
        "most_slices": 3,
        "slices": [one, NO_PERMISSION, NOT_FOUND],
        "memory": NO_PERMISSION,
        "memory_v2": NO_PERMISSION,
        "computing": NO_PERMISSION,
        "computing_v2": NO_PERMISSION,
    }
    assert ask({"driver": "580.95.05", "gpus": [parent, NO_PERMISSION]}) == Gpus(
        source="nvml",
        driver="580.95.05",
        gpus=(
            Gpu(
                index=0,
                uuid="GPU-1",
                name="NVIDIA A100-SXM4-80GB",
                mig=True,
                slices=(
                    Slice(
                        uuid="MIG-1",
                        parent="GPU-1",
                        index=0,
                        gi=3,
                        ci=0,
                        profile="2g.20gb",
                        memory=Memory(total_mib=19968, used_mib=13, free_mib=19955),
                        processes=(),
                    ),
                ),
            ),
        ),
        closed=(Closed(0, "NVML error 4", slice_index=1), Closed(1, "NVML error 4")),
    )


def test_survives_every_refusal_of_a_single_question() -> None:
    refusals = dict.fromkeys(("name", "mig", "memory", "memory_v2", "computing_v2", "drawing"), NOT_SUPPORTED)
    refused = {**WHOLE, **refusals, "computing": {"mismatch": "too old"}}
    assert ask({"driver": NOT_SUPPORTED, "gpus": [refused]}) == Gpus(
        source="nvml", gpus=(Gpu(index=0, uuid="GPU-1", name="unnamed"),)
    )


def test_asks_an_older_driver_in_its_own_words() -> None:
    older = {
        **WHOLE,
        "memory_v2": {"nvml_error": 13},
        "memory": [81559 * MIB, 600 * MIB],
        "computing": {"mismatch": "too old"},
        "computing_v2": [[7, 3 * MIB]],
        "drawing": [[8, MIB]],
    }
    found = ask({"driver": "450.80.02", "gpus": [older]})
    assert isinstance(found, Gpus)
    assert found.gpus[0].memory == Memory(total_mib=81559, used_mib=600, free_mib=80959)
    assert found.gpus[0].processes == (Process(pid=7, used_mib=3), Process(pid=8, used_mib=1))


@pytest.mark.parametrize("code", [9, 12, 18, 999])
def test_tells_why_nvml_gives_nothing(code: int) -> None:
    assert ask({"init": {"nvml_error": code}}) == Refused(code, f"NVML error {code}")
    assert ask({"driver": "x", "gpus": {"nvml_error": code}}) == Refused(code, f"NVML error {code}")


def test_tells_that_its_python_module_is_missing(tmp_path: Path) -> None:
    (tmp_path / "pynvml.py").write_text("raise ModuleNotFoundError(\"No module named 'pynvml'\")")
    assert ask({}, path=tmp_path) == Refused(None, "ModuleNotFoundError: No module named 'pynvml'")


def test_without_the_driver_the_module_is_not_imported_and_its_own_answer_given(tmp_path: Path) -> None:
    (tmp_path / "pynvml.py").write_text("raise SystemExit(3)  # it would load libnvidia-ml.so.1")
    assert ask({}, path=tmp_path) == Refused(12, "NVML Shared Library Not Found")
    with pytest.raises(pynvml.NVMLError) as raised:
        raise pynvml.NVMLError(12)
    assert str(raised.value) == "NVML Shared Library Not Found"


def test_uses_names_that_the_real_module_has() -> None:
    used = {
        node.attr
        for node in ast.walk(ast.parse(CHILD.read_text()))
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "pynvml"
    }
    assert {name for name in used if not hasattr(pynvml, name)} == set()
