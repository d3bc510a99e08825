"""Further texts of the failures of agents and rollouts."""

from checks.signatures.short import root, roots

SIGNATURES = {
    "AGT001": (
        root(
            r"Failed to (?:decode|parse) tool call|Error in extracting tool call from response|[Nn]o (?:valid )?tool calls? (?:was |were )?(?:detected|found|parsed)|[Nn]o (?:valid )?function calls? (?:was |were )?(?:found|parsed)",
            "ERROR:verl.experimental.agent_loop.tool_parser:Failed to decode tool call: Expecting value: line 1 column 1 (char 0)",
            "the model writes no call that the parser knows; use the XML format, and show it in the prompt",
            "verl, vllm",
            fatal=False,
            at_least=5,
        ),
    ),
    "AGT002": roots(
        "the tools have other names than the calls; map the aliases",
        (
            r"[Tt]ool(?:Definition)? '?[\w.-]{1,80}'? (?:is not registered|(?:was |is )?not found\b.{0,20}[Aa]vailable|does not exist)|\bFunctionCallNotExistsError\b|[Uu]nknown tool:? '?[\w.-]{1,60}",
            "Tool 'execute_bash' not found. Available: ['terminal', 'file_editor', 'finish', 'think']",
            "openhands-sdk, OpenHands V0",
        ),
    ),
    "AGT003": roots(
        "FinishAction takes `message`, and was given another field",
        (
            r"FinishAction(?:\.__init__)?\(\) (?:missing|got an unexpected)",
            "TypeError: FinishAction.__init__() got an unexpected keyword argument 'thought'",
            "openhands",
        ),
    ),
    "AGT004": roots(
        "a full context was reported as an argument of an action; it belongs into the trajectory's finish reason",
        (
            r"(?:thought|message)['\"]?[=:] ?['\"]CONTEXT_WINDOW_EXCEEDED",
            "TypeError: FinishAction.__init__() got an unexpected keyword argument: thought='CONTEXT_WINDOW_EXCEEDED'",
            "SkyRL-agent",
        ),
        refines=("AGT003",),
    ),
    "AGT005": roots(
        "ActionEvent of this SDK wants fields that were not given",
        (
            r"ActionEvent(?:\.__init__)?\(\) (?:missing|got an unexpected)",
            "TypeError: ActionEvent.__init__() missing 2 required keyword-only arguments: 'tool_call_id' and 'llm_response_id'",
            "openhands-sdk",
        ),
    ),
    "AGT006": roots(
        "MessageToolCall of this SDK wants `origin`",
        (
            r"MessageToolCall(?:\.__init__)?\(\) (?:missing|got an unexpected)",
            "TypeError: MessageToolCall.__init__() missing 1 required keyword-only argument: 'origin'",
            "openhands-sdk",
        ),
    ),
    "AGT007": roots(
        "a frozen model was assigned to; use a private attribute",
        (
            r"\bFrozenInstanceError\b|is immutable and does not support item assignment|' object has no setter\b|\bimmutable type: '|\"\w{1,60}\" object has no field \"",
            'ValueError: "OHCodeActAgent" object has no field "tokenizer"',
            "pydantic, dataclasses",
        ),
    ),
    "AGT008": roots(
        "a live object was sent between processes or copied; results must be plain records",
        (
            r"cannot pickle '[\w.]{1,80}' object|[Cc]an't pickle |Could not serialize the (?:argument|return value|actor class|function)|\bPicklingError\b|Failed to unpickle serialized exception|\bcannot be pickled\b|no default __reduce__ due to|support the deepcopy protocol\b|Can't get local (?:object|attribute) '|Can't get attribute '\w{1,80}' on <module|\bPickling (?:of|an?) .{1,80} (?:is|are) (?:disallowed|not (?:allowed|supported))",
            "TypeError: Could not serialize the argument <Conversation object> for a task or actor run_rollout",
            "python, ray",
        ),
    ),
    "AGT009": roots(
        "a copy helper calls itself; copy plain records only",
        (
            r"Cannot recover from stack overflow|Fatal Python error: (?:_Py_CheckRecursiveCall|Stack overflow)",
            "Fatal Python error: _Py_CheckRecursiveCall: Cannot recover from stack overflow.",
            "python",
        ),
    ),
    "AGT010": roots(
        "the SDK's local conversation was given a remote workspace",
        (
            r"(?:must be|requires|expected) an? (?:instance of )?'?LocalWorkspace",
            "TypeError: conversation requires a LocalWorkspace, got APIRemoteWorkspace",
            "openhands-sdk",
        ),
    ),
    "AGT011": roots(
        "the agent's class is not known on the server; keep the agent local",
        (
            r"[Uu]nknown (?:agent )?kind:? ['\"]?\w{1,80}|[Aa]gent class ['\"]?\w{1,80}['\"]? (?:is )?not (?:registered|found|known)|AgentNotRegisteredError",
            "openhands.core.exceptions.AgentNotRegisteredError: No agent class registered under 'OHCodeActAgent'",
            "openhands",
        ),
    ),
    "AGT012": (
        root(
            r"Error: \[Errno \d+\] [\w -]{1,40}: '/(?:testbed|r2e_tests|workspace)(?:/|')|cannot change to '/(?:testbed|r2e_tests|workspace)\b|\b(?:NoSuchPath|InvalidGitRepository)Error: /(?:testbed|r2e_tests|workspace)\b",
            "OSError: [Errno 30] Read-only file system: '/testbed'",
            "a path of the sandbox was used on this machine",
            "python",
            unless=r"\bWARN",
        ),
    ),
    "AGT013": roots(
        "the prompt's template did not come along to the worker",
        (
            r"TemplateNotFound: \S{0,200}\.j2|(?:No such file or directory|[Tt]emplate|[Pp]rompt(?: file)?)\b.{0,200}prompts?/\S{1,120}\.(?:j2|jinja2?)\b.{0,40}(?:$|not found|does not exist|missing|')",
            "jinja2.exceptions.TemplateNotFound: system_prompt.j2",
            "jinja2",
        ),
    ),
    "AGT016": roots(
        "text was tokenised again instead of keeping the engine's tokens",
        (
            r"(?:[Rr]e-?tokeni[sz](?:ed|ation)|[Tt]okeni[sz]ation).{0,80}(?:mismatch|differs?|inconsistent|do(?:es)? not match)|[Tt]oken(?:s| ids?) (?:mismatch|differ).{0,80}(?:re-?encod|re-?tokeni)",
            "ValueError: re-tokenized response does not match the ids of the engine at position 41",
            "SkyRL, verifiers",
        ),
    ),
    "AGT017": roots(
        "every rollout of an instance failed; mask them, and look for why the sandboxes failed",
        (
            r"\b[Aa]ll (?:\d+ )?(?:rollouts|trajectories|samples|attempts) (?:(?:of|for) \S{1,80} |in (?:this|the) (?:group|batch|step) )?(?:have )?failed|\b[Nn]o (?:successful|valid|usable) (?:rollouts|trajectories|samples)\b",
            "RuntimeError: all 4 trajectories of pandas__ab12 failed",
            "SkyRL, verifiers",
        ),
    ),
    "AGT018": (
        root(
            r"[Ee]vent[ _]?[Ll]oop[ _]?[Ll]ag\b.{0,40}\b\d{3,9}(?:\.\d{1,9})? ?s|\b(?:rollouts?|trajectories|generation)\b.{0,60}(?:stuck|no progress|not progressing|stalled) for \d{3,9}",
            "WARNING event_loop_lag max 702.4 s, no rollout ended since",
            "no rollout ended; the reason is mostly in another component's log",
            "prime-rl",
            fatal=False,
        ),
    ),
}
