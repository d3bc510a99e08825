"""The extension child's answer."""

import json
import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skyrl_doctor.core.errors import CouldNotLook, NotApplicable
from skyrl_doctor.facts.extensions import Extensions, Tried, extensions, parse_extensions
from skyrl_doctor.facts.interpreter import TrainingPython, interpreter
from skyrl_doctor.machine.local import LocalMachine
from skyrl_doctor.machine.queries import Completed


def done(out: str = "", *, rc: int | None = 0, err: str = "") -> Completed:
    return Completed(command="child", rc=rc, out=out, err=err)


def test_reads_an_answer() -> None:
    rows = [["torch", "torch", ""], ["vllm", "/s/_C.so", "OSError: x"]]
    found = parse_extensions(done(json.dumps({"torch": "2.11.0", "tried": rows})))
    assert found == Extensions("2.11.0", (Tried("torch", "torch"), Tried("vllm", "/s/_C.so", "OSError: x")))
    assert found.failed == (Tried("vllm", "/s/_C.so", "OSError: x"),)


def test_a_crash_is_blamed_on_what_was_tried_last() -> None:
    err = "trying torch torch\nsome warning\ntrying flash-attn /my site/f.so\n"
    assert parse_extensions(done(rc=-11, err=err)) == Extensions(
        "", (Tried("flash-attn", "/my site/f.so", "crashes the interpreter with signal 11"),)
    )


@pytest.mark.parametrize("rc", [-9, -15, 1, None])
def test_an_end_from_outside_or_of_the_child_itself_is_no_verdict(rc: int | None) -> None:
    with pytest.raises(CouldNotLook):
        parse_extensions(done(rc=rc, err="trying torch torch\n"))


def test_an_answer_that_tried_nothing_is_none() -> None:
    with pytest.raises(CouldNotLook, match="it loaded no extension"):
        parse_extensions(done('{"torch": "2.11.0", "tried": []}'))


@given(st.text(), st.sampled_from([0, 1, -9, -11]))
def test_no_text_is_taken_for_extensions_that_load(text: str, rc: int) -> None:
    with pytest.raises(CouldNotLook):
        parse_extensions(done(text, rc=rc, err=text.replace("trying", "")))


PYTHON = TrainingPython(sys.executable, "test")
pytestmark = pytest.mark.skipif(not shutil.which("gcc"), reason="gcc is not installed")
SYMBOL = "_ZN3c105ErrorC2ENS_14SourceLocationE"


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A place on PYTHONPATH with a torch that imports at once."""
    (tmp_path / "torch.py").write_text("print('noise'); __version__ = '2.11.0'\n")
    installed(tmp_path, "torch-2.11.0")
    return tmp_path


def installed(site: Path, name: str) -> None:
    (site / f"{name}.dist-info").mkdir()


def library(path: Path, source: str) -> Path:
    path.parent.mkdir(exist_ok=True)
    built = ["gcc", "-shared", "-fPIC", "-xc", "-", "-o", str(path)]
    subprocess.run(built, input=source.encode(), check=True)
    return path


def look(site: Path) -> Extensions:
    # What the tests' own environment has installed is left out.
    machine = LocalMachine({**os.environ, "PYTHONPATH": str(site)})
    said = interpreter(machine, PYTHON)
    ours = {name.rpartition("-")[0] for name in (path.stem for path in site.glob("*.dist-info"))}
    kept = {name: version for name, version in said.packages.items() if name.replace("-", "_") in ours}
    found = extensions(machine, replace(said, packages=kept))
    assert isinstance(found, Extensions)
    return found


def test_a_library_that_misses_a_symbol_is_told_by_the_linkers_own_words(site: Path) -> None:
    installed(site, "flash_attn-2.8.3")
    broken = library(site / "flash_attn_2_cuda.abi3.so", f"void {SYMBOL}(void); void f(void) {{ {SYMBOL}(); }}")
    installed(site, "vllm-0.24.0")
    sound = library(site / "vllm" / "_C.abi3.so", "int x;")
    assert look(site) == Extensions(
        "2.11.0",
        (
            Tried("torch", "torch"),
            Tried("flash-attn", str(broken), f"OSError: {broken}: undefined symbol: {SYMBOL}"),
            Tried("vllm", str(sound)),
        ),
    )


@pytest.mark.parametrize(
    ("avx512", "bf16", "loaded"), [(0, 0, "_C_AVX2"), (1, 0, "_C_AVX512"), (1, 1, "_C")], ids=lambda value: str(value)
)
def test_only_the_library_for_this_processor_is_loaded(site: Path, avx512: int, bf16: int, loaded: str) -> None:
    """The others end the process with an illegal instruction."""
    kinds = f"class cpu:\n  _is_avx512_supported = lambda: {avx512}\n  _is_avx512_bf16_supported = lambda: {bf16}\n"
    (site / "torch.py").write_text(f"__version__ = '2.11.0'\n{kinds}")
    installed(site, "vllm-0.24.0")
    crash = "__attribute__((constructor)) static void f(void) { __builtin_trap(); }"
    for name in ("_C", "_C_AVX2", "_C_AVX512"):
        library(site / "vllm" / f"{name}.abi3.so", "int x;" if name == loaded else crash)
    assert look(site).tried == (Tried("torch", "torch"), Tried("vllm", str(site / "vllm" / f"{loaded}.abi3.so")))


def test_a_library_that_crashes_is_named(site: Path) -> None:
    installed(site, "xformers-0.1")
    crash = "__attribute__((constructor)) static void f(void) { __builtin_trap(); }"
    path = library(site / "xformers" / "_C.abi3.so", crash)
    (tried,) = look(site).tried
    assert (tried.distribution, tried.name) == ("xformers", str(path))
    assert tried.error.startswith("crashes the interpreter with signal ")


def test_a_torch_that_does_not_import_ends_the_look(site: Path) -> None:
    installed(site, "vllm-0.24.0")
    (site / "torch.py").write_text("raise ImportError('libtorch_cuda.so: undefined symbol: ncclCommShrink')\n")
    assert look(site) == Extensions(
        "", (Tried("torch", "torch", "ImportError: libtorch_cuda.so: undefined symbol: ncclCommShrink"),)
    )


def test_a_module_that_exits_is_told_too(site: Path) -> None:
    installed(site, "bitsandbytes-1.0")
    (site / "bitsandbytes.py").write_text("raise SystemExit(0)\n")
    assert look(site).failed == (Tried("bitsandbytes", "bitsandbytes", "SystemExit: 0"),)


def test_nothing_to_load_is_not_applicable(site: Path) -> None:
    with pytest.raises(NotApplicable, match="no compiled extension of torch is installed"):
        look(site)
