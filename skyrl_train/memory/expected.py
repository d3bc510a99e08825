"""The job with the lengths that its sequences are expected to have, in place of their limits."""

from dataclasses import replace

from skyrl_train.memory.job import Job
from skyrl_train.memory.lengths import Lengths, together


def expected_job(job: Job, prompt: Lengths | None, reply: Lengths | None) -> Job:
    """The job with these lengths; what is unknown is taken at its limit, and no length exceeds its limit."""
    prompts = _at_most(prompt, job.prompt_length)
    replies = _at_most(reply, job.response_length)
    return replace(job, lengths=together(prompts, replies), reply=replies, mixed_lengths=True)


def _at_most(lengths: Lengths | None, limit: int) -> Lengths:
    if lengths is None:
        return Lengths(limit, limit)
    return Lengths(min(lengths.p50, limit), min(lengths.p99, limit))
