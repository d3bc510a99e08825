"""ENV010."""

from checks.env.compile_cache_shared import compile_cache_shared
from skyrl_doctor.core.model import Finding, Outcome, Remedy, RemedyKind, Severity, Status
from skyrl_doctor.facts.caches import CachePlace, Caches
from skyrl_doctor.facts.environ import Environ
from skyrl_doctor.facts.host import Host
from skyrl_doctor.facts.mounts import Mount
from skyrl_train.node.caches import Cache
from support import judge, recorded

HOST = Host(name="n", user="me", uid=7, gid=7, pid=1, cpus=1, system="Linux", python="/p", cwd="/home/me", now=0.0)
LOCAL = Mount("/", "xfs", "/dev/sda1", ("rw",))
TMP = CachePlace(path="/tmp", resolved="/tmp", mount=LOCAL)


def vllm(path: str, *, mount: Mount = LOCAL, trouble: str = "") -> CachePlace:
    cache = Cache(program="vLLM", variable="VLLM_CACHE_ROOT", decided_by="VLLM_CACHE_ROOT", path=path, frail=True)
    return CachePlace(path=path, cache=cache, resolved=path, mount=mount, trouble=trouble)


def found(place: CachePlace, **environ: str) -> list[tuple[str, Severity]]:
    variables = {"HOME": "/home/me", "VLLM_CACHE_ROOT": place.path, **environ}
    findings = compile_cache_shared(Caches((place,), (TMP,)), Environ(variables), HOST)
    return [(finding.message, finding.severity) for finding in findings]


def moved(variable: str, path: str) -> Remedy:
    return Remedy(kind=RemedyKind.FIX_ENV, summary="move the cache to the node", settings={variable: path}, safe=True)


def test_a_cache_of_this_job_on_the_node_is_fine_and_so_is_any_local_one_outside_of_a_job() -> None:
    assert found(vllm("/tmp/vllm-31-me"), SLURM_JOB_ID="31") == []
    assert found(vllm("/home/me/.cache/vllm")) == []


def test_a_local_cache_of_all_jobs_is_worth_knowing() -> None:
    message = "vLLM's cache: /var/vllm-313 is used by every job of this user on this node; expected a directory that only job 31 uses"
    assert found(vllm("/var/vllm-313"), SLURM_JOB_ID="31") == [(message, Severity.INFO)]


def test_a_network_file_system_or_a_place_that_cannot_be_written_is_a_warning() -> None:
    nfs = Mount("/nfs", "beegfs", "x", ("rw",))
    assert found(vllm("/nfs/31", mount=nfs), SLURM_JOB_ID="31") == [
        (
            "vLLM's cache: /nfs/31 is on beegfs (/nfs); expected a directory of this job on the node's own disk",
            Severity.WARNING,
        )
    ]
    assert found(vllm("/x", trouble="/x is a file, not a directory")) == [
        (
            (
                "vLLM's cache: /x cannot be used: /x is a file, not a directory; expected a directory that this user can write and load code from"
            ),
            Severity.WARNING,
        )
    ]


def test_reproduces_on_a_recording() -> None:
    nfs = "is on nfs4 (/home); expected a directory of this job on the node's own disk"
    shared = "is used by every job of this user on this node; expected a directory that only job 4711 uses"
    base = "/tmp/skyrl-1000-4711"
    assert judge("ENV010", "caches_in_nfs_home") == Outcome(
        id="ENV010",
        slug="compile-cache-shared",
        status=Status.FAIL,
        findings=(
            Finding(
                message=f"vLLM's cache: /home/trainer/.cache/vllm {nfs}",
                severity=Severity.WARNING,
                remedy=moved("VLLM_CACHE_ROOT", f"{base}/vllm"),
            ),
            Finding(
                message=f"Inductor's cache: /tmp/torchinductor_trainer {shared}",
                severity=Severity.INFO,
                remedy=moved("TORCHINDUCTOR_CACHE_DIR", f"{base}/inductor"),
            ),
            Finding(
                message=f"FlashInfer's cache: /home/trainer/.cache/flashinfer {nfs}",
                severity=Severity.WARNING,
                remedy=moved("FLASHINFER_WORKSPACE_BASE", f"{base}/flashinfer"),
            ),
        ),
    )


def test_silent_on_the_clean_machine() -> None:
    assert judge("ENV010", "clean_gpu_node").status is Status.PASS


def test_a_cache_that_could_not_be_looked_at_is_no_pass_and_hides_no_finding() -> None:
    path = "/home/trainer/.cache/vllm"
    unseen = {f"lstat {path}": {"unreadable": path, "why": "Stale file handle"}}
    findings = judge("ENV010", recorded("caches_in_nfs_home").but(unseen)).findings
    assert [finding.message.partition(":")[0] for finding in findings] == ["Inductor's cache", "FlashInfer's cache"]
    base = "/tmp/skyrl-1000-4711/vllm"
    outcome = judge(
        "ENV010", recorded("clean_gpu_node").but({f"lstat {base}": {"unreadable": base, "why": "Stale file handle"}})
    )
    assert (outcome.status, outcome.reason) == (Status.UNKNOWN, f"{base}: Stale file handle")
