"""A sampler observes one thing at an interval, in a thread of its own: one that hangs delays nothing else."""

import queue
import threading
from collections.abc import Callable, Sequence

from skyrl_doctor.core.errors import CouldNotLook, NotApplicable
from skyrl_doctor.core.record import record
from skyrl_doctor.machine.base import Machine
from skyrl_doctor.watch.observations import Observation

Look = Callable[[Machine, float], Sequence[Observation]]
REST_S = 600.0
"""Where something is absent (no GPU, no Slurm), the sampler tries again after this time."""


@record
class Sampler:
    name: str
    every_s: float
    look: Look


@record
class Trouble:
    """A failed observation, and why."""

    name: str
    why: str


class Samplers:
    """Each sampler that is due runs in a thread; `collect` never waits."""

    def __init__(self, samplers: Sequence[Sampler], machine: Machine) -> None:
        self._samplers, self._machine = tuple(samplers), machine
        self._due: dict[str, float] = {}
        self._out: queue.SimpleQueue[tuple[str, Sequence[Observation] | Trouble | None]] = queue.SimpleQueue()
        self._running: set[str] = set()

    def collect(self, now: float) -> tuple[list[Observation], list[Trouble]]:
        """The new observations and troubles. Starts the samplers that are due."""
        seen: list[Observation] = []
        troubles: list[Trouble] = []
        while not self._out.empty():
            name, result = self._out.get()
            self._running.discard(name)
            if isinstance(result, Trouble):
                troubles.append(result)
            elif result is None:
                self._due[name] = now + REST_S
            else:
                seen.extend(result)
        for sampler in self._samplers:
            if sampler.name not in self._running and now >= self._due.get(sampler.name, now):
                self._start(sampler, now)
        return seen, troubles

    def once(self, sampler: Sampler, now: float) -> None:
        """Starts a sampler that is not asked regularly; one that still runs is left alone."""
        if sampler.name not in self._running:
            self._start(sampler, now)

    @property
    def running(self) -> bool:
        """Whether a sampler is still running."""
        return bool(self._running)

    def _start(self, sampler: Sampler, now: float) -> None:
        self._due[sampler.name] = now + sampler.every_s
        self._running.add(sampler.name)
        threading.Thread(target=self._look, args=(sampler, now), name=f"look {sampler.name}", daemon=True).start()

    def _look(self, sampler: Sampler, now: float) -> None:
        result: Sequence[Observation] | Trouble | None = Trouble(sampler.name, "it crashed")
        try:
            result = sampler.look(self._machine, now)
        except NotApplicable:
            result = None
        except CouldNotLook as error:
            result = Trouble(sampler.name, str(error))
        except (OSError, ValueError, KeyError, TypeError, ArithmeticError, AttributeError) as error:
            result = Trouble(sampler.name, f"{type(error).__name__}: {error}")
        finally:
            self._out.put((sampler.name, result))
