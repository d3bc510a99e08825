"""The server's metrics, in a registry of its own."""

from collections.abc import Callable, Iterable

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric

PREFIX = "skyrl_runtime_"
METRICS_TYPE = "text/plain; version=0.0.4"
_START_SECONDS = (0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0)


class Metrics:
    """Counts since this server came up."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry(auto_describe=False)
        self.starts = self._counter("starts", "Sandboxes requested.")
        self.ready = self._counter("ready", "Sandboxes that became ready.")
        self.failed = self._counter("failed", "Sandboxes that failed.")
        self.refused = self._counter("refused", "Refused requests by HTTP status.", "status")
        self.limits = self._counter("limits", "Limits that sandboxes exceeded.")
        self.reaped = self._counter("reaped", "Idle sandboxes removed by the server.")
        self.prewarmed_used = self._counter("prewarmed_used", "Starts served by a prewarmed sandbox.")
        self.builds = self._counter("builds", "Finished image builds by outcome.", "outcome")
        self.build_seconds = self._counter("build_seconds", "Seconds spent building images.")
        self.engine_restarts = self._counter("engine_restarts", "Restarts of Podman's service.")
        self.engine_unsure = self._counter("engine_unsure", "Engine calls without an answer.")
        self.start_seconds = Histogram(
            f"{PREFIX}start_seconds",
            "Seconds from POST /start to the agent server's first answer.",
            buckets=_START_SECONDS,
            registry=self._registry,
        )
        for outcome in ("built", "failed"):
            self.builds.labels(outcome)

    def _counter(self, name: str, help_text: str, *labels: str) -> Counter:
        return Counter(f"{PREFIX}{name}", help_text, labels, registry=self._registry)

    def add_gauges(self, collect: Callable[[], Iterable[Metric]]) -> None:
        """`collect` runs at each request of the metrics."""
        self._registry.register(_Gauges(collect))

    def text(self) -> str:
        return generate_latest(self._registry).decode()


class _Gauges:
    def __init__(self, collect: Callable[[], Iterable[Metric]]) -> None:
        self._collect = collect

    def collect(self) -> Iterable[Metric]:
        return self._collect()


def gauge(name: str, help_text: str, value: float) -> GaugeMetricFamily:
    return GaugeMetricFamily(f"{PREFIX}{name}", help_text, value=value)


def labelled_gauge(
    name: str, help_text: str, labels: tuple[str, ...], values: Iterable[tuple[tuple[str, ...], float]]
) -> GaugeMetricFamily:
    """`values`: the labels' values, and the gauge's."""
    family = GaugeMetricFamily(f"{PREFIX}{name}", help_text, labels=labels)
    for each, value in values:
        family.add_metric(each, value)
    return family
