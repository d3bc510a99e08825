"""The watch's files: events, state, health. A write error is reported once, and the write is tried again."""

import os
from collections.abc import Callable, Mapping
from typing import Any

from skyrl_doctor.watch import state
from skyrl_doctor.watch.files import EVENTS, PROM, STATE, write_whole
from skyrl_doctor.watch.finding import Alert, Cleared, Update, alert_data
from skyrl_doctor.watch.sink import prom
from skyrl_doctor.watch.sink.events import CLEARED, FINDING, Events, Ledger, event, open_alerts
from skyrl_doctor.watch.sink.joblog import JobLog, line
from skyrl_doctor.watch.sink.webhook import Webhook

Tell = Callable[[str], None]


class Journal:
    """`tell` prints to the watch's own output. Without `writes` the journal is a viewer's: empty and never written.

    Without `announces` it prints no new finding: a single pass lists those that are open at its end.
    """

    def __init__(
        self,
        job_dir: str,
        *,
        tell: Tell,
        redact: Callable[[str], str],
        job_log: JobLog | None,
        webhook: Webhook | None = None,
        announces: bool = True,
        writes: bool = True,
    ) -> None:
        self._job_dir, self._tell, self._redact = job_dir, tell, redact
        self._job_log, self._webhook = job_log, webhook
        self._events = Events(os.path.join(job_dir, EVENTS))
        self._announces, self._writes = announces, writes
        self.memory, damage = state.load(os.path.join(job_dir, STATE)) if writes else (state.Memory(), "")
        self._ledger = Ledger.of(self._events.path, self.memory.reported) if writes else Ledger({}, {})
        self.open = open_alerts(self._events.path)
        """The findings of earlier watches of this job that are still open."""
        self._warned: set[str] = set()
        if damage:
            self.warn(damage, at=None)

    @property
    def unwritten(self) -> int:
        return self._events.waiting

    @property
    def webhook_failures(self) -> int:
        return self._webhook.failed if self._webhook else 0

    def record(self, one: Update) -> bool:
        """Writes down an update of a rule; False where it was reported before."""
        if not self._ledger.is_new(one.key):
            return False
        if isinstance(one, Cleared):
            self._add(event(CLEARED, one.at, key=one.key))
            if self._announces or one.key in self.open:
                self._tell(f"skyrl-doctor watch: {one.key} is over")
            return True
        self._add(event(FINDING, one.at, **self._clean(alert_data(one))))
        self._publish(one)
        return True

    def say(self, text: str) -> None:
        """Prints a line that is no event."""
        self._tell(self._redact(text))

    def note(self, kind: str, at: float, **rest: Any) -> None:
        """An event that is no alert: start, notice, action, end."""
        self._add(event(kind, at, **self._clean(rest)))

    def warn(self, text: str, at: float | None) -> None:
        """Something that the watch could not do; reported once."""
        if text in self._warned or len(self._warned) > 1000:
            return
        self._warned.add(text)
        self._tell(f"skyrl-doctor watch: {self._redact(text)}")
        if at is not None:
            self.note("notice", at, message=text)

    def save(self, memory: state.Memory) -> None:
        """Saves the state, after all events before it: a state without them would lose them."""
        if not self._writes or not self._flush():
            return
        try:
            state.save(os.path.join(self._job_dir, STATE), memory)
        except OSError as error:
            self.warn(f"{STATE} cannot be written: {error.strerror}", at=None)

    def counts(self) -> dict[str, int]:
        return self._ledger.counts()

    def health(self, health: prom.Health) -> None:
        if not self._writes:
            return
        try:
            write_whole(os.path.join(self._job_dir, PROM), prom.render(health), durable=False)
        except OSError as error:
            self.warn(f"{PROM} cannot be written: {error.strerror}", at=None)

    def close(self) -> None:
        self._flush()
        if self._webhook is not None:
            self._webhook.wait(5.0)

    def _publish(self, one: Alert) -> None:
        text = self._redact(line(one))
        if self._announces:
            self._tell(text)
        if self._job_log is not None:
            self._job_log.add(text)
        if self._webhook is not None:
            self._webhook.send(
                {"job": os.path.basename(os.path.abspath(self._job_dir)), "at": one.at, **alert_data(one)}
            )

    def _add(self, one: Mapping[str, Any]) -> None:
        if self._writes:
            self._events.add(one)
            self._flush()

    def _flush(self) -> bool:
        if self._events.flush():
            return True
        self.warn(self._events.trouble, at=None)
        return False

    def _clean(self, value: Any) -> Any:
        if isinstance(value, str):
            return self._redact(value)
        if isinstance(value, Mapping):
            return {name: self._clean(part) for name, part in value.items()}
        return [self._clean(part) for part in value] if isinstance(value, list) else value
