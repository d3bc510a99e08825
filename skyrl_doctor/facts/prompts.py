"""How long the prompts of the plan's dataset are, in tokens."""

from skyrl_doctor.core.record import record
from skyrl_doctor.facts.child import answer_of


@record(kw_only=True)
class PromptLengths:
    """Percentiles over a sample of `count` prompts of `rows`."""

    file: str
    count: int
    rows: int
    p50: int
    p95: int
    longest: int

    @property
    def shown(self) -> str:
        return f"p95 of {self.count} of {self.rows} prompts in {self.file}; p50 {self.p50}, longest {self.longest}"


def parse_prompts(text: str, who: str) -> PromptLengths | str:
    """The answer of children/prompt_lengths.py; a text says why there are no lengths."""
    answer = answer_of(text, who)
    if "why" in answer:
        return answer.text("why")
    return PromptLengths(
        file=answer.text("file"),
        count=int(answer.number("count")),
        rows=int(answer.number("rows")),
        p50=int(answer.number("p50")),
        p95=int(answer.number("p95")),
        longest=int(answer.number("longest")),
    )
