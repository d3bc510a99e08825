"""Counters and times in Prometheus' text format."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping

PREFIX = "skyrl_runtime_"
_BOUNDS = (0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0)
_HELP = {
    "starts_total": "Sandboxes that were asked for.",
    "ready_total": "Sandboxes that became ready.",
    "failed_total": "Sandboxes that failed.",
    "refused_total": "Requests that were refused, by status.",
    "limits_total": "Sandboxes that went beyond a limit, and were held back.",
    "reaped_total": "Sandboxes that their clients left behind.",
    "prewarmed_used_total": "Starts that were served by a sandbox made ahead.",
    "builds_total": "Images that clients had built, by how it ended.",
    "engine_restarts_total": "Restarts of Podman's service.",
    "engine_unsure_total": "Engine calls without an answer.",
}


class Metrics:
    """Counts since this server came up."""

    def __init__(self) -> None:
        self._counts: Counter[tuple[str, str]] = Counter({(name, ""): 0 for name in _HELP})
        self._buckets = [0] * (len(_BOUNDS) + 1)
        self._sum = 0.0
        self._build_s = 0.0

    def count(self, name: str, label: str = "") -> None:
        self._counts[name, label] += 1

    def started(self, seconds: float) -> None:
        self._buckets[bisect_left(_BOUNDS, seconds)] += 1
        self._sum += seconds

    def built(self, seconds: float, *, failed: bool) -> None:
        self.count("builds_total", '{outcome="%s"}' % ("failed" if failed else "built"))
        self._build_s += seconds

    def text(self, gauges: Mapping[str, float]) -> str:
        lines: list[str] = []
        for name, wanted in _HELP.items():
            lines += [f"# HELP {PREFIX}{name} {wanted}", f"# TYPE {PREFIX}{name} counter"]
            known = sorted((label, count) for (counted, label), count in self._counts.items() if counted == name)
            labelled = [entry for entry in known if entry[0]] or known
            lines += [f"{PREFIX}{name}{label} {count}" for label, count in labelled]
        for name in dict.fromkeys(name.partition("{")[0] for name in gauges):
            lines.append(f"# TYPE {PREFIX}{name} gauge")
            lines += [f"{PREFIX}{each} {value:g}" for each, value in gauges.items() if each.partition("{")[0] == name]
        lines += [f"# TYPE {PREFIX}build_seconds_total counter", f"{PREFIX}build_seconds_total {self._build_s:.3f}"]
        return "\n".join((*lines, *self._histogram())) + "\n"

    def _histogram(self) -> list[str]:
        name = f"{PREFIX}start_seconds"
        lines = [f"# HELP {name} From POST /start until the agent server answers.", f"# TYPE {name} histogram"]
        total = 0
        for bound, count in zip((*_BOUNDS, "+Inf"), self._buckets, strict=True):
            total += count
            lines.append(f'{name}_bucket{{le="{bound}"}} {total}')
        return [*lines, f"{name}_sum {self._sum:.6f}", f"{name}_count {total}"]
