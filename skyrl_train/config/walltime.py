"""Slurm's time limits as minutes (SLM001)."""

import re
from collections.abc import Iterator

from skyrl_train.contracts.record import record
from skyrl_train.contracts.violation import Violation

_N = "[0-9]{1,9}"
PATTERN = rf"^(?:{_N}(?::{_N}){{0,2}}|{_N}-(?:{_N}(?::{_N}){{0,2}})?|-1|(?i:UNLIMITED|INFINITE))$"
"""minutes, minutes:seconds, hours:minutes:seconds, days-, days-hours, days-hours:minutes, days-hours:minutes:seconds.
As in Slurm's time_str2secs: any number of minutes, -1 for no limit, and no spaces."""

_TIME = re.compile(PATTERN)
UNLIMITED = float("inf")
MOST_SIGNAL_S = 65535
_SIGNAL = re.compile(r"(?:(?P<to>[RBrb]{1,2}):)?(?P<name>[A-Za-z]{2,8}[0-9]?|[0-9]{1,2})(?:@(?P<seconds>[0-9]{1,6}))?")


def minutes(text: str) -> float | None:
    """`6:00:00` -> 360.0; None for an invalid limit. Unlike sbatch, seconds are not rounded up to a minute."""
    if _TIME.fullmatch(text) is None:
        return None
    if text == "-1" or text[0].isalpha():
        return UNLIMITED
    days, has_days, rest = text.rpartition("-")
    parts = [int(part) for part in rest.split(":") if part]
    if has_days:
        hours, minute, second = (*parts, 0, 0, 0)[:3]
        return int(days) * 1440 + hours * 60 + minute + second / 60
    if len(parts) == 3:
        return parts[0] * 60 + parts[1] + parts[2] / 60
    return parts[0] + (parts[1] / 60 if len(parts) == 2 else 0)


@record
class EarlySignal:
    """The signal that Slurm sends before the time limit. `is_for_shell`: to the batch shell alone, not to its steps."""

    name: str
    seconds: int
    is_for_shell: bool


def parse_signal(text: str) -> EarlySignal | None:
    """`B:USR1@120`, the value of `--signal`; None if it is invalid. Slurm's own time is 60 seconds."""
    found = _SIGNAL.fullmatch(text)
    if found is None:
        return None
    seconds = int(found["seconds"] or 60)
    name = found["name"].upper().removeprefix("SIG")
    return EarlySignal(name, seconds, "B" in (found["to"] or "").upper()) if seconds <= MOST_SIGNAL_S else None


def walltime_violations(*, trainer: str, runtime: str) -> Iterator[Violation]:  # FIX(SLM001)
    """A runtime job with a shorter time limit than the trainer, which needs its sandboxes."""
    training, serving = minutes(trainer), minutes(runtime)
    if training is None or serving is None or (serving or UNLIMITED) >= (training or UNLIMITED):  # 0: no limit
        return
    yield Violation(
        key="slurm.runtime_time_limit",
        message=f"the runtime job ends after {runtime}, before the trainer that needs it ({trainer}); use at least {trainer}",
        settings={"slurm.runtime_time_limit": trainer},
    )
