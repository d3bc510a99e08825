"""health.prom: the state of the run, for node_exporter's textfile collector."""

from collections.abc import Iterator, Mapping

from skyrl_doctor.core.record import record
from skyrl_doctor.report.prometheus import Gauge, metric_lines
from skyrl_doctor.watch.finding import Alert
from skyrl_doctor.watch.rules.progress import Progress


@record(kw_only=True)
class Health:
    """The state of one run. `open` are the alerts that are not over."""

    job: str
    at: float
    open: tuple[Alert, ...]
    progress: Progress
    fills: Mapping[str, tuple[float, float]]
    webhook_failures: int = 0
    unwritten_events: int = 0
    ended: bool = False


def render(health: Health) -> str:
    return "".join(f"{line}\n" for gauge in _gauges(health) for line in metric_lines(gauge))


def _gauges(health: Health) -> Iterator[Gauge]:
    job = {"job": health.job}
    yield Gauge(
        "skyrl_doctor_watch_up", "1 while the job is watched, 0 after its end.", ((job, int(not health.ended)),)
    )
    yield Gauge(
        "skyrl_doctor_watch_last_tick_timestamp_seconds", "Time of the last turn of the watch.", ((job, health.at),)
    )
    if health.progress.step is not None:
        yield Gauge("skyrl_doctor_watch_step", "The last training step.", ((job, health.progress.step),))
    if health.progress.at is not None:
        yield Gauge(
            "skyrl_doctor_watch_last_progress_timestamp_seconds",
            "Time of the last rollout, token, step or checkpoint.",
            ((job, health.progress.at),),
        )
    yield Gauge(
        "skyrl_doctor_watch_finding",
        "1 for each finding that is not over.",
        tuple(
            (
                {
                    **job,
                    "id": one.id,
                    "slug": one.slug,
                    "key": one.key,
                    "severity": one.finding.severity.word,
                    "root": str(one.root).lower(),
                },
                1,
            )
            for one in health.open
        ),
    )
    yield Gauge(
        "skyrl_doctor_watch_fill_ratio",
        "How full a GPU, the job's memory or a disk is, 0 to 1.",
        tuple(({**job, "of": name}, used / limit) for name, (used, limit) in health.fills.items() if limit),
    )
    yield Gauge(
        "skyrl_doctor_watch_webhook_failures",
        "Webhook messages that could not be delivered.",
        ((job, health.webhook_failures),),
    )
    yield Gauge(
        "skyrl_doctor_watch_unwritten_events", "Events that are not on disk yet.", ((job, health.unwritten_events),)
    )
