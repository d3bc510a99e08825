"""Gathers facts: each once, all at once, each in a daemon thread of its own with a limit.

A thread that a dead file system holds cannot be ended; it is given up, and its fact is NotSeen.
"""

import queue
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping

from skyrl_doctor.core.bounded import contained
from skyrl_doctor.core.check import Need, Probe
from skyrl_doctor.core.errors import CouldNotLook, NotApplicable
from skyrl_doctor.core.record import record
from skyrl_doctor.core.said import said

Clock = Callable[[], float]


@record
class Got:
    value: object


@record
class NotHere:
    """The fact does not exist on this machine."""

    reason: str


@record
class NotSeen:
    """The fact could not be had."""

    reason: str


Answer = Got | NotHere | NotSeen


@record
class Running:
    probe: Probe
    give_up_at: float


class Gathering:
    """The facts of one examination, as they come in."""

    def __init__(
        self,
        probes: Mapping[type, Probe],
        preset: Mapping[type, object],
        *,
        deadline_s: float,
        left_s: float | None = None,
        clock: Clock = time.monotonic,
    ) -> None:
        """`deadline_s` is what the caller asked for, and `left_s` what is left of it."""
        self.answers: dict[type, Answer] = {kind: Got(value) for kind, value in preset.items()}
        self._probes = probes
        self.clock = clock
        self._deadline_s = deadline_s
        self.end = clock() + (deadline_s if left_s is None else left_s)
        self._running: dict[type, Running] = {}
        self._waiting: dict[type, Probe] = {}
        self._answered: queue.SimpleQueue[tuple[type, Answer | BaseException]] = queue.SimpleQueue()

    def complete(self, kinds: Iterable[type]) -> None:
        """Gathers these facts and waits for them."""
        for _ in self.gather(Need(kind) for kind in kinds):
            pass

    @property
    def pending(self) -> tuple[str, ...]:
        """The names of the probes that have not answered yet."""
        return tuple(running.probe.name for running in self._running.values())

    def gather(self, needs: Iterable[Need]) -> Iterator[None]:
        """Starts all that is needed; yields each time that answers have come in; ends when none is open."""
        self._want(needs)
        self._start_ready()
        while self._running:
            yield
            self._take_answers()
            self._give_up_late()
            self._start_ready()
        for kind, stuck in self._waiting.items():
            self.answers[kind] = NotSeen(f"probe {stuck.name!r} waits for facts that wait for it")
        self._waiting.clear()

    def _want(self, needs: Iterable[Need]) -> None:
        todo = [need.kind for need in needs]
        while todo:
            kind = todo.pop()
            if kind in self.answers or kind in self._waiting:
                continue
            found = self._probes.get(kind)
            if found is None:
                self.answers[kind] = NotSeen(f"no probe gathers {kind.__name__}")
                continue
            self._waiting[kind] = found
            todo.extend(need.kind for need in found.needs)

    def _start_ready(self) -> None:
        progress = True
        while progress:
            progress = False
            for kind, found in list(self._waiting.items()):
                ready = arguments(found.needs, self.answers)
                if ready is None:
                    continue
                del self._waiting[kind]
                progress = True
                if isinstance(ready, list):
                    self._start(found, ready)
                else:
                    self.answers[kind] = ready

    def _start(self, found: Probe, facts: list[object]) -> None:
        now = self.clock()
        if now >= self.end:
            self.answers[found.kind] = self._late(found)
            return

        def work() -> None:
            try:
                self._answered.put(
                    (found.kind, attempt(lambda: contained(lambda: found.look(*facts)), f"probe {found.name!r}"))
                )
            except BaseException as error:  # a strict recording's hole: not an answer, the caller's to raise
                self._answered.put((found.kind, error))

        try:
            threading.Thread(target=work, name=f"probe-{found.name}", daemon=True).start()
        except RuntimeError as error:
            self.answers[found.kind] = NotSeen(
                f"probe {found.name!r} could not start: {error} (process limit reached?)"
            )
            return
        self._running[found.kind] = Running(found, min(now + found.limit_s, self.end))

    def _take_answers(self) -> None:
        first_limit = min(running.give_up_at for running in self._running.values())
        wait_s = max(0.0, min(first_limit - self.clock(), 0.1))
        try:
            answers = [self._answered.get(timeout=wait_s)]
        except queue.Empty:
            return
        while not self._answered.empty():
            answers.append(self._answered.get())
        for kind, answer in answers:
            if isinstance(answer, BaseException):
                raise answer
            if self._running.pop(kind, None):  # an answer after its limit counts no more
                self.answers[kind] = answer

    def _give_up_late(self) -> None:
        now = self.clock()
        for kind, running in list(self._running.items()):
            if now >= running.give_up_at:
                del self._running[kind]
                self.answers[kind] = self._late(running.probe)

    def _late(self, found: Probe) -> NotSeen:
        if self.clock() >= self.end:
            return NotSeen(
                f"probe {found.name!r} gave no answer before the deadline of {self._deadline_s:g} s (its own limit: {found.limit_s:g} s)"
            )
        return NotSeen(f"probe {found.name!r} gave no answer within its limit of {found.limit_s:g} s")


def arguments(needs: Iterable[Need], answers: Mapping[type, Answer]) -> list[object] | NotHere | NotSeen | None:
    """The values for a function's parameters; why it cannot be called; or None while an answer is still open."""
    values: list[object] = []
    refusal: NotHere | NotSeen | None = None
    for need in needs:
        answer = answers.get(need.kind)
        match answer:
            case None:
                return None
            case Got(value):
                values.append(value)
            case NotHere() if need.optional:
                values.append(None)
            case NotHere() | NotSeen():
                refusal = answer if refusal is None or isinstance(answer, NotSeen) else refusal
    return values if refusal is None else refusal


def attempt(work: Callable[[], object], who: str) -> Answer:
    """Calls `work`; whatever it raises becomes an answer in words."""
    try:
        return Got(work())
    except NotApplicable as reason:
        return NotHere(str(reason))
    except CouldNotLook as reason:
        return NotSeen(str(reason))
    except (Exception, SystemExit, GeneratorExit) as error:
        return NotSeen(f"{who} crashed: {type(error).__name__}: {said(error)}{_where(error)}")


def _where(error: BaseException) -> str:
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return f" ({trace.tb_frame.f_code.co_filename.rpartition('/')[2]}:{trace.tb_lineno})" if trace else ""
