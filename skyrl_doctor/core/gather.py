"""Gathers facts. Each probe runs once, in its own daemon thread, with a time limit; all run at the same time.

A thread that hangs on a dead file system cannot be ended. It is abandoned, and its fact is Unavailable.
"""

import queue
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping

from skyrl_doctor.core.check import Need, Probe
from skyrl_doctor.core.errors import CouldNotLook, NotApplicable
from skyrl_doctor.core.record import record
from skyrl_doctor.core.safe_text import error_text
from skyrl_doctor.core.time_limit import call_contained

Clock = Callable[[], float]


@record
class Gathered:
    value: object


@record
class Inapplicable:
    """The fact does not apply to this machine."""

    reason: str
    undecided: str = ""


@record
class Unavailable:
    """The fact could not be read."""

    reason: str


FactResult = Gathered | Inapplicable | Unavailable


@record
class Running:
    probe: Probe
    give_up_at: float


class Gathering:
    """Gathers the facts of one examination and keeps the results."""

    def __init__(
        self,
        probes: Mapping[type, Probe],
        preset: Mapping[type, object],
        *,
        deadline_s: float,
        left_s: float | None = None,
        clock: Clock = time.monotonic,
    ) -> None:
        """`deadline_s` is the limit that the caller set; `left_s` is the part of it that is left."""
        self.results: dict[type, FactResult] = {kind: Gathered(value) for kind, value in preset.items()}
        self._probes = probes
        self.clock = clock
        self._deadline_s = deadline_s
        self.end = clock() + (deadline_s if left_s is None else left_s)
        self._running: dict[type, Running] = {}
        self._waiting: dict[type, Probe] = {}
        self._answered: queue.SimpleQueue[tuple[type, FactResult | BaseException]] = queue.SimpleQueue()

    def complete(self, kinds: Iterable[type]) -> None:
        """Gathers these facts and waits for all of them."""
        for _ in self.gather(Need(kind) for kind in kinds):
            pass

    @property
    def pending(self) -> tuple[str, ...]:
        """The names of the probes that still run."""
        return tuple(running.probe.name for running in self._running.values())

    def gather(self, needs: Iterable[Need]) -> Iterator[None]:
        """Starts the probes that are needed, yields whenever results may have arrived, and ends when no probe runs."""
        self._want(needs)
        self._start_ready()
        while self._running:
            yield
            if self._running:  # the last answer may have been taken by `advance`
                self._take_answers()
                self._give_up_late()
            self._start_ready()
        for kind, stuck in self._waiting.items():
            self.results[kind] = Unavailable(f"probe {stuck.name!r} needs a fact that itself needs this probe")
        self._waiting.clear()

    def advance(self) -> None:
        """Starts probes whose facts have arrived, without waiting: the slowest ones are last in a chain of others."""
        if self._running and not self._answered.empty():
            self._take_answers()
            self._start_ready()

    def _want(self, needs: Iterable[Need]) -> None:
        todo = [need.kind for need in needs]
        while todo:
            kind = todo.pop()
            if kind in self.results or kind in self._waiting:
                continue
            found = self._probes.get(kind)
            if found is None:
                self.results[kind] = Unavailable(f"no installed probe gathers {kind.__name__}")
                continue
            self._waiting[kind] = found
            todo.extend(need.kind for need in found.needs)

    def _start_ready(self) -> None:
        progress = True
        while progress:
            progress = False
            for kind, found in list(self._waiting.items()):
                ready = arguments(found.needs, self.results)
                if ready is None:
                    continue
                del self._waiting[kind]
                progress = True
                if isinstance(ready, list):
                    self._start(found, ready)
                else:
                    self.results[kind] = ready

    def _start(self, found: Probe, facts: list[object]) -> None:
        now = self.clock()
        if now >= self.end:
            self.results[found.kind] = self._late(found)
            return

        def work() -> None:
            try:
                self._answered.put(
                    (
                        found.kind,
                        attempt(lambda: call_contained(lambda: found.function(*facts)), f"probe {found.name!r}"),
                    )
                )
            except BaseException as error:  # a strict recording lacks an answer: the caller raises this
                self._answered.put((found.kind, error))

        try:
            threading.Thread(target=work, name=f"probe-{found.name}", daemon=True).start()
        except RuntimeError as error:
            self.results[found.kind] = Unavailable(
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
            if self._running.pop(kind, None):  # a result after the time limit is ignored
                self.results[kind] = answer

    def _give_up_late(self) -> None:
        now = self.clock()
        for kind, running in list(self._running.items()):
            if now >= running.give_up_at:
                del self._running[kind]
                self.results[kind] = self._late(running.probe)

    def _late(self, found: Probe) -> Unavailable:
        if self.clock() >= self.end:
            return Unavailable(
                f"probe {found.name!r} did not finish before the deadline of {self._deadline_s:g} s (its own limit is {found.limit_s:g} s)"
            )
        return Unavailable(f"probe {found.name!r} timed out after {found.limit_s:g} s")


def needing(fact: type, probes: Mapping[type, Probe]) -> set[type]:
    """The fact itself, and every fact whose probe needs it, directly or through others."""
    found = {fact}
    while True:
        more = {kind for kind, one in probes.items() if found & {need.kind for need in one.needs}} - found
        if not more:
            return found
        found |= more


def arguments(
    needs: Iterable[Need], answers: Mapping[type, FactResult]
) -> list[object] | Inapplicable | Unavailable | None:
    """The arguments for a function, or the reason why it cannot be called, or None while a fact is still being gathered."""
    values: list[object] = []
    refusal: Inapplicable | Unavailable | None = None
    for need in needs:
        answer = answers.get(need.kind)
        match answer:
            case None:
                return None
            case Gathered(value):
                values.append(value)
            case Inapplicable() if need.optional:
                values.append(None)
            case Inapplicable() | Unavailable():
                refusal = answer if refusal is None or isinstance(answer, Unavailable) else refusal
    return values if refusal is None else refusal


def attempt(work: Callable[[], object], who: str) -> FactResult:
    """Calls `work` and turns what it raises into a result with a reason."""
    try:
        return Gathered(work())
    except NotApplicable as reason:
        return Inapplicable(str(reason), reason.undecided)
    except CouldNotLook as reason:
        return Unavailable(str(reason))
    except (Exception, SystemExit, GeneratorExit) as error:
        return Unavailable(f"{who} crashed: {type(error).__name__}: {error_text(error)}{_where(error)}")


def _where(error: BaseException) -> str:
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return f" ({trace.tb_frame.f_code.co_filename.rpartition('/')[2]}:{trace.tb_lineno})" if trace else ""
