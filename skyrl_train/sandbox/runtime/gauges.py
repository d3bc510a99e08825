"""What the server has at the moment it is asked, as gauges."""

from collections import Counter
from collections.abc import Iterator

from prometheus_client.core import Metric

from skyrl_train.contracts.sandbox.wire import State
from skyrl_train.sandbox.runtime.database import Database
from skyrl_train.sandbox.runtime.limits import Limit
from skyrl_train.sandbox.runtime.metrics import gauge, labelled_gauge
from skyrl_train.sandbox.runtime.slots import Slots


def session_gauges(database: Database, slots: Slots) -> Iterator[Metric]:
    records = database.all()
    states = Counter(record.state for record in records)
    yield gauge("slots", "Worker slots of this node.", slots.total)
    yield gauge("slots_used", "Worker slots in use.", slots.used)
    yield gauge("queue", "Sessions waiting for a slot.", slots.waiting)
    yield labelled_gauge("sessions", "Sessions by state.", ("state",), [((each,), states[each]) for each in State])
    yield gauge("removals_open", "Containers still to be removed.", sum(record.removal for record in records))


def limit_gauges(limits: tuple[Limit, ...]) -> Iterator[Metric]:
    if limits:
        values = [((each.what, each.held_by), each.value) for each in limits]
        yield labelled_gauge("sandbox_limit", "Limits of one sandbox.", ("what", "held_by"), values)
