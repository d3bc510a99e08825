"""ENV011."""

from checks.env.compiled_extension_abi import compiled_extension_abi
from skyrl_doctor.core.model import Finding, Outcome, Remedy, RemedyKind, Severity, Status
from skyrl_doctor.facts.extensions import Extensions, Tried
from skyrl_doctor.facts.interpreter import Interpreter, TrainingPython
from support import judge, recorded

INTERPRETER = Interpreter(
    python=TrainingPython("/t/python", "UV_PYTHON"),
    version="3.12.1",
    implementation="cpython",
    platform="linux",
    machine="x86_64",
    prefix="/t",
    base_prefix="/usr",
    include="/inc",
    header=True,
    packages={"torch": "2.11.0", "vllm": "0.24.0", "flash-attn": "2.8.3"},
)
SITE = "/opt/train/lib/python3.12/site-packages"
LIBRARY = f"{SITE}/flash_attn_2_cuda.cpython-312-x86_64-linux-gnu.so"
SYMBOL = "_ZN3c105ErrorC2ENS_14SourceLocationENSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE"


def messages(torch: str, *tried: Tried) -> list[tuple[str, Severity]]:
    findings = compiled_extension_abi(Extensions(torch, tried), INTERPRETER)
    return [(finding.message, finding.severity) for finding in findings]


def test_is_silent_where_all_load() -> None:
    assert messages("2.11.0", Tried("torch", "torch"), Tried("vllm", "vllm._C")) == []


def test_what_everything_needs_is_an_error_and_the_rest_a_warning() -> None:
    assert messages(
        "2.11.0", Tried("vllm", "/s/_C.so", "OSError: /s/_C.so: undefined symbol: x"), Tried("flash-attn", "f", "y")
    ) == [
        (
            "vllm 0.24.0 does not load with torch 2.11.0 under /t/python; expected a build for this torch and Python",
            Severity.ERROR,
        ),
        (
            "flash-attn 2.8.3 does not load with torch 2.11.0 under /t/python; expected a build for this torch and Python",
            Severity.WARNING,
        ),
    ]


def test_torch_itself() -> None:
    said = "ImportError: libtorch_cuda.so: undefined symbol: ncclCommShrink"
    assert messages("", Tried("torch", "torch", said)) == [
        ("torch 2.11.0 does not import under /t/python; expected a build for this Python", Severity.ERROR)
    ]


def test_reproduces_on_a_recording() -> None:
    assert judge("ENV011", "flash_attn_other_torch") == Outcome(
        id="ENV011",
        slug="compiled-extension-abi",
        status=Status.FAIL,
        findings=(
            Finding(
                message=(
                    "flash-attn 2.8.3 does not load with torch 2.11.0+cu130 under /opt/train/bin/python; expected a build for this torch and Python"
                ),
                evidence=(f"OSError: {LIBRARY}: undefined symbol: {SYMBOL}",),
                severity=Severity.WARNING,
                remedy=Remedy(
                    kind=RemedyKind.FIX_ENV,
                    summary="install torch and the extensions built for it together, from one index",
                    commands=(
                        "/opt/train/bin/python -m pip install --force-reinstall --no-deps --no-cache-dir flash-attn",
                    ),
                ),
            ),
        ),
    )


def test_silent_on_the_clean_machine() -> None:
    assert judge("ENV011", "clean_gpu_node").status is Status.PASS


ASKED = "ask extensions /opt/train/bin/python flashinfer-python torchvision vllm"


def test_a_machine_without_a_driver_is_no_verdict() -> None:
    said = "OSError: libcuda.so.1: cannot open shared object file: No such file or directory"
    out = f'{{"torch": "2.11.0", "tried": [["torch", "torch", ""], ["vllm", "/s/cumem_allocator.abi3.so", "{said}"]]}}'
    outcome = judge("ENV011", recorded("clean_gpu_node").but({ASKED: {"rc": 0, "out": [out], "err": []}}))
    assert (outcome.status, outcome.reason) == (
        Status.UNKNOWN,
        (
            "/s/cumem_allocator.abi3.so needs a GPU driver, and this machine has none: libcuda.so.1: cannot open shared object file"
        ),
    )


def test_an_import_that_hangs_is_no_verdict() -> None:
    outcome = judge("ENV011", recorded("clean_gpu_node").but({ASKED: {"timed_out": True, "out": [], "err": []}}))
    assert (outcome.status, outcome.reason) == (
        Status.UNKNOWN,
        "extensions /opt/train/bin/python flashinfer-python torchvision vllm: timed out after 60 s",
    )


def test_does_not_apply_where_torch_is_not_installed() -> None:
    bare = '{"version": "3.12.1", "implementation": "cpython", "platform": "linux", "machine": "x86_64", "prefix": "/t", "base_prefix": "/t", "include": "/i", "header": true, "distributions": {}, "requires": {}}'
    machine = recorded("clean_gpu_node").but(
        {"ask interpreter /opt/train/bin/python": {"rc": 0, "out": [bare], "err": []}}
    )
    outcome = judge("ENV011", machine)
    assert (outcome.status, outcome.reason) == (Status.SKIP, "torch is not installed for /opt/train/bin/python")
