"""The rows of a data set, published or converted, each judged: what `data validate` and a launch refuse."""

from collections.abc import Iterator
from dataclasses import dataclass

from skyrl_train.contracts.errors import UsageError
from skyrl_train.contracts.tasks.rows import BadRow, TaskRow
from skyrl_train.tasks.converted import fault_of_row, is_converted
from skyrl_train.tasks.datasets import rows_of
from skyrl_train.tasks.sources import tasks_of


@dataclass(frozen=True, slots=True)
class GoodRow:
    """`letters` is the length of the problem or prompt."""

    source: str
    repo: str
    image: str
    letters: int


def checked_rows(source: str) -> Iterator[GoodRow | BadRow]:
    """The first row decides which columns the file has. UsageError if the file cannot be read."""
    if not is_converted(next(_first(source), None)):
        for task in tasks_of(source):
            yield _summary(task) if isinstance(task, TaskRow) else task
        return
    for number, row in enumerate(rows_of(source), start=1):
        fault = fault_of_row(row) if isinstance(row, dict) else f"a row is a {type(row).__name__}; expected an object"
        if fault or not isinstance(row, dict):
            yield BadRow(number, fault or "")
            continue
        extra, prompt = row["extra_info"], row["prompt"]
        size = sum(len(message["content"]) for message in prompt)
        yield GoodRow(row["data_source"], str(extra.get("repo") or "unnamed"), extra["image"], size)


def _first(source: str) -> Iterator[object]:
    try:
        yield from rows_of(source)
    except UsageError as error:
        if "not valid JSON" not in str(error):  # a broken line is one bad row
            raise


def _summary(task: TaskRow) -> GoodRow:
    return GoodRow(task.source, task.repo, task.image, len(task.problem))
