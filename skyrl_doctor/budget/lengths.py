"""The lengths of prompts and replies that are known before a run: of the user, of earlier rollouts, or of the data set."""

from skyrl_doctor.budget.past_rollouts import PastLengths
from skyrl_doctor.core.record import record
from skyrl_doctor.facts.prompts import PromptLengths
from skyrl_train.memory import Job, Lengths, expected_job


@record
class KnownLengths:
    """What is unknown is None: it is taken at its limit. The sources are empty for figures of the user."""

    prompt: Lengths | None
    reply: Lengths | None
    source: str = ""
    reply_source: str = ""

    def job(self, job: Job) -> Job:
        """The job with these lengths."""
        return expected_job(job, self.prompt, self.reply)

    @property
    def summary(self) -> str:
        """The lengths, for messages."""
        source = "" if self.source == self.reply_source else self.source
        return f"prompts {_shown(self.prompt, source)}, replies {_shown(self.reply, self.reply_source)}"


def known_lengths(
    prompt: Lengths | None, reply: Lengths | None, sampled: PromptLengths | None, past: PastLengths | None = None
) -> KnownLengths | None:
    """The user's figures, else those of earlier rollouts, else a sample of the data; None if nothing is known."""
    source = reply_source = ""
    if prompt is None and past is not None:
        prompt, source = past.prompt, past.source
    elif prompt is None and sampled is not None:
        # the sample has no 99th percentile; its longest is the safe side
        prompt = Lengths(max(1, sampled.p50), max(1, sampled.p50, sampled.longest))
        source = f"{sampled.count} sampled"
    if reply is None and past is not None:
        reply, reply_source = past.reply, past.source
    return None if prompt is None and reply is None else KnownLengths(prompt, reply, source, reply_source)


def _shown(lengths: Lengths | None, source: str) -> str:
    if lengths is None:
        return "at their limit"
    return f"{lengths.p50} to {lengths.p99} tokens{f' ({source})' if source else ''}"
