"""How a rollout can end, and which ends are masked in training."""

from collections.abc import Mapping
from enum import StrEnum


class Finish(StrEnum):
    """The ends of a rollout. The values are SkyRL's, so that its metrics keep their names; the last group is ours."""

    FINISH_TOOL = "FINISH_TOOL"
    NO_FUNCTION_CALL = "NO_FUNCTION_CALL"
    NO_GIT_PATCH = "no_git_patch"

    CONTEXT_WINDOW_EXCEEDED = "CONTEXT_WINDOW_EXCEEDED"
    BAD_LLM_RESPONSE = "BAD_LLM_RESPONSE"
    MAX_ITERATIONS_REACHED = "max_iterations_reached"
    STUCK_IN_A_LOOP = "stuck_in_a_loop"
    CMD_TIMEOUT = "cmd_timeout"
    ERROR_RUNTIME = "error_runtime"
    ERROR_EVALUATION = "error_evaluation"
    ERROR_INITIALIZATION = "error_initialization"

    ROLLOUT_TIMEOUT = "rollout_timeout"
    ERROR_MODEL = "error_model"
    CANCELLED = "cancelled"


TRAINED: Mapping[Finish, str] = {
    Finish.FINISH_TOOL: "the model finished",
    Finish.NO_FUNCTION_CALL: "the model's fault, which training should correct",
    Finish.NO_GIT_PATCH: "the model changed nothing, which is an answer",
}
"""Ends that are trained on, and why."""

MASKED: Mapping[Finish, str] = {
    Finish.CONTEXT_WINDOW_EXCEEDED: "cut off before an answer",
    Finish.BAD_LLM_RESPONSE: "nothing to learn from an empty reply",
    Finish.MAX_ITERATIONS_REACHED: "cut off before an answer",
    Finish.STUCK_IN_A_LOOP: "repeated turns would outweigh the others",
    Finish.CMD_TIMEOUT: "the sandbox hung before an answer",
    Finish.ERROR_RUNTIME: "the sandbox failed, not the model",
    Finish.ERROR_EVALUATION: "no reward to learn from",
    Finish.ERROR_INITIALIZATION: "the sandbox did not start, so a score of 0 would be wrong",
    Finish.ROLLOUT_TIMEOUT: "cut off before an answer",
    Finish.ERROR_MODEL: "the engine failed, not the model",
    Finish.CANCELLED: "cut off before an answer",
}
"""Ends that are masked in training, and why. SkyRL trains on `error_initialization` with a score of 0."""

INFRASTRUCTURE: Mapping[Finish, str] = {
    Finish.ERROR_INITIALIZATION: "no sandbox",
    Finish.ERROR_RUNTIME: "the sandbox was lost",
    Finish.CMD_TIMEOUT: "the sandbox did not answer, although it ends each command at its limit",
    Finish.ERROR_EVALUATION: "the tests gave no result",
    Finish.ERROR_MODEL: "the model server failed",
    Finish.CANCELLED: "ended from outside",
}
"""Ends that say nothing about the model: an evaluation repeats these rollouts."""

OUTAGE = frozenset(INFRASTRUCTURE) - {Finish.ERROR_MODEL, Finish.ERROR_EVALUATION, Finish.CANCELLED}
"""Ends that the sandbox runtime causes. A task whose tests give no result fails alone, and with a runtime that works."""
