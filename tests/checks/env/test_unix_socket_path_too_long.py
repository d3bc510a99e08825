"""ENV006."""

import pytest

from checks.env.unix_socket_path_too_long import unix_socket_path_too_long
from skyrl_doctor.core.model import Finding, Outcome, Remedy, RemedyKind, Severity, Status
from skyrl_doctor.facts.environ import Environ
from skyrl_doctor.facts.host import Host
from support import judge

HOST = Host(name="n", user="me", uid=7, gid=7, pid=123, cpus=1, system="Linux", python="/p", cwd="/", now=0.0)


def severities(**environ: str) -> list[tuple[str, Severity]]:
    findings = unix_socket_path_too_long(Environ(environ), HOST)
    return [(finding.message.split()[3], finding.severity) for finding in findings]


@pytest.mark.parametrize(
    ("length", "wanted"),
    [(39, []), (40, [("Ray", Severity.WARNING)]), (43, [("Ray", Severity.WARNING)]), (44, [("Ray", Severity.ERROR)])],
)
def test_counts_to_the_byte(length: int, wanted: list[tuple[str, Severity]]) -> None:
    """Ray adds 61 bytes and its process id: three digits now, seven at most."""
    assert severities(RAY_TMPDIR="/" + "a" * (length - 1)) == wanted


def test_bytes_are_counted_not_characters() -> None:
    assert severities(RAY_TMPDIR="/" + "ü" * 22) == [("Ray", Severity.ERROR)]


def test_ray_follows_its_own_variable_first_and_vllm_its_own() -> None:
    deep = "/scratch/" + "d" * 70
    both = [("Ray", Severity.ERROR), ("vLLM", Severity.ERROR)]
    assert severities(TMPDIR=deep) == both
    assert severities(TMPDIR=deep, RAY_TMPDIR="/tmp") == [("vLLM", Severity.ERROR)]
    assert severities(TMPDIR=deep, RAY_TMPDIR="/tmp", VLLM_RPC_BASE_PATH="/tmp") == []
    assert severities(VLLM_RPC_BASE_PATH="/" + "v" * 69) == []
    assert severities(VLLM_RPC_BASE_PATH="/" + "v" * 70) == [("vLLM", Severity.ERROR)]


def test_unset_is_the_systems_own_directory() -> None:
    assert severities() == []


def test_reproduces_on_a_recording() -> None:
    deep = "/scratch/project_465000123/slurm_jobdir/4711/tmp.gpu-node-17.0001"
    assert judge("ENV006", "long_tmpdir") == Outcome(
        id="ENV006",
        slug="unix-socket-path-too-long",
        status=Status.FAIL,
        findings=(
            Finding(
                message=f"a socket of Ray will have a path of 131 bytes (TMPDIR={deep}); expected at most 107",
                evidence=(f"{deep}/ray/session_2026-01-31_23-59-59_123456_99999/sockets/plasma_store",),
                remedy=Remedy(
                    kind=RemedyKind.FIX_ENV,
                    summary="set RAY_TMPDIR to a short local directory of this job",
                    commands=("mkdir -p -m 700 /tmp/r4711",),
                    settings={"RAY_TMPDIR": "/tmp/r4711"},
                    safe=True,
                ),
            ),
        ),
    )


def test_silent_on_the_clean_machine() -> None:
    assert judge("ENV006", "clean_gpu_node").status is Status.PASS
