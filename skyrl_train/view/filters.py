"""The filters of rollouts, the same for the viewer and for `skyrl-train show`."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """What a rollout must have. None and empty mean any. `failed`: masked, without a reward, or with a reward below 1."""

    failed: bool = False
    least_reward: float | None = None
    most_reward: float | None = None
    end: str = ""
    step: int | None = None
    task: str = ""
    tool: str = ""
    tests: str = ""

    def sql(self) -> tuple[str, list[object]]:
        """The condition of SQL, and its values."""
        parts: list[tuple[str, object]] = []
        if self.least_reward is not None:
            parts.append(("reward >= ?", self.least_reward))
        if self.most_reward is not None:
            parts.append(("reward <= ?", self.most_reward))
        if self.end:
            parts.append(("lower(finish) = lower(?)", self.end))
        if self.step is not None:
            parts.append(("step = ?", self.step))
        if self.task:
            parts.append(("instr(lower(task), lower(?))", self.task))
        if self.tool:
            parts.append(("instr(tools, ?)", f",{self.tool},"))
        if self.tests:
            parts.append(("instr(lower(why), lower(?))", self.tests))
        conditions = [condition for condition, _ in parts]
        if self.failed:
            conditions.append("(masked OR reward IS NULL OR reward < 1)")
        return " AND ".join(conditions) or "1", [value for _, value in parts]
