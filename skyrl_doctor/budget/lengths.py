"""The lengths of prompts and replies that are known before a run: from the data set, or from the user."""

from skyrl_doctor.core.record import record
from skyrl_doctor.facts.prompts import PromptLengths
from skyrl_train.memory import Job, Lengths, expected_job


@record
class KnownLengths:
    """What is unknown is None: it is taken at its limit."""

    prompt: Lengths | None
    reply: Lengths | None
    source: str

    def job(self, job: Job) -> Job:
        """The job with these lengths."""
        return expected_job(job, self.prompt, self.reply)

    @property
    def summary(self) -> str:
        """The lengths, for messages."""
        return f"prompts {_shown(self.prompt)}{self.source}, replies {_shown(self.reply)}"


def known_lengths(prompt: Lengths | None, reply: Lengths | None, sampled: PromptLengths | None) -> KnownLengths | None:
    """The user's figures, else a sample of the data; None if nothing is known."""
    source = ""
    if prompt is None and sampled is not None:
        # the sample has no 99th percentile; its longest is the safe side
        prompt, source = (
            Lengths(max(1, sampled.p50), max(1, sampled.p50, sampled.longest)),
            f" ({sampled.count} sampled)",
        )
    return None if prompt is None and reply is None else KnownLengths(prompt, reply, source)


def _shown(lengths: Lengths | None) -> str:
    return "at their limit" if lengths is None else f"{lengths.p50} to {lengths.p99} tokens"
