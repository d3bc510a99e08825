"""What the watch has said and remembers, on disk: events, state, health. A disk that refuses is said once, and tried again."""

import os
from collections.abc import Callable, Mapping
from typing import Any

from skyrl_doctor.watch import state
from skyrl_doctor.watch.files import EVENTS, PROM, STATE, write_whole
from skyrl_doctor.watch.finding import Cleared, Raised, Said, data
from skyrl_doctor.watch.sink import prom
from skyrl_doctor.watch.sink.events import CLEARED, FINDING, Events, Ledger, event
from skyrl_doctor.watch.sink.joblog import JobLog, line
from skyrl_doctor.watch.sink.webhook import Webhook

Tell = Callable[[str], None]


class Books:
    """`tell` is for people: the side-car's own output. Without `writes` they are a viewer's: empty, and never written."""

    def __init__(
        self,
        job_dir: str,
        *,
        tell: Tell,
        redact: Callable[[str], str],
        job_log: JobLog | None,
        webhook: Webhook | None = None,
        writes: bool = True,
    ) -> None:
        self._job_dir, self._tell, self._redact = job_dir, tell, redact
        self._job_log, self._webhook = job_log, webhook
        self._events = Events(os.path.join(job_dir, EVENTS))
        self._writes = writes
        self.memory, damage = state.load(os.path.join(job_dir, STATE)) if writes else (state.Memory(), "")
        self._ledger = Ledger.of(self._events.path, self.memory.said) if writes else Ledger({}, {})
        self._said_troubles: set[str] = set()
        if damage:
            self.trouble(damage, at=None)

    @property
    def unwritten(self) -> int:
        return self._events.waiting

    @property
    def webhook_failures(self) -> int:
        return self._webhook.failed if self._webhook else 0

    def said(self, one: Said) -> bool:
        """Writes down what a rule says; False where it was said before."""
        if not self._ledger.is_new(one.key):
            return False
        if isinstance(one, Cleared):
            self._add(event(CLEARED, one.at, key=one.key))
            self._tell(f"skyrl-doctor watch: {one.key} has passed")
            return True
        self._add(event(FINDING, one.at, **self._clean(data(one))))
        self._spread(one)
        return True

    def note(self, kind: str, at: float, **rest: Any) -> None:
        """What is no finding: start, notice, action, end."""
        self._add(event(kind, at, **self._clean(rest)))

    def trouble(self, text: str, at: float | None) -> None:
        """Something that the watch could not do; said once."""
        if text in self._said_troubles or len(self._said_troubles) > 1000:
            return
        self._said_troubles.add(text)
        self._tell(f"skyrl-doctor watch: {self._redact(text)}")
        if at is not None:
            self.note("notice", at, message=text)

    def save(self, memory: state.Memory) -> None:
        """The state counts only with the events of its moment on disk: what waits is written first."""
        if not self._writes or not self._flush():
            return
        try:
            state.save(os.path.join(self._job_dir, STATE), memory)
        except OSError as error:
            self.trouble(f"{STATE} cannot be written: {error.strerror}", at=None)

    def counts(self) -> dict[str, int]:
        return self._ledger.counts()

    def health(self, health: prom.Health) -> None:
        if not self._writes:
            return
        try:
            write_whole(os.path.join(self._job_dir, PROM), prom.render(health), durable=False)
        except OSError as error:
            self.trouble(f"{PROM} cannot be written: {error.strerror}", at=None)

    def close(self) -> None:
        self._flush()
        if self._webhook is not None:
            self._webhook.wait(5.0)

    def _spread(self, one: Raised) -> None:
        text = self._redact(line(one))
        self._tell(text)
        if self._job_log is not None:
            self._job_log.add(text)
        if self._webhook is not None:
            self._webhook.send({"job": os.path.basename(os.path.abspath(self._job_dir)), "at": one.at, **data(one)})

    def _add(self, one: Mapping[str, Any]) -> None:
        if self._writes:
            self._events.add(one)
            self._flush()

    def _flush(self) -> bool:
        if self._events.flush():
            return True
        self.trouble(self._events.trouble, at=None)
        return False

    def _clean(self, value: Any) -> Any:
        if isinstance(value, str):
            return self._redact(value)
        if isinstance(value, Mapping):
            return {name: self._clean(part) for name, part in value.items()}
        return [self._clean(part) for part in value] if isinstance(value, list) else value
