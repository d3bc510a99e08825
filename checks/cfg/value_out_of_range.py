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
from skyrl_train.config.ranges import RANGES

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
)

VERL = "verl"


@check("CFG010", fix="skyrl_train/config/ranges.py")
def value_out_of_range(plan: Plan) -> Iterator[Finding]:
    if required(plan).is_of(RUN_CONFIG):
        raise NotApplicable("CFG004 checks the ranges of a run.toml")
    for key, allowed in RANGES.items():
        found = plan.values.get(key)
        if found is None or found.unknown or found.value is None:
            continue  # a value that is not known is CFG004's
        if isinstance(found.value, bool) or not isinstance(found.value, int | float):
            if plan.is_of(VERL):  # the schemas of prime-rl and SkyRL have types, which CFG004 compares
                yield config_finding(f"{found.assignment}; expected a number, {allowed}", plan.place(key))
        elif not allowed.holds(found.value):
            yield config_finding(f"{found.assignment}; expected {allowed}", plan.place(key))
