"""A value is outside the range that its framework accepts.

## What it does
Compares single values, such as `gpu_memory_utilization` and `top_p`, with the range that vLLM, SGLang, verl or prime-rl
asserts. On a verl command line, text where a number belongs is an error too. A RunConfig has its own ranges (CFG004).

## Why it breaks training
The model server refuses to start, after the queue and after the model is loaded, or refuses each request. No rollouts,
GPUs or samples, or a negative number of them, end the run at its first division.

## How to fix
Use a value in the range of the finding. `gpu_memory_utilization` is a fraction: 0.5, not 50.

## Example
    ValueError: GPU memory utilization must be less than 1.0. Got 50.0.
"""

from collections.abc import Iterator

from skyrl_doctor.core.check import check
from skyrl_doctor.core.errors import NotApplicable
from skyrl_doctor.core.model import Finding
from skyrl_doctor.core.signature import Signature
from skyrl_doctor.plan.dialects.run_config import NAME as RUN_CONFIG
from skyrl_doctor.plan.findings import config_finding, required
from skyrl_doctor.plan.model import Plan
from skyrl_train.config.ranges import RANGES, Range

SIGNATURES = (
    Signature(
        pattern=r"GPU memory utilization must be (?:less than|in)|\b(?:top_p|temperature|gpu_memory_utilization|mem_fraction_static) must be (?:in|non-negative|between|greater|less)",
        sample="ValueError: GPU memory utilization must be less than 1.0. Got 50.0.",
        explain="a value is outside the range that the model server accepts",
        versions="vllm, sglang",
    ),
    Signature(
        pattern=r"`temperature` \(=(?P<value>-?[\d.]{1,12})\) has to be a strictly positive float",
        sample="ValueError: `temperature` (=0.0) has to be a strictly positive float, otherwise your next token scores will be invalid.",
        explain="transformers samples only with a temperature above 0, and it is {value}",
        remedy="Pass `do_sample=False` without a temperature for greedy decoding, or a temperature above 0.",
        versions="transformers",
    ),
    Signature(
        pattern=r"`(?P<key>top_p|top_k|typical_p|min_p|penalty|repetition_penalty|encoder_repetition_penalty|epsilon)` (?:\(=[^()\n]{1,20}\) )?has to be an? (?P<range>[^\n]{5,60}?),? but is (?P<value>\S{1,30})",
        sample="ValueError: `top_p` has to be a float > 0 and < 1, but is 1.5",
        explain="`{key}` is {value}; transformers accepts {range}",
        remedy="Change the value in the generation settings of the run, or in the model's generation_config.json.",
        versions="transformers",
    ),
    Signature(
        pattern=r"\b(?P<key>top_k|top_p|min_p|temperature|n|best_of|logprobs|prompt_logprobs|presence_penalty|frequency_penalty|repetition_penalty|min_tokens|min_new_tokens|max_new_tokens) must be (?P<range>(?:in |between |non-negative|at least |greater than |0 \(disable\)|-1 \(disable\))[^\n]{0,60}?)[,.]? got (?P<value>-?[\d.]{1,20}|\S{1,30})",
        unless=r"\bmax_(?:completion_)?tokens must be at least 1\b",
        sample="ValueError: presence_penalty must be in [-2, 2], got 3.0.",
        explain="`{key}` is {value}; the model server accepts a value {range}",
        remedy="Change the value in the sampling settings of the run.",
        versions="vllm, sglang",
    ),
    Signature(
        pattern=r"\bRequested (?:sample|prompt) logprobs of (?P<value>\d{1,7}), which is greater than max allowed: (?P<limit>-?\d{1,7})",
        sample="ValueError: Requested sample logprobs of 50, which is greater than max allowed: 20",
        explain="a request asks for {value} log-probabilities a token, and the server gives at most {limit}",
        remedy="Ask for at most {limit}, or start the server with `--max-logprobs {value}`.",
        versions="vllm",
    ),
    Signature(
        pattern=r"\bValueError: (?P<what>(?:Invalid (?:learning rate|epsilon value|weight_decay value|momentum value|beta parameter at index \d):|dropout probability has to be between 0 and 1, but got|`r` should be a positive integer value but the value passed is) \S{1,30})",
        sample="ValueError: Invalid learning rate: -0.001",
        explain="a value of the training is outside its range: {what}",
        remedy="Change the value in the configuration. A number such as `1e-5` in a YAML file needs a point (`1.0e-5`), or it is read as text.",
        versions="torch, peft",
    ),
    Signature(
        pattern=r"\b(?:Value|Assertion|Config|Validation)Error: (?:\[[\w. -]{1,60}\] ?)?[`'\"]?(?P<key>(?:--)?[a-z][a-z\d]{0,30}(?:[._-][a-z\d]{1,30}){1,6})[`'\"]? (?:must|should|has to|needs to) be (?P<range>(?:strictly )?(?:greater than|larger than|less than|smaller than|at least|at most|positive|non-negative|>=?|<=?|between|in (?:the )?(?:range|interval|\[|\()|a (?:strictly )?(?:positive|non-negative)) ?[^\n]{0,100})",
        sample="AssertionError: config.own_rollout.nnodes must be greater than 0",
        explain="`{key}` is outside the range that the program accepts: it must be {range}",
        remedy="Change `{key}` in the configuration or on the command line.",
        versions="verl, trl, vllm, sglang",
        unless=r"\b(?:input_ids|inputs_embeds|attention_mask|position_ids|hidden_states|pixel_values|ndim|index|tensors?|divisible|multiple)\b",
        last_resort=True,
    ),
)

VERL = "verl"


@check("CFG010", fix="skyrl_train/config/ranges.py")
def value_out_of_range(plan: Plan) -> Iterator[Finding]:
    if required(plan).is_of(RUN_CONFIG):
        raise NotApplicable("CFG004 checks the ranges of a run.toml")
    refused = [problem.location for problem in plan.problems if problem.fatal]
    for key, allowed in RANGES.items():
        found = plan.values.get(key)
        if found is None or found.unknown or found.value is None or found.location in refused:
            continue  # a value that is not known, or that the framework's own classes refuse, is CFG004's
        if isinstance(found.value, bool) or not isinstance(found.value, int | float):
            if plan.is_of(VERL):  # the schemas of prime-rl and SkyRL have types, which CFG004 compares
                yield config_finding(f"{found.assignment}; expected a number, {allowed}", plan.place(key))
        elif not allowed.holds(found.value):
            fraction = _fraction(found.value, allowed)
            hint = "" if fraction is None else f"; {found.value:g} looks like a percentage: write {fraction}"
            settings = {} if fraction is None else {found.name: fraction}
            yield config_finding(f"{found.assignment}; expected {allowed}{hint}", plan.place(key), settings)


def _fraction(value: float, allowed: Range) -> str | None:
    """The fraction that a percentage stands for, where the range ends at 1: 0.6 for 60. 1.2 is none."""
    if allowed.most != 1 or not 10 <= value <= 100:
        return None
    return f"{value / 100:g}"
