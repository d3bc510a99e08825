"""How a rollout can end, and which ends are kept out of training."""

from collections.abc import Mapping
from enum import StrEnum


class Finish(StrEnum):
    """The values are those that SkyRL counts, so that its metrics keep their names; the last group is ours."""

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
    Finish.FINISH_TOOL: "the model ended it",
    Finish.NO_FUNCTION_CALL: "the model's own doing, and what training is to cure",
    Finish.NO_GIT_PATCH: "the model changed nothing: that is an answer",
}
"""Ends that count in training, and why."""

MASKED: Mapping[Finish, str] = {
    Finish.CONTEXT_WINDOW_EXCEEDED: "cut off before an answer",
    Finish.BAD_LLM_RESPONSE: "an empty reply holds nothing to learn from",
    Finish.MAX_ITERATIONS_REACHED: "cut off before an answer",
    Finish.STUCK_IN_A_LOOP: "the same turns over and over would outweigh the others",
    Finish.CMD_TIMEOUT: "a sandbox that hangs is no answer",
    Finish.ERROR_RUNTIME: "the sandbox failed, not the model",
    Finish.ERROR_EVALUATION: "there is no reward to learn from",
    Finish.ERROR_INITIALIZATION: "the sandbox never started; a zero would be made up",
    Finish.ROLLOUT_TIMEOUT: "cut off before an answer",
    Finish.ERROR_MODEL: "the engine failed, not the model",
    Finish.CANCELLED: "cut off before an answer",
}
"""Ends that are kept out of training, and why. SkyRL trains on `error_initialization`, as a zero."""
