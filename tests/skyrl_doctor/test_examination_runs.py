"""An examination of several runs gathers the facts of the machine once."""

from pathlib import Path
from typing import TypeVar

from skyrl_doctor.core.model import Status
from skyrl_doctor.examination import Options, run_all
from skyrl_doctor.machine import queries as q
from skyrl_doctor.machine.local import LocalMachine
from skyrl_doctor.machine.recorded import RecordedMachine
from support import MACHINES

T = TypeVar("T")


class Counting(RecordedMachine):
    """A recording that counts how often its variables are read."""

    reads = 0

    def answer(self, query: q.Query[T]) -> T:
        type(self).reads += isinstance(query, q.Environ)
        return super().answer(query)


def examined(folder: Path, count: int) -> tuple[int, list[Status]]:
    targets = tuple(str(folder / f"{number}.toml") for number in range(count))
    for target in targets:
        Path(target).write_text("[model]\npath = 'x'\n", encoding="utf-8")
    machine = Counting.load(str(MACHINES / "stale_vllm_variable"))
    Counting.reads = 0
    batch = run_all(machine, LocalMachine(), Options(targets=targets, selected=("ENV016",)))
    return Counting.reads, [outcome.status for report in batch.reports for outcome in report.outcomes]


def test_the_machine_is_asked_as_often_for_three_runs_as_for_one(tmp_path: Path) -> None:
    one, first = examined(tmp_path, 1)
    three, all_three = examined(tmp_path, 3)
    redactions = 2  # each further report hides the secrets of the variables, which it reads again
    assert (first, all_three) == ([Status.FAIL], [Status.FAIL] * 3)
    assert three == one + redactions
