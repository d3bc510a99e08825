"""What a server reports about itself: events and metrics."""

from dataclasses import dataclass

from skyrl_train.sandbox.runtime.events import Events
from skyrl_train.sandbox.runtime.metrics import Metrics


@dataclass(frozen=True, slots=True)
class Telemetry:
    events: Events
    metrics: Metrics
