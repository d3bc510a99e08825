"""Renders a transcript as text."""

from collections.abc import Iterator

from skyrl_train.contracts.agent.calls import CallError
from skyrl_train.contracts.agent.results import shortened
from skyrl_train.contracts.agent.transcript import Step, Transcript
from skyrl_train.contracts.printable import printable
from skyrl_train.contracts.rewards.score import Scored

RESULT_CHARS = 2_000
"""Default of the most characters printed of a result."""


def render_transcript(transcript: Transcript, *, result_chars: int = RESULT_CHARS) -> str:
    """The transcript turn by turn, with the end and the reward."""
    return "\n".join(_lines(transcript, result_chars)) + "\n"


def _lines(transcript: Transcript, result_chars: int) -> Iterator[str]:
    name = printable(f"task {transcript.task_id} · rollout {transcript.rollout_id}")
    yield f"{name} · {len(transcript.prompt_ids)} prompt tokens"
    for message in transcript.prompt:
        yield f"\n── {printable(message.role)}"
        yield printable(message.content)
    for number, step in enumerate(transcript.steps, start=1):
        yield from _turn(number, step, result_chars)
    ended = f"{transcript.finish}: {transcript.detail}" if transcript.detail else transcript.finish
    yield f"\n══ {printable(ended)}"
    wrote = sum(transcript.response_mask)
    yield f"{len(transcript.steps)} turns; tokens: {wrote} written, {len(transcript.response_mask) - wrote} read"
    yield reward_line(transcript)


def _turn(number: int, step: Step, result_chars: int) -> Iterator[str]:
    tokens = f"{len(step.reply.token_ids)} tokens, {step.reply.ended}, {step.reply_s:.2f} s{_weights(step)}"
    yield f"\n── turn {number} · {tokens}"
    yield printable(step.reply.text)
    if step.result is not None:
        late = ", stopped at its limit" if step.result.timed_out else ""
        yield f"── result · {len(step.result.text)} characters, {step.command_s:.2f} s{late}"
        yield printable(shortened(step.result.text, result_chars))
    elif isinstance(step.call, CallError):
        yield f"── not run · {step.call.kind}"
        yield printable(step.call.text)


def _weights(step: Step) -> str:
    """Names the weights of a reply that an update interrupted."""
    first, last = step.reply.weights or (0, 0)
    return "" if first == last else f", begun with the weights of step {first}, ended with those of step {last}"


def reward_line(transcript: Transcript) -> str:
    """The reward and its reason, or why there is none."""
    score = transcript.score
    kept_out = " (masked)" if transcript.masked else ""
    if score is None:
        return f"no score{kept_out}"
    if isinstance(score, Scored):
        return f"reward {score.reward:g}{kept_out}: {printable(score.why)}"
    return f"unscorable{kept_out}: {score.reason}: {printable(score.detail)}"
