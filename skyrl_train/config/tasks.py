"""Refuses a configuration without tasks (CFG007). Pure."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from skyrl_train.contracts.errors import UsageError
from skyrl_train.contracts.violation import Violation

if TYPE_CHECKING:  # pydantic is not imported: a check uses the rule
    from skyrl_train.config.run import RunConfig

TRAIN, VALIDATION = "data.train_files", "data.val_files"


def task_violations(*, has_tasks: bool, has_validation: bool, validates: bool) -> Iterator[Violation]:  # FIX(CFG007)
    """Task files that are missing. verl would fail minutes later with an unclear message."""
    if not has_tasks:
        yield Violation(key=TRAIN, message=f"{TRAIN} is empty; add at least one file of tasks")
    elif validates and not has_validation:
        yield Violation(
            key=VALIDATION,
            message=f"validation is on but {VALIDATION} is empty; add files, or set trainer.validate_first = false and validate_every_steps = -1",
        )


def refuse_without_tasks(config: "RunConfig") -> None:
    """UsageError if task files are missing."""
    found = task_violations(
        has_tasks=bool(config.data.train_files),
        has_validation=bool(config.data.val_files),
        validates=config.trainer.validate_first or config.trainer.validate_every_steps > 0,
    )
    for violation in found:
        raise UsageError(violation.message)
