"""The inference server's and the sandbox runtime's own figures."""

import json
import os
from collections.abc import Callable, Mapping, Sequence

from skyrl_doctor.core.errors import CouldNotLook
from skyrl_doctor.machine.base import Absent, Machine
from skyrl_doctor.machine.http_query import Fetched, Get
from skyrl_doctor.watch.observations import Observation, Sandboxes, Served
from skyrl_doctor.watch.read.exposition import Sample, parse, quantile, total
from skyrl_doctor.watch.sample.base import Look
from skyrl_train.contracts.job_files import KEY, URL
from skyrl_train.contracts.sandbox.wire import RUNTIME_KEY_HEADER

LIMIT_S = 5.0
MOST_BYTES = 4 << 20
ENOUGH_STARTS = 5
_RUNTIME = "skyrl_runtime_"


def inference(url: str) -> Look:
    """vLLM's /metrics."""
    base = url.rstrip("/").removesuffix("/metrics").removesuffix("/v1")

    def look(machine: Machine, now: float) -> Sequence[Observation]:
        fetched = machine.answer(Get(url=f"{base}/metrics", limit_s=LIMIT_S, limit_bytes=MOST_BYTES))
        if fetched.status != 200:
            raise CouldNotLook(f"{base}/metrics: {fetched.why or fetched.status}")
        return (served(parse(fetched.body), base, now),)

    return look


def served(samples: Sequence[Sample], url: str, now: float) -> Served:
    return Served(
        at=now,
        url=url,
        generated_tokens=total(samples, "vllm:generation_tokens_total", "vllm:generation_tokens"),
        finished=total(samples, "vllm:request_success_total", "vllm:request_success"),
        refused=total(samples, "http_requests_total", where=_has_status("4")),
        failed=total(samples, "http_requests_total", where=_has_status("5")),
        running=total(samples, "vllm:num_requests_running"),
        waiting=total(samples, "vllm:num_requests_waiting"),
        cache_usage=total(samples, "vllm:kv_cache_usage_perc", "vllm:gpu_cache_usage_perc"),
    )


def _has_status(digit: str) -> Callable[[Mapping[str, str]], bool]:
    return lambda labels: labels.get("status", "").startswith(digit)


class Runtime:
    """The runtime that wrote its URL into the job's directory: /health, then /metrics with the job's own key."""

    def __init__(self, job_dir: str) -> None:
        self._url_file, self._key_file = os.path.join(job_dir, URL), os.path.join(job_dir, KEY)
        self._before: dict[str, float] = {}

    def look(self, machine: Machine, now: float) -> Sequence[Observation]:
        try:
            url = machine.read(self._url_file, limit_bytes=4096).strip()
        except Absent:  # it is not up yet, or this run has none
            return ()
        if len(url.split()) != 1:
            raise CouldNotLook(f"{self._url_file} holds {len(url.split())} words; wanted one URL")
        health = self._get(machine, f"{url.rstrip('/')}/health")
        if health.status != 200:
            return (Sandboxes(at=now, url=url, status=health.status, why=health.why),)
        metrics = self._get(machine, f"{url.rstrip('/')}/metrics")
        if metrics.status in (401, 403):
            return (Sandboxes(at=now, url=url, status=metrics.status),)
        return (self._figures(parse(metrics.body), url, now, draining=_is_draining(health)),)

    def _get(self, machine: Machine, url: str) -> Fetched:
        try:
            machine.stat(self._key_file)
        except Absent:
            return machine.answer(Get(url=url, limit_s=LIMIT_S, limit_bytes=MOST_BYTES))
        key = f"file {self._key_file}"
        return machine.answer(
            Get(url=url, limit_s=LIMIT_S, key_header=RUNTIME_KEY_HEADER, key_from=key, limit_bytes=MOST_BYTES)
        )

    def _figures(self, samples: Sequence[Sample], url: str, now: float, *, draining: bool) -> Sandboxes:
        slots, used = total(samples, f"{_RUNTIME}slots"), total(samples, f"{_RUNTIME}slots_used")
        return Sandboxes(
            at=now,
            url=url,
            status=200,
            why="draining" if draining else "",
            slots=slots,
            free=None if slots is None or used is None else slots - used,
            pending=total(samples, f"{_RUNTIME}queue"),
            building=total(samples, f"{_RUNTIME}sessions", where=_is_being_built),
            starts=total(samples, f"{_RUNTIME}starts_total"),
            start_p95_s=self._recent_p95(samples),
            responses=total(samples, f"{_RUNTIME}starts_total"),
            errors_5xx=_sum(
                total(samples, f"{_RUNTIME}refused_total", where=_has_status("5")),
                total(samples, f"{_RUNTIME}failed_total"),
            ),
        )

    def _recent_p95(self, samples: Sequence[Sample]) -> float | None:
        """Of the starts since the last figure that was given: a slow first hour is not held against the second."""
        name = f"{_RUNTIME}start_seconds"
        counts = {one.labels.get("le", ""): one.value for one in samples if one.name == f"{name}_bucket"}
        recent = {bound: count - self._before.get(bound, 0.0) for bound, count in counts.items()}
        if recent.get("+Inf", 0.0) < ENOUGH_STARTS:
            if recent.get("+Inf", 0.0) < 0:  # it was started anew
                self._before = {}
            return None
        self._before = counts
        return quantile([Sample(f"{name}_bucket", {"le": bound}, count) for bound, count in recent.items()], name, 0.95)


def _is_being_built(labels: Mapping[str, str]) -> bool:
    return labels.get("state") in ("building", "pulling")


def _is_draining(health: Fetched) -> bool:
    try:
        said = json.loads(health.body)
    except ValueError:
        return False
    return isinstance(said, dict) and said.get("status") == "draining"


def _sum(*values: float | None) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None
