"""Takes the stacks of the job's processes once, when a stall is reported."""

import time
from collections.abc import Sequence

from skyrl_doctor.core.errors import CouldNotLook
from skyrl_doctor.machine.base import Machine
from skyrl_doctor.watch.hang import recorder
from skyrl_doctor.watch.hang.explain import Sight, explain
from skyrl_doctor.watch.hang.processes import of_job
from skyrl_doctor.watch.hang.stacks import stacks_of
from skyrl_doctor.watch.observations import Hang, Observation
from skyrl_doctor.watch.sample.base import Look

LIMIT_S = 60.0


def stacks(marks: Sequence[str], pids: Sequence[int], logs: Sequence[str]) -> Look:
    """A look at all processes of the job on this node."""

    def look(machine: Machine, now: float) -> Sequence[Observation]:
        processes = of_job(machine, marks=marks, pids=pids, logs=logs)
        if not processes:
            raise CouldNotLook("no process of the job was found on this node; name one with --pid")
        until = time.monotonic() + LIMIT_S
        sights: list[Sight] = []
        unseen: dict[str, list[str]] = {}
        for process in processes:
            try:
                found = stacks_of(machine, process) if time.monotonic() < until else []
            except CouldNotLook as error:
                unseen.setdefault(str(error), []).append(process.title)
                continue
            sights.append(Sight(title=process.title, rank=process.rank, stacks=tuple(found)))
        recorded = recorder.explain(recorder.dumps_of(machine, processes, now))
        hang = explain(sights, [f"{', '.join(titles)}: {why}" for why, titles in unseen.items()])
        if hang is None and recorded is None:
            why = "; ".join(unseen) or "all processes wait for work"
            raise CouldNotLook(f"the stacks of {len(processes)} processes show no call: {why}")
        parts = [part for part in (recorded, hang) if part is not None]
        return (
            Hang(
                at=now,
                message="; ".join(part.message for part in parts),
                evidence=tuple(line for part in parts for line in part.evidence),
            ),
        )

    return look
