"""`max_tokens` exceeds what the prompt leaves of `max_model_len`.

## What it does
Adds the prompt to what one call may generate, and to what a whole rollout may generate, and compares both sums with
`max_model_len`. The prompt is the 95th percentile of the dataset's own prompts if dataset and tokenizer can be read,
otherwise the configured limit: the longest prompt. Under prime-rl, the sequence length holds prompt and response, so it
counts only where max_tokens is larger than it: training cuts such replies, which is a warning.

## Why it breaks training
vLLM rejects the request. Under prime-rl and SkyRL-agent the rejection is only in the server's log, and the run hangs
at `0/8 rollouts` until its time limit. verl lowers the number instead, in every release, so answers are cut short;
a prompt that fills the whole context ends the run there too.

## How to fix
Set max_tokens to the number in the finding, or raise max_model_len if memory allows it.

## Example
    ValueError: 'max_tokens' or 'max_completion_tokens' is too large: 4000. This model's maximum context length is 4096
    tokens and your request has 1297 input tokens (4000 > 4096 - 1297).
"""

import dataclasses
from collections.abc import Iterator

from skyrl_doctor.core.check import check
from skyrl_doctor.core.errors import NotApplicable
from skyrl_doctor.core.model import Finding, Severity
from skyrl_doctor.core.signature import Signature
from skyrl_doctor.facts.prompts import PromptLengths
from skyrl_doctor.plan.answers import PRIME
from skyrl_doctor.plan.findings import finding, required
from skyrl_doctor.plan.model import Plan
from skyrl_train.config.context import call_violations, training_violations, trajectory_violations
from skyrl_train.contracts.violation import Violation

CONTEXT = r"context (?:size|limit|length|window)\b"
LLAMA_CPP = r"exceeds (?:the )?(?:available )?context size|\bexceed_context_size_error\b"
"""llama.cpp's words: no trainer of ours or of others runs its rollouts on it."""
SERVER = r"(?:\bserving_\w{1,30}\.py:\d{1,6}\]|(?:^|\s)vllm\.exceptions\.VLLMValidationError:)"
"""In a line of a model server about a request that it refuses."""
CAUSE = "the request asked for more tokens than the context has left"

LOWER = "Lower the tokens that a call may generate (`{key:rollout.max_tokens}`) so that the longest prompt and the answer fit into `{key:rollout.max_model_len}`, or raise that one if the model and the memory allow it."
SHORTER = "Lower `{key:data.max_prompt_tokens}` or filter long prompts, or raise `{key:rollout.max_model_len}` if the model and the memory allow it."
KEYS = ("rollout.max_tokens", "data.max_prompt_tokens", "data.max_response_tokens", "rollout.max_model_len")

SIGNATURES = (
    Signature(
        pattern=r"\bInput prompt \(\d+ tokens\)(?: \+ lookahead slots \(\d+\))? is too long and exceeds\b",
        sample="WARNING 03-02 04:01:14 scheduler.py:717] Input prompt (9001 tokens) + lookahead slots (0) is too long and exceeds the capacity of block_manager",
        explain="a prompt is longer than its limit, or than vLLM's cache, and its answer stays empty",
        remedy=SHORTER,
        versions="vllm 0",
    ),
    Signature(
        pattern=r"'max_tokens' or 'max_completion_tokens' is too large: (?P<asked>\d+)\. This model's maximum context length is (?P<limit>\d+) tokens and your request has (?P<prompt>\d+) input tokens",
        sample="ValueError: 'max_tokens' or 'max_completion_tokens' is too large: 4000. This model's maximum context length is 4096 tokens and your request has 1297 input tokens (4000 > 4096 - 1297).",
        explain="prompt {prompt} + max_tokens {asked} exceeds the context of {limit} tokens",
        remedy=LOWER,
        versions="vllm < 0.20",
    ),
    Signature(
        pattern=r"'max_tokens' or 'max_completion_tokens' is too large",
        sample="ValueError: 'max_tokens' or 'max_completion_tokens' is too large: 4000. This model's maximum context length is 4096 tokens and your request has 1297 input tokens (4000 > 4096 - 1297).",
        explain=CAUSE,
        remedy=LOWER,
        versions="vllm < 0.20",
    ),
    Signature(
        pattern=rf"{SERVER}.{{0,300}}\bmaximum context length is \d+ tokens",
        sample="(APIServer pid=1) vllm.exceptions.VLLMValidationError: This model's maximum context length is 8192 tokens. However, you requested 512 output tokens and your prompt contains at least 7681 input tokens.",
        explain=CAUSE,
        remedy=LOWER,
        versions="vllm",
        request=True,
    ),
    Signature(
        pattern=r"maximum context length is \d+ tokens.{0,120}(?:you requested|your request has|your prompt contains|resulted in)",
        unless=SERVER,
        sample="openai.BadRequestError: Error code: 400 - This model's maximum context length is 128000 tokens. However, you requested 65535 output tokens and your prompt contains at least 62466 input tokens, for a total of at least 128001 tokens.",
        explain=CAUSE,
        remedy=LOWER,
        versions="vllm 0.20 - 0.27",
    ),
    Signature(
        pattern=r"\bmaximum context length of \S{1,120} is \d+\. However, answering your request will take \d+ tokens",
        sample="litellm.BadRequestError: OwnException - The maximum context length of own-model is 32768. However, answering your request will take 39732 tokens.",
        explain=CAUSE,
        remedy=LOWER,
        versions="servers of models",
        request=True,
    ),
    Signature(
        pattern=r"max_(?:completion_)?tokens ?= ?(?P<asked>\d+) cannot be greater than max_model_len(?: ?= ?(?P<limit>\d+))?",
        sample="ValueError: max_tokens=5000 cannot be greater than max_model_len=4096. Please request fewer output tokens.",
        explain="max_tokens {asked} exceeds max_model_len {limit}",
        remedy=LOWER,
        versions="vllm >= 0.33",
    ),
    Signature(
        pattern=r"exceeds model's maximum context length|leaves no room to generate within the model's maximum context length",
        sample="ValueError: Prompt length (4100) leaves no room to generate within the model's maximum context length (4096); need at least 1 token of headroom.",
        explain=CAUSE,
        remedy=LOWER,
        versions="vllm, verl 0.9",
    ),
    Signature(
        pattern=rf"(?:[Pp]rompt|[Ii]nput|[Rr]equest|tokens`?)\b.{{0,40}} exceeds? (?:the )?(?:model's |available |maximum |max ){{0,3}}{CONTEXT}|too long and exceeds the capacity",
        sample="BadRequestError: input length and `max_tokens` exceed: the request exceeds the model's context length (4096 tokens)",
        explain=CAUSE,
        remedy=LOWER,
        versions="anthropic, vllm",
        unless=LLAMA_CPP + r"|(?i:truncat|skipp|dropp|filter)",
    ),
    Signature(
        pattern=r"prompt \(length (?P<prompt>\d+)\) is longer than the maximum model length(?: of (?P<limit>\d+))?|[Pp]rompt length of \d+ is longer than the maximum model|prompt length \d+ exceeds the max_model_len",
        sample="ValueError: The decoder prompt (length 5120) is longer than the maximum model length of 4096. Make sure that `max_model_len` is no smaller than the number of text tokens.",
        explain="the prompt alone is longer than the context of the model server",
        remedy=SHORTER,
        versions="vllm 0.8 - 0.12",
    ),
    Signature(
        pattern=r"\d+ tokens\) is longer than the model's context length|[Rr]equested token count exceeds the model's maximum context length|ContextWindowExceededError|context_length_exceeded|`max_new_tokens` must be <= \d",
        sample="ValueError: Requested token count exceeds the model's maximum context length of 4096 tokens. You requested a total of 5297 tokens: 1297 tokens from the input messages and 4000 tokens for the completion.",
        explain=CAUSE,
        remedy=LOWER,
        versions="sglang, litellm",
    ),
    Signature(
        pattern=r"exceeds the maximum allowed length \(\d|provide prompt token ids of length at most \d|\bmax_tokens is too large: \d|Prompt length \d+ is longer than \d+|Error: Input length of input_ids is \d+, but `max_length` is set to \d|sequence_length=\d+ is (?:longer|larger) than max_length|exceeds this limit even without any output tokens|[Pp]rompt \(\d+ tokens\) is too long and exceeds|max_(?:completion_)?tokens must be at least 1, got (?:-\d|0\b)|is too long to fit into the model|prompt is too long: \d+ tokens > \d|\bmax_(?:new_)?tokens \d+ exceeds available context space|\bfills or exceeds max_model_len\b|\bhas length \d+ which exceeds max_model_len\b|\bSequence length \d+ exceeds max_length \d|\bDataset sample is too long \(\d|`inputs` must have less than \d+ tokens\. Given: |\binput token count \(\d+\) exceeds the maximum number of tokens allowed|\btoo large for model with \d+ maximum context length|\bThe prompt is too long: \d+, model maximum context length|\bInput is too long for requested model\b|\bexceeds maximum input length \(\d|\bINPUT_LENGTH_ERROR\b|\bsum of prompt length \(\d[^\n]{0,160}should not exceed",
        sample="RuntimeError: Prompt length 2310 is longer than 1024.",
        explain="a prompt is longer than its limit, or leaves no room for an answer",
        remedy=SHORTER,
        versions="verl",
    ),
    Signature(
        pattern=r"You passed \d+ input (?:tokens|characters) and requested \d+ output tokens",
        sample="VLLMValidationError: You passed 33000 input tokens and requested 0 output tokens. However, the model's context length is only 32768 tokens",
        explain=CAUSE,
        remedy=LOWER,
        versions="vllm >= 0.14",
    ),
    Signature(
        pattern=r"\brequest \((?P<prompt>\d{1,9}) tokens\) exceeds the available context size \((?P<limit>\d{1,9}) tokens\)",
        sample="srv    send_error: task id = 0, error: request (44496 tokens) exceeds the available context size (32768 tokens), try increasing it",
        explain="the prompt has {prompt} tokens, and the context of llama.cpp's server is {limit} tokens",
        remedy="Start llama-server with a larger context (`-c N`; with `--parallel P` each slot gets N / P tokens), if the model was trained for it and the memory allows it, or shorten the prompt.",
        versions="llama.cpp",
        request=True,
        keys=(),
    ),
    Signature(
        pattern=r"\bmax KV cache length of input sequences \((?P<length>\d{1,9})\) exceeds the KV cache manager's maximum supported length \((?P<limit>\d{1,9})\)|\bsum of prompt length \((?P<prompt>[\d.]{1,12})\), ?query length \(\d{1,9}\)[^\n]{0,60} should not exceed max_(?:num_tokens|seq_len)|\b[Pp]rompt length \((?P<tokens>\d{1,9})\) exceeds maximum input length \((?P<most>\d{1,9})\)",
        sample="AssertionError: The max KV cache length of input sequences (3646) exceeds the KV cache manager's maximum supported length (2049).",
        explain="a sequence is longer than TensorRT-LLM was started for",
        remedy="Raise `max_seq_len` of the server (and `max_num_tokens`), or send shorter prompts and ask for fewer tokens.",
        versions="tensorrt-llm",
    ),
)

TOPIC = Signature(
    pattern=r"(?i)\b(?:prompt|input|request|context|conversation|messages?)\b.{0,60}\b\d{3,7} tokens\b.{0,80}\b(?:max_model_len|context (?:length|window|size|limit)|maximum (?:length|context|is))",
    sample="ValueError: prompt has 9001 tokens, but max_model_len is 8192",
    explain=CAUSE,
    remedy=LOWER,
    versions="any",
    unless=LLAMA_CPP + "|(?i:truncat|skipp|dropp|filter)",
)

VERL = "verl"
CLAMPS = (VERL, "run-config")
CALL, RESPONSE = "rollout.max_tokens", "data.max_response_tokens"
SEQUENCE = "data.max_sequence_tokens"
BOUNDS = ("data.max_prompt_tokens", SEQUENCE)


@check("CFG001", fix="skyrl_train/config/context.py")
def max_tokens_exceed_context(plan: Plan, prompts: PromptLengths | None) -> Iterator[Finding]:
    trained = required(plan).integer(SEQUENCE) if plan.is_of(*PRIME) else None
    context, calls = plan.integer("rollout.max_model_len"), plan.integer(CALL)
    if context is None:
        if trained is None or calls is None:
            raise NotApplicable("max_model_len is not set, so the model's own context length applies")
        yield from _cut_in_training(plan, calls, trained)
        return
    total_key = next((key for key in ("agent.max_response_tokens", RESPONSE) if plan.find(key)), None)
    total = plan.integer(total_key) if total_key else None
    reported = set()
    if calls is not None:
        length, source = _prompt(plan, prompts, calls)
        for violation in call_violations(
            max_tokens=calls,
            max_model_len=context,
            prompt_tokens=length,
            prompt_source=source,
            clamped=plan.is_of(*CLAMPS),
            response_tokens=total,
        ):
            reported.add(violation.key)
            is_cut = plan.is_of(VERL) and violation.key == CALL
            severity = Severity.WARNING if is_cut else None
            yield finding(plan, _where_written(plan, violation), severity=severity)
    if calls is not None and trained is not None and not reported:
        yield from _cut_in_training(plan, calls, trained)
    longest = plan.integer("data.max_prompt_tokens")
    if longest is None or total is None or total_key is None or reported:
        return
    for violation in trajectory_violations(
        prompt_tokens=longest, response_tokens=total, max_model_len=context, response_key=total_key
    ):
        yield finding(plan, violation)


def _cut_in_training(plan: Plan, calls: int, trained: int) -> Iterator[Finding]:
    for violation in training_violations(name=plan.name(CALL), max_tokens=calls, sequence_tokens=trained):
        yield finding(plan, violation)


def _where_written(plan: Plan, violation: Violation) -> Violation:
    """verl takes a call's limit from the response length: that is the line to change."""
    if violation.key != CALL or plan.values[CALL].written or plan.find(RESPONSE) is None:
        return violation
    return dataclasses.replace(violation, key=RESPONSE, settings={RESPONSE: violation.settings[CALL]})


def _prompt(plan: Plan, prompts: PromptLengths | None, calls: int) -> tuple[int | None, str]:
    """The length of a prompt and where it is known from. A sequence length holds the response too, so it bounds a prompt
    only where the response alone is longer."""
    if prompts is not None:
        return prompts.p95, prompts.summary
    for key in BOUNDS:
        length = plan.integer(key)
        if length is not None and (key != SEQUENCE or calls > length):
            return length, plan.name(key)
    return None, ""
