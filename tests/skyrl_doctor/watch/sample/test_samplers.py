"""What samplers make of answers, and what they do where there is none."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

import pytest

from skyrl_doctor.core.errors import CouldNotLook, NotApplicable
from skyrl_doctor.machine import queries as q
from skyrl_doctor.machine.base import Absent, Machine
from skyrl_doctor.machine.http_query import Fetched, Get
from skyrl_doctor.watch.observations import Checkpoint, Fill, Left, Sandboxes, Served, Use
from skyrl_doctor.watch.sample import node, servers, slurm
from skyrl_doctor.watch.sample.base import REST_S, Sampler, Samplers, Trouble
from skyrl_doctor.watch.sample.checkpoints import checkpoints

T = TypeVar("T")


class Answers(Machine):
    """A machine of these answers, by the key of the query; all else is absent."""

    def __init__(self, **answers: Any) -> None:
        self.answers: dict[str, Any] = answers

    def answer(self, query: q.Query[T]) -> T:
        if query.key not in self.answers:
            raise Absent(query.key)
        return cast(T, self.answers[query.key])


def of(answers: dict[str, Any]) -> Answers:
    machine = Answers()
    machine.answers = answers
    return machine


VLLM = (
    'vllm:generation_tokens_total{engine="0"} 100.0\nvllm:request_success_total{finished_reason="stop"} 3\n'
    'vllm:request_success_total{finished_reason="length"} 1\nvllm:num_requests_running 2\nvllm:num_requests_waiting 5\n'
    'vllm:kv_cache_usage_perc 0.5\nhttp_requests_total{status="4xx",handler="/v1"} 7\nhttp_requests_total{status="200"} 9\n'
)


def test_vllm_s_figures() -> None:
    get = Get(url="http://v:8000/metrics", limit_s=5.0).key
    machine = of({get: Fetched(url="", status=200, body=VLLM)})
    for url in ("http://v:8000", "http://v:8000/", "http://v:8000/v1", "http://v:8000/metrics"):
        assert servers.inference(url)(machine, 3.0) == (
            Served(
                at=3.0,
                url="http://v:8000",
                generated_tokens=100.0,
                finished=4.0,
                refused=7.0,
                running=2.0,
                waiting=5.0,
                cache_usage=0.5,
            ),
        )
    with pytest.raises(CouldNotLook, match="http://v:8000/metrics: Connection refused"):
        servers.inference("http://v:8000")(of({get: Fetched(url="", why="Connection refused")}), 3.0)


RUNTIME = (
    "skyrl_runtime_slots 7\nskyrl_runtime_slots_used 7\nskyrl_runtime_queue 4\nskyrl_runtime_starts_total 30\n"
    'skyrl_runtime_sessions{{state="building"}} 1\nskyrl_runtime_sessions{{state="pulling"}} 2\nskyrl_runtime_sessions{{state="ready"}} 9\n'
    'skyrl_runtime_refused_total{{status="503"}} 3\nskyrl_runtime_refused_total{{status="401"}} 8\nskyrl_runtime_failed_total 2\n'
    'skyrl_runtime_start_seconds_bucket{{le="10.0"}} {fast}\nskyrl_runtime_start_seconds_bucket{{le="+Inf"}} {all}\n'
)


def runtime(metrics: Fetched, health: Fetched | None = None) -> Answers:
    key = "file /j/runtime_api_key.txt"
    gets = {
        name: Get(url=f"http://r:1/{name}", limit_s=5.0, key_header="X-API-Key", key_from=key).key
        for name in ("health", "metrics")
    }
    return of(
        {
            "read /j/runtime_url.txt": b"http://r:1\n",
            "stat /j/runtime_api_key.txt": q.Stat(
                kind="file", mode=0o600, uid=1, gid=1, size=9, mtime=0.0, device=1, inode=1
            ),
            gets["health"]: health or Fetched(url="", status=200, body='{"status": "ok"}'),
            gets["metrics"]: metrics,
        }
    )


def test_the_runtime_s_figures_and_its_recent_starts() -> None:
    look = servers.Runtime("/j").look
    (seen,) = look(runtime(Fetched(url="", status=200, body=RUNTIME.format(fast=10, all=10))), 3.0)
    assert seen == Sandboxes(
        at=3.0,
        url="http://r:1",
        status=200,
        slots=7.0,
        free=0.0,
        pending=4.0,
        building=3.0,
        starts=30.0,
        start_p95_s=10.0,
        responses=30.0,
        errors_5xx=5.0,
    )
    (later,) = look(runtime(Fetched(url="", status=200, body=RUNTIME.format(fast=10, all=12))), 4.0)
    assert isinstance(later, Sandboxes)
    assert later.start_p95_s is None


def test_a_runtime_that_refuses_is_down_or_not_there_yet() -> None:
    look = servers.Runtime("/j").look
    assert look(of({}), 3.0) == ()
    assert look(runtime(Fetched(url="", status=401)), 3.0) == (Sandboxes(at=3.0, url="http://r:1", status=401),)
    down = Fetched(url="", why="Connection refused")
    assert look(runtime(down, down), 3.0) == (Sandboxes(at=3.0, url="http://r:1", why="Connection refused"),)
    with pytest.raises(CouldNotLook, match="holds 3 words; wanted one URL"):
        look(of({"read /j/runtime_url.txt": b"[INFO] up http://r:1\n"}), 3.0)


def test_gpus_by_the_slices_that_the_job_has() -> None:
    uuid = "MIG-aaaaaaaa-0000-0000-0000-000000000001"
    memory = {"total": 20 << 30, "used": 5 << 30, "free": 15 << 30}
    part = {
        "index": 0,
        "uuid": uuid,
        "name": "NVIDIA A100 MIG 2g.20gb",
        "gi": 1,
        "ci": 0,
        "shape": None,
        "memory": memory,
        "processes": [],
        "refused": {},
    }
    gpu = {
        "index": 0,
        "uuid": "GPU-1",
        "name": "A100",
        "mig": True,
        "memory": None,
        "processes": [],
        "slices": [part],
        "closed": [],
        "refused": {},
    }
    said = json.dumps({"driver": "570", "gpus": [gpu], "closed": [], "refused": {}})
    machine = of(
        {
            q.Ask("nvml", None, (), 1.0).key: q.Completed(command="nvml", rc=0, out=said),
            "environ": {"CUDA_VISIBLE_DEVICES": uuid},
        }
    )
    assert node.gpus(machine, 3.0) == (
        Fill(at=3.0, kind="gpu", name=f"MIG slice 2g.20gb ({uuid})", used=5.0, limit=20.0),
    )
    none = q.Completed(command="nvml", rc=0, out='{"error": {"code": 12, "text": "no library"}}')
    with pytest.raises(NotApplicable):
        node.gpus(of({q.Ask("nvml", None, (), 1.0).key: none}), 3.0)
    slow = q.Completed(command="nvml probe", timed_out=True, limit_s=12.0)
    with pytest.raises(CouldNotLook, match="no answer within 12 s"):
        node.gpus(of({q.Ask("nvml", None, (), 1.0).key: slow}), 3.0)


def test_gpu_use() -> None:
    key = q.Run(node.SMI, 1.0).key
    out = "0, 97\n1, [N/A]\ngarbage\n"
    assert node.gpu_use(of({key: q.Completed(command="nvidia-smi", rc=0, out=out)}), 3.0) == (
        Use(at=3.0, device="GPU 0", percent=97.0),
    )


def test_the_job_s_memory_without_the_page_cache() -> None:
    job = "/sys/fs/cgroup/slurm/job_7"
    v2 = of(
        {
            "read /proc/self/cgroup": b"0::/slurm/job_7/step_batch\n",
            f"read {job}/memory.max": b"107374182400\n",
            f"read {job}/memory.stat": b"anon 10737418240\nfile 90000000000\nshmem 1073741824\n",
        }
    )
    assert node.host_memory(v2, 3.0) == (Fill(at=3.0, kind="host", name="the job's memory", used=11.0, limit=100.0),)
    v1 = of(
        {
            "read /proc/self/cgroup": b"4:memory:/job_7\n",
            "read /sys/fs/cgroup/memory/job_7/memory.limit_in_bytes": b"107374182400\n",
            "read /sys/fs/cgroup/memory/job_7/memory.stat": b"rss 1\ntotal_rss 10737418240\ntotal_cache 9\n",
        }
    )
    assert node.host_memory(v1, 3.0) == (Fill(at=3.0, kind="host", name="the job's memory", used=10.0, limit=100.0),)
    with pytest.raises(NotApplicable):
        node.host_memory(of({"read /proc/self/cgroup": b"0::/\n"}), 3.0)


def test_disks(tmp_path: Path) -> None:
    space = q.Space(total_bytes=100 << 30, free_bytes=25 << 30, free_inodes=0)
    machine = of({f"space {tmp_path}": space})
    name = str(tmp_path / "not" / "yet")
    assert node.disk(name)(machine, 3.0) == (
        Fill(at=3.0, kind="disk", name=name, used=75.0, limit=100.0),
        Fill(at=3.0, kind="inodes", name=name, used=1.0, limit=1.0, unit="of all inodes"),
    )


def stat(kind: str, size: int = 0) -> q.Stat:
    return q.Stat(kind=kind, mode=0o644, uid=1, gid=1, size=size, mtime=0.0, device=1, inode=1)


def test_checkpoints() -> None:
    machine = of(
        {
            "list /c": ("global_step_2", "global_step_10", "global_step_x", "latest"),
            "read /c/latest_checkpointed_iteration.txt": b"2",
            "list /c/global_step_10": ("actor", "data.pt"),
            "lstat /c/global_step_10/actor": stat("dir"),
            "lstat /c/global_step_10/data.pt": stat("file", 5),
            "list /c/global_step_10/actor": ("model.pt",),
            "lstat /c/global_step_10/actor/model.pt": stat("file", 37),
        }
    )
    assert checkpoints("/c")(machine, 3.0) == (Checkpoint(at=3.0, step=10, bytes=42, tracked=2),)
    assert checkpoints("/none")(machine, 3.0) == ()


def test_slurm() -> None:
    both = {"trainer": "7", "runtime": "8"}
    key = q.Run(("squeue", "-h", "-o", "%i|%T|%L", "-j", "7,8"), 1.0).key
    out = q.Completed(command="squeue", rc=0, out="7|RUNNING|1-00:00:30\n")
    assert slurm.jobs(both)(of({key: out}), 3.0) == (
        Left(at=3.0, job="trainer", seconds=86_430.0),
        Left(at=3.0, job="runtime", seconds=None, state="GONE"),
    )
    assert slurm.left("7|PENDING|UNLIMITED\n8|RUNNING|INVALID\nx\n", both, 3.0) == [
        Left(at=3.0, job="trainer", seconds=None, state="PENDING"),
        Left(at=3.0, job="runtime", seconds=None),
    ]
    with pytest.raises(CouldNotLook):
        slurm.jobs(both)(of({key: q.Completed(command="squeue", rc=1, err="Unable to contact slurm controller")}), 3.0)
    with pytest.raises(NotApplicable):
        slurm.jobs({})(of({}), 3.0)


def collected(samplers: Samplers, now: float) -> tuple[list[Any], list[Trouble]]:
    samplers.collect(now)
    for _ in range(2000):
        seen, troubles = samplers.collect(now)
        if seen or troubles or not samplers.running:
            return list(seen), troubles
    return [], []


def one(look: Callable[[Machine, float], Any]) -> Samplers:
    return Samplers((Sampler("x", 10.0, look),), of({}))


def test_a_look_that_fails_hangs_or_crashes_hurts_nobody() -> None:
    def crash(machine: Machine, now: float) -> Any:
        return [1 / 0]

    def refuse(machine: Machine, now: float) -> Any:
        raise CouldNotLook("no answer")

    assert collected(one(crash), 1.0) == ([], [Trouble("x", "ZeroDivisionError: division by zero")])
    assert collected(one(refuse), 1.0) == ([], [Trouble("x", "no answer")])


def test_what_is_not_here_is_asked_for_less_often() -> None:
    asked: list[float] = []

    def none(machine: Machine, now: float) -> Any:
        asked.append(now)
        raise NotApplicable("no GPU")

    samplers = one(none)
    for now in range(0, int(2 * REST_S), 10):
        collected(samplers, float(now))
    assert len(asked) == 2
