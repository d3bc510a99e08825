"""Prometheus' text format, as far as gauges, counters and histograms go. What is no sample is passed over.

https://prometheus.io/docs/instrumenting/exposition_formats/
"""

import math
import re
from collections.abc import Callable, Mapping, Sequence

from skyrl_doctor.core.record import record

MOST_SAMPLES = 50_000
_SAMPLE = re.compile(
    r"(?P<name>[a-zA-Z_:][\w:]*)(?P<labels>\{(?:[^\"}]|\"(?:[^\"\\]|\\.)*\")*\})?\s+(?P<value>\S+)(?:\s+-?\d+)?\s*"
)
_LABEL = re.compile(r"([a-zA-Z_]\w*)\s*=\s*\"((?:[^\"\\]|\\.)*)\"")
_ESCAPED = {"\\n": "\n", '\\"': '"', "\\\\": "\\"}


@record
class Sample:
    name: str
    labels: Mapping[str, str]
    value: float


def parse(text: str) -> list[Sample]:
    found = (_parse_line(line) for line in text.splitlines()[:MOST_SAMPLES])
    return [sample for sample in found if sample is not None]


def _parse_line(line: str) -> Sample | None:
    match = _SAMPLE.fullmatch(line.strip()) if line and not line.startswith("#") else None
    if match is None:
        return None
    try:
        value = float(match["value"].replace("Inf", "inf"))
    except ValueError:
        return None
    labels = {name: re.sub(r"\\.", _unescaped, text) for name, text in _LABEL.findall(match["labels"] or "")}
    return Sample(match["name"], labels, value)


def _unescaped(match: re.Match[str]) -> str:
    return _ESCAPED.get(match[0], match[0])


def total(
    samples: Sequence[Sample], *names: str, where: Callable[[Mapping[str, str]], bool] = lambda _: True
) -> float | None:
    """The sum over all labels of the first of these names that is there; None where none is, or none is a number."""
    for name in names:
        values = [sample.value for sample in samples if sample.name == name and where(sample.labels)]
        finite = [value for value in values if math.isfinite(value)]
        if finite:
            return sum(finite)
    return None


def quantile(samples: Sequence[Sample], name: str, q: float) -> float | None:
    """The upper bound of the bucket that holds the quantile; None for an empty or unbounded one."""
    buckets: dict[float, float] = {}
    for sample in samples:
        if sample.name == f"{name}_bucket" and "le" in sample.labels:
            try:
                bound = float(sample.labels["le"].replace("Inf", "inf"))
            except ValueError:
                continue
            buckets[bound] = buckets.get(bound, 0.0) + sample.value
    whole = buckets.get(math.inf, max(buckets.values(), default=0.0))
    if not whole or not math.isfinite(whole):
        return None
    bound = next((bound for bound in sorted(buckets) if buckets[bound] >= q * whole), math.inf)
    return bound if math.isfinite(bound) else max((b for b in buckets if math.isfinite(b)), default=None)
