"""Refuses a launch whose task files hold bad rows, as `skyrl-train data validate` finds them."""

import os
import time
from collections.abc import Callable, Iterator

from skyrl_train.config.run import RunConfig
from skyrl_train.contracts.errors import UsageError
from skyrl_train.contracts.printable import excerpt
from skyrl_train.contracts.tasks.rows import BadRow
from skyrl_train.tasks.checked import checked_rows

LIMIT_S = 15.0
"""For all files together. A larger data set is checked as far as the time allows."""
_MOST_LETTERS = 300


def refuse_bad_rows(
    config: RunConfig, work_dir: str, say: Callable[[str], None], clock: Callable[[], float] = time.monotonic
) -> None:
    """UsageError that names the first bad row. A file that cannot be read here is not judged; the GPU node may have it."""
    end_at = clock() + LIMIT_S
    for name in _files(config):
        path = os.path.join(work_dir, os.path.expanduser(name))
        if os.path.isfile(path):
            _refuse_bad_row(path, end_at, say, clock)


def _files(config: RunConfig) -> Iterator[str]:
    yield from config.data.train_files
    if config.trainer.validate_first or config.trainer.validate_every_steps > 0:
        yield from config.data.val_files


def _refuse_bad_row(path: str, end_at: float, say: Callable[[str], None], clock: Callable[[], float]) -> None:
    rows = checked_rows(path)
    count = 0
    while clock() < end_at:
        try:
            row = next(rows, None)
        except UsageError as error:
            say(f"the rows of {path} were not checked: {error}")
            return
        if row is None:
            return
        if isinstance(row, BadRow):
            raise UsageError(
                f"{path}, row {row.number}: {excerpt(row.why, _MOST_LETTERS)}. To see all bad rows: skyrl-train data validate {path}"
            )
        count += 1
    say(f"only the first {count} rows of {path} were checked, within {LIMIT_S:g} s")
