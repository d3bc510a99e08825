"""The transcript of a rollout: plain data that can cross processes and be read years later."""

from dataclasses import dataclass, field, replace

from skyrl_train.contracts.agent.arguments import Action
from skyrl_train.contracts.agent.calls import Call, CallError, Ended
from skyrl_train.contracts.agent.finish import MASKED, Finish
from skyrl_train.contracts.rewards.score import Score, Unscorable

FORMAT = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """A message of the prompt."""

    role: str
    content: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """A reply of the model: the engine's token ids and their text."""

    token_ids: tuple[int, ...]
    text: str
    ended: Ended
    logprobs: tuple[float, ...] | None = None
    weights: tuple[int, int] | None = None
    """The steps whose weights wrote its first and its last token, if the server tells them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The full result of the sandbox. `timed_out`: the command was stopped at its limit. `exit_code` is None if no command
    ended."""

    text: str
    timed_out: bool = False
    exit_code: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One turn. `shown` is the message to the model and `shown_ids` its tokens; both are empty after the last reply."""

    reply: Reply
    call: Call | CallError
    action: Action | None = None
    result: Result | None = None
    shown: str = ""
    shown_ids: tuple[int, ...] = ()
    reply_s: float = 0.0
    command_s: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Transcript:
    """A rollout from the prompt to its end."""

    task_id: str
    rollout_id: str
    prompt: tuple[Message, ...]
    prompt_ids: tuple[int, ...]
    steps: tuple[Step, ...]
    finish: Finish
    detail: str = ""
    """The error or limit that ended the rollout."""
    score: Score | None = None
    duration_s: float = 0.0
    format: int = field(default=FORMAT)

    @property
    def response_ids(self) -> tuple[int, ...]:
        """All tokens after the prompt, as the engine had them. FIX(AGT016): nothing is tokenised twice."""
        return tuple(token for step in self.steps for part in (step.reply.token_ids, step.shown_ids) for token in part)

    @property
    def response_mask(self) -> tuple[int, ...]:
        """1 for each token that the model wrote, 0 for each token that it read."""
        parts = ((1, step.reply.token_ids, 0, step.shown_ids) for step in self.steps)
        return tuple(bit for one, reply, zero, shown in parts for bit in (one,) * len(reply) + (zero,) * len(shown))

    @property
    def masked(self) -> bool:
        """Whether the rollout is masked in training. FIX(AGT017): it is counted, but never copied or scored 0."""
        return self.finish in MASKED or isinstance(self.score, Unscorable) or not self.steps


def valid_reply(reply: Reply) -> Reply:
    """The reply with a text that is valid Unicode. The token ids are unchanged."""
    return reply if (text := _unicode(reply.text)) == reply.text else replace(reply, text=text)


def valid_result(result: Result) -> Result:
    """The result with a text that is valid Unicode, since output of commands need not be UTF-8."""
    return result if (text := _unicode(result.text)) == result.text else replace(result, text=text)


def _unicode(text: str) -> str:
    return text.encode("utf-8", "replace").decode()
