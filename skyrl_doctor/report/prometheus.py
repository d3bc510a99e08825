"""Prometheus text exposition, for node_exporter's textfile collector: write it with --output to a *.prom file.

https://prometheus.io/docs/instrumenting/exposition_formats/
"""

from collections import Counter
from collections.abc import Iterator, Mapping

from skyrl_doctor.core.model import Outcome, Status
from skyrl_doctor.core.record import record
from skyrl_doctor.report.model import VERDICTS, Batch, Report
from skyrl_doctor.report.plain import encodable

Sample = tuple[Mapping[str, str], float]


@record
class Gauge:
    name: str
    help: str
    samples: tuple[Sample, ...]


def render(report: Report) -> str:
    return "".join(f"{line}\n" for gauge in _gauges(report) for line in metric_lines(gauge))


def render_batch(batch: Batch) -> str:
    """Several runs: each sample has the run's targets as a label."""
    merged: dict[str, Gauge] = {}
    for report in batch.reports:
        target = {"target": " ".join(report.printed_targets)}
        for gauge in _gauges(report):
            before = merged[gauge.name].samples if gauge.name in merged else ()
            samples = tuple(({**labels, **target}, value) for labels, value in gauge.samples)
            merged[gauge.name] = Gauge(gauge.name, gauge.help, (*before, *samples))
    refused = tuple(({"target": refusal.target}, 1.0) for refusal in batch.refused)
    gauges = [*merged.values(), Gauge("skyrl_doctor_refused", "1 for a target that could not be read.", refused)]
    return "".join(f"{line}\n" for gauge in gauges if gauge.samples for line in metric_lines(gauge))


def _gauges(report: Report) -> Iterator[Gauge]:
    yield Gauge(
        "skyrl_doctor_check_status",
        "1 for the current status of the check, 0 for its other statuses.",
        tuple(sample for outcome in report.outcomes for sample in _status(outcome)),
    )
    yield Gauge(
        "skyrl_doctor_check_findings",
        "Findings of the check that are not waived, by severity.",
        tuple(sample for outcome in report.outcomes for sample in _findings(outcome)),
    )
    yield Gauge(
        "skyrl_doctor_verdict",
        "1 for the verdict of the last examination, 0 for the others.",
        tuple(({"verdict": verdict}, int(verdict == report.verdict)) for verdict in VERDICTS),
    )
    yield Gauge(
        "skyrl_doctor_duration_seconds", "Duration of the last examination in seconds.", (({}, report.duration_s),)
    )
    if report.finished_at is not None:
        yield Gauge(
            "skyrl_doctor_last_run_timestamp_seconds",
            "End of the last examination, in seconds since the epoch.",
            (({}, report.finished_at),),
        )
    info = {"version": report.version, "role": "+".join(report.roles), "host": report.host}
    yield Gauge(
        "skyrl_doctor_info", "Version of the doctor, role and host of the last examination; always 1.", ((info, 1),)
    )


def _status(outcome: Outcome) -> Iterator[Sample]:
    for status in Status:
        yield {**_names(outcome), "status": status.value}, int(outcome.status is status)


def _findings(outcome: Outcome) -> Iterator[Sample]:
    counted = Counter(finding.severity for finding in outcome.findings if outcome.status is Status.FAIL)
    for severity, count in sorted(counted.items()):
        yield {**_names(outcome), "severity": severity.word}, count


def _names(outcome: Outcome) -> dict[str, str]:
    return {"id": outcome.id, "slug": outcome.slug}


def metric_lines(gauge: Gauge) -> Iterator[str]:
    """The lines of one metric."""
    yield f"# HELP {gauge.name} {gauge.help}"
    yield f"# TYPE {gauge.name} gauge"
    for labels, value in gauge.samples:
        inside = ",".join(f'{name}="{escape_label(text)}"' for name, text in labels.items())
        yield f"{gauge.name}{{{inside}}} {value!r}" if inside else f"{gauge.name} {value!r}"


def escape_label(label: str) -> str:
    """A label's value: any UTF-8, with backslash, quote and line feed escaped."""
    return encodable(label).replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
