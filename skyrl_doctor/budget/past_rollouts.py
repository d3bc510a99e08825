"""The lengths of prompts and replies in a job's stored rollouts. The latest steps are read, up to a limit of bytes and rollouts."""

import os
from collections.abc import Iterator, Sequence

from skyrl_doctor.core.errors import UsageError
from skyrl_doctor.core.record import record
from skyrl_train.contracts.job_files import CONFIG
from skyrl_train.contracts.rollout_summaries import ROLLOUTS, Summary, directory_of, files_in, read, step_of
from skyrl_train.memory import Lengths

MOST_ROLLOUTS = 512
MOST_FILES = 50
MOST_BYTES = 64 << 20
"""Of rollouts, about a second of reading."""


@record
class PastLengths:
    """The lengths of rollouts that were trained on. A reply has the results of its tools too, which the trainer computes."""

    prompt: Lengths
    reply: Lengths
    count: int
    first: int
    last: int

    @property
    def source(self) -> str:
        steps = f"step {self.first}" if self.first == self.last else f"steps {self.first} to {self.last}"
        return f"from {self.count} rollout{'' if self.count == 1 else 's'} of {steps}"


def is_job_directory(path: str) -> bool:
    """Whether a target is the directory of a launch."""
    return os.path.isfile(os.path.join(path, CONFIG))


def job_directory_of(target: str) -> str | None:
    """The job directory to which a target's file belongs; None if it has no rollouts beside it."""
    folder = os.path.dirname(target)
    return folder if os.path.basename(target) == CONFIG and os.path.isdir(os.path.join(folder, ROLLOUTS)) else None


def past_lengths(job_directory: str) -> PastLengths | None:
    """The lengths in the latest rollouts of a job; None if it has none that were trained on. UsageError if they are unreadable."""
    found: list[tuple[int, Summary]] = []
    left = MOST_BYTES
    try:
        for step, length, summary in _latest(job_directory):
            left -= length
            if summary is not None and not summary.masked:
                found.append((step, summary))
            if left <= 0 or len(found) >= MOST_ROLLOUTS:
                break
    except OSError as error:
        raise UsageError(f"rollouts of {job_directory}: {error.strerror}") from None
    if not found:
        return None
    steps = [step for step, _ in found]
    prompts, replies = zip(*((one.prompt, one.written + one.read) for _, one in found), strict=True)
    return PastLengths(_lengths(prompts), _lengths(replies), len(found), min(steps), max(steps))


def _latest(job_directory: str) -> Iterator[tuple[int, int, Summary | None]]:
    """The step, the bytes and the summary of each stored rollout, those of the latest step first."""
    for path in reversed(files_in(directory_of(job_directory))[-MOST_FILES:]):
        step = step_of(path)
        if step is not None:
            yield from ((step, place.length, summary) for place, summary in read(path))


def _lengths(tokens: Sequence[int]) -> Lengths:
    ordered = sorted(max(1, each) for each in tokens)
    return Lengths(ordered[(len(ordered) - 1) // 2], ordered[max(0, -(-99 * len(ordered) // 100) - 1)])
