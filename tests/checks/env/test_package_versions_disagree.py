"""ENV012."""

from dataclasses import replace

from checks.env.package_versions_disagree import package_versions_disagree
from skyrl_doctor.core.model import Finding, Outcome, Remedy, RemedyKind, Severity, Status
from skyrl_doctor.facts.interpreter import Interpreter, TrainingPython
from support import judge, recorded

BARE = Interpreter(
    python=TrainingPython("/t/python", "UV_PYTHON"),
    version="3.12.1",
    implementation="cpython",
    platform="linux",
    machine="x86_64",
    prefix="/t",
    base_prefix="/usr",
    include="/inc",
    header=True,
    packages={},
)


def messages(
    packages: dict[str, str], requires: dict[str, tuple[str, ...]], *doubled: str
) -> list[tuple[str, Severity]]:
    interpreter = replace(BARE, packages=packages, requires=requires, doubled=doubled)
    return [(finding.message, finding.severity) for finding in package_versions_disagree(interpreter)]


def install(what: str) -> Remedy:
    return Remedy(
        kind=RemedyKind.FIX_ENV,
        summary="install the required version for the training interpreter",
        commands=(f"/opt/train/bin/python -m pip install {what}",),
    )


def test_what_was_compiled_against_another_torch_ends_the_run() -> None:
    assert messages({"vllm": "0.24.0", "torch": "2.13.0+cpu"}, {"vllm": ("torch==2.11.0",)}) == [
        ("vllm 0.24.0 requires torch==2.11.0, but 2.13.0+cpu is installed", Severity.ERROR)
    ]
    assert messages({"vllm": "0.24.0", "torch": "2.11.0+cu130"}, {"vllm": ("torch==2.11.0",)}) == []


def test_an_openhands_package_of_another_release_is_a_warning() -> None:
    packages = {"openhands-sdk": "1.58.2", "openhands-agent-server": "1.58.0"}
    message = "the OpenHands packages have different versions: openhands-agent-server 1.58.0, openhands-sdk 1.58.2; expected the same for all"
    assert messages(packages, {}) == [(message, Severity.WARNING)]


def test_a_package_that_is_there_twice() -> None:
    message = "torch is installed twice in one directory, because an installation was interrupted; expected once"
    assert messages({"torch": "2.11.0"}, {}, "numpy", "torch") == [(message, Severity.WARNING)]


def test_reproduces_on_a_recording() -> None:
    versions = (
        "openhands-agent-server 1.58.0, openhands-sdk 1.0.0a5, openhands-tools 1.58.0, openhands-workspace 1.58.0"
    )
    transformers = "transformers!=5.6.0,<5.11,==5.9.0,>=5.5.3"
    names = ("openhands-agent-server", "openhands-sdk", "openhands-tools", "openhands-workspace")
    assert judge("ENV012", "stack_disagrees") == Outcome(
        id="ENV012",
        slug="package-versions-disagree",
        status=Status.FAIL,
        findings=(
            Finding(
                message=f"verl 0.9.1 requires {transformers}, but 5.12.0 is installed",
                severity=Severity.WARNING,
                remedy=install(f"'{transformers}'"),
            ),
            Finding(
                message="verl 0.9.1 requires transferqueue>=0.1.10, but it is not installed",
                remedy=install("'transferqueue>=0.1.10'"),
            ),
            Finding(
                message=f"the OpenHands packages have different versions: {versions}; expected the same for all",
                remedy=install(" ".join(f"'{name}==1.58.0'" for name in names)),
            ),
        ),
    )


def test_silent_on_the_clean_machine() -> None:
    """The stack as pip resolves it: verl[vllm] 0.9.1 beside the OpenHands packages 1.58.0."""
    assert judge("ENV012", "clean_gpu_node").status is Status.PASS


def test_does_not_apply_where_nothing_of_the_stack_is_installed() -> None:
    bare = '{"version": "3.12.1", "implementation": "cpython", "platform": "linux", "machine": "x86_64", "prefix": "/t", "base_prefix": "/t", "include": "/i", "header": true, "distributions": {}, "requires": {}}'
    machine = recorded("clean_gpu_node").but(
        {"ask interpreter /opt/train/bin/python": {"rc": 0, "out": [bare], "err": []}}
    )
    outcome = judge("ENV012", machine)
    assert (outcome.status, outcome.reason) == (
        Status.SKIP,
        "/opt/train/bin/python has none of verl, vllm, torch, transformers, ray, openhands-*",
    )


def test_an_interpreter_that_hangs_is_no_verdict() -> None:
    machine = recorded("clean_gpu_node").but(
        {"ask interpreter /opt/train/bin/python": {"timed_out": True, "out": [], "err": []}}
    )
    outcome = judge("ENV012", machine)
    assert (outcome.status, outcome.reason) == (
        Status.UNKNOWN,
        (
            "the training interpreter /opt/train/bin/python (from UV_PYTHON): "
            "interpreter /opt/train/bin/python: timed out after 10 s"
        ),
    )
