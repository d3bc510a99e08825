"""What Slurm says of the two jobs: their state and the time that they have left."""

from collections.abc import Mapping, Sequence

from skyrl_doctor.core.errors import CouldNotLook, NotApplicable
from skyrl_doctor.machine.base import Machine
from skyrl_doctor.watch.observations import Left, Observation
from skyrl_doctor.watch.sample.base import Look
from skyrl_train.config.walltime import UNLIMITED, minutes

LIMIT_S = 10.0


def jobs(of: Mapping[str, str]) -> Look:
    """`of` gives each job's part (trainer, runtime) its number."""

    def look(machine: Machine, now: float) -> Sequence[Observation]:
        if not of:
            raise NotApplicable("no Slurm job is known")
        asked = machine.run(("squeue", "-h", "-o", "%i|%T|%L", "-j", ",".join(of.values())), limit_s=LIMIT_S)
        if not asked.found:
            raise NotApplicable("no squeue here")
        if not asked.ok and "Invalid job id" not in asked.err:
            raise CouldNotLook(asked.why)
        return tuple(left(asked.out, of, now))

    return look


def left(text: str, of: Mapping[str, str], now: float) -> list[Left]:
    """`4711|RUNNING|5:12:01`. A job that Slurm does not list any more is gone."""
    cells = [line.split("|") for line in text.splitlines()]
    rows = {row[0].strip(): row for row in cells if len(row) == 3}
    found: list[Left] = []
    for part, number in of.items():
        row = rows.get(number)
        if not row:
            found.append(Left(at=now, job=part, seconds=None, state="GONE"))
            continue
        limit = minutes(row[2].strip())
        seconds = None if limit is None or limit == UNLIMITED else 60.0 * limit
        found.append(Left(at=now, job=part, seconds=seconds, state=row[1].strip()))
    return found
