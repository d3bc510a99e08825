"""A running rollout: its tokens so far, and the steps of its transcript."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from skyrl_train.contracts.agent.finish import Finish
from skyrl_train.contracts.agent.ports import Task
from skyrl_train.contracts.agent.transcript import Step, Transcript
from skyrl_train.contracts.rewards.score import Score


@dataclass(slots=True)
class Draft:
    """The mutable state of a rollout. Only the loop holds it; it never crosses a process boundary."""

    task: Task
    now: Callable[[], float]
    begin: float
    prompt: int = 0
    ids: list[int] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)

    @property
    def response(self) -> int:
        """The number of tokens after the prompt."""
        return len(self.ids) - self.prompt

    def start(self, prompt_ids: Sequence[int]) -> None:
        self.ids.extend(prompt_ids)
        self.prompt = len(self.ids)

    def add(self, step: Step) -> None:
        """Adds a reply before it is acted on, so that it is in the transcript in any case."""
        self.steps.append(step)
        self.ids.extend(step.reply.token_ids)

    def amend(self, **what: object) -> None:
        """Changes fields of the last step."""
        self.steps[-1] = replace(self.steps[-1], **what)  # type: ignore[arg-type]  # fields of Step by name

    def show(self, text: str, ids: Sequence[int]) -> None:
        self.amend(shown=text, shown_ids=tuple(ids))
        self.ids.extend(ids)

    def transcript(self, finish: Finish, detail: str, score: Score | None = None) -> Transcript:
        return Transcript(
            task_id=self.task.id,
            rollout_id=self.task.rollout_id,
            prompt=self.task.prompt,
            prompt_ids=tuple(self.ids[: self.prompt]),
            steps=tuple(self.steps),
            finish=finish,
            detail=detail,
            score=score,
            duration_s=self.now() - self.begin,
        )
