"""What the failures AGT look like in logs, where no check stands beside them yet."""

from skyrl_doctor.core.signature import Signature

SIGNATURES = {
    "AGT001": (
        Signature(
            pattern=r"No function call detected",
            sample="WARNING: No function call detected. Please use a tool to continue.",
            explain="the model writes no call that the parser knows; use the XML format, and show it in the prompt",
            versions="SkyRL-agent",
            fatal=False,
            at_least=5,
        ),
    ),
    "AGT002": (
        Signature(
            pattern=r"Function '[^']{1,80}' not found in available tools",
            sample="Function 'execute_bash' not found in available tools: ['terminal', 'file_editor', 'finish', 'think']",
            explain="the tools have other names than the calls; map the aliases",
            versions="openhands-sdk",
        ),
    ),
    "AGT003": (
        Signature(
            pattern=r"validation errors? for FinishAction",
            sample="pydantic_core._pydantic_core.ValidationError: 2 validation errors for FinishAction",
            explain="FinishAction takes `message`, and was given another field",
            versions="openhands-sdk",
        ),
    ),
    "AGT004": (
        Signature(
            pattern=r"input_value=.{0,80}CONTEXT_WINDOW_EXCEEDED",
            sample="  Field required [type=missing, input_value={'thought': 'CONTEXT_WINDOW_EXCEEDED'}, input_type=dict]",
            explain="a full context was reported as an argument of an action; it belongs into the trajectory's finish reason",
            versions="openhands-sdk",
            refines=("AGT003",),
        ),
    ),
    "AGT005": (
        Signature(
            pattern=r"validation errors? for ActionEvent",
            sample="pydantic_core._pydantic_core.ValidationError: 5 validation errors for ActionEvent",
            explain="ActionEvent of this SDK wants fields that were not given",
            versions="openhands-sdk",
        ),
    ),
    "AGT006": (
        Signature(
            pattern=r"validation errors? for MessageToolCall",
            sample="pydantic_core._pydantic_core.ValidationError: 1 validation error for MessageToolCall",
            explain="MessageToolCall of this SDK wants `origin`",
            versions="openhands-sdk",
        ),
    ),
    "AGT007": (
        Signature(
            pattern=r"\bInstance is frozen\b|type=frozen_instance",
            sample="  Instance is frozen [type=frozen_instance, input_value='x', input_type=str]",
            explain="a frozen model of pydantic was assigned to; use a private attribute",
            versions="pydantic",
        ),
    ),
    "AGT008": (
        Signature(
            pattern=r"cannot pickle '[\w.]*(?:RLock|lock|Lock|local|weakref|socket|coroutine|generator)' object|Can't pickle (?:local object|<)",
            sample="TypeError: cannot pickle '_thread.RLock' object",
            explain="a live object was sent between processes or copied; results must be plain records",
            versions="python",
        ),
    ),
    "AGT009": (
        Signature(
            pattern=r"RecursionError: maximum recursion depth exceeded",
            sample="RecursionError: maximum recursion depth exceeded",
            explain="a copy helper calls itself; copy plain records only",
            versions="python",
        ),
    ),
    "AGT010": (
        Signature(
            pattern=r"workspace must be a LocalWorkspace",
            sample="AssertionError: workspace must be a LocalWorkspace instance",
            explain="the SDK's local conversation was given a remote workspace",
            versions="openhands-sdk",
        ),
    ),
    "AGT011": (
        Signature(
            pattern=r"Unknown kind '[^']{1,80}' for ",
            sample="ValueError: Unknown kind 'OHCodeActAgent' for openhands.sdk.agent.base.AgentBase; Expected one of: ['Agent']",
            explain="the agent's class is not known on the server; keep the agent local",
            versions="openhands-sdk",
        ),
    ),
    "AGT012": (
        Signature(
            pattern=r"PermissionError: \[Errno 13\] Permission denied: '/(?:testbed|r2e_tests|workspace)",
            sample="PermissionError: [Errno 13] Permission denied: '/testbed'",
            explain="a path of the sandbox was used on this machine",
            versions="python",
        ),
    ),
    "AGT013": (
        Signature(
            pattern=r"Prompt file \S{1,300} not found|(?:FileNotFoundError|TemplateNotFound).{0,300}system_prompt\w*\.j2",
            sample="FileNotFoundError: Prompt file /tmp/ray/session/runtime_resources/working_dir/prompts/system_prompt.j2 not found",
            explain="the prompt's template did not come along to the worker",
            versions="openhands-sdk",
        ),
    ),
    "AGT016": (
        Signature(
            pattern=r"Inconsistent training and inference tokenization detected",
            sample="Inconsistent training and inference tokenization detected (strict)",
            explain="text was tokenised again instead of keeping the engine's tokens",
            versions="verl",
        ),
    ),
    "AGT017": (
        Signature(
            pattern=r"No fallback \(local/global\) for instance_id",
            sample="[FATAL] No fallback (local/global) for instance_id pandas__ab12. Skipping.",
            explain="every rollout of an instance failed; mask them, and look for why the sandboxes failed",
            versions="SkyRL-agent",
        ),
    ),
    "AGT018": (
        Signature(
            pattern=r"(?:rollout|Rollout)s?\b.{0,200}\b0/\d+ \[(?:\d+:\d\d|[1-9]\d):\d\d<",
            sample="Generating rollouts:   0%|          | 0/8 [15:23<?, ?it/s]",
            explain="no rollout ended; the reason is mostly in another component's log",
            versions="prime-rl",
            fatal=False,
        ),
        Signature(
            pattern=r"\bidle for \d{3,9} sec",
            sample="Runtime ab12 was killed: idle for 1244 sec",
            explain="no rollout ended; the reason is mostly in another component's log",
            versions="openhands runtime",
            fatal=False,
        ),
    ),
}
