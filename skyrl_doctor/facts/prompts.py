"""The lengths of the prompts in the plan's dataset, in tokens."""

import json

from skyrl_doctor.core.check import probe
from skyrl_doctor.core.errors import CouldNotLook, NotApplicable
from skyrl_doctor.core.record import record
from skyrl_doctor.facts.child import answer_of, unknown_if_malformed
from skyrl_doctor.facts.environ import Environ
from skyrl_doctor.facts.model_files import ModelFiles
from skyrl_doctor.machine.base import Machine
from skyrl_doctor.machine.paths import expand_home
from skyrl_doctor.plan.model import Plan

LIMIT_S = 10.0
SAMPLE = 500


@record(kw_only=True)
class PromptLengths:
    """Percentiles of a sample of `count` prompts from a dataset of `rows`."""

    file: str
    count: int
    rows: int
    p50: int
    p95: int
    longest: int

    @property
    def summary(self) -> str:
        return f"p95 of {self.count} of {self.rows} prompts in {self.file}; p50 {self.p50}, longest {self.longest}"


@unknown_if_malformed()
def parse_prompts(text: str, who: str) -> PromptLengths | str:
    """Parses the output of children/prompt_lengths.py. A string is the reason why there are no lengths."""
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


@probe(limit_s=LIMIT_S + 2)
def prompts(machine: Machine, plan: Plan, environ: Environ, model: ModelFiles | None) -> PromptLengths:
    """Measures a sample of the prompts with the model's tokenizer in the training interpreter.

    Raises NotApplicable if there are no lengths: checks then use the limits in the configuration.
    """
    try:
        files = plan.texts("data.train_files") or ()
    except CouldNotLook as error:
        raise NotApplicable(f"dataset {error}") from None
    if not files:
        raise NotApplicable("the configuration names no dataset")
    if model is None or model.directory is None or not model.has_tokenizer:
        raise NotApplicable("the model's tokenizer is not on this machine")
    try:
        file = expand_home(files[0], environ)
        machine.stat(file)
    except CouldNotLook as error:
        raise NotApplicable(f"dataset {error}") from None
    spec = {
        "file": file,
        "tokenizer": f"{model.directory}/tokenizer.json",
        "key": plan.text("data.prompt_key") or "prompt",
        "sample": SAMPLE,
    }
    python = plan.text("python.interpreter") or environ.get("UV_PYTHON")
    python = python if python and "/" in python else None
    done = machine.ask("prompt_lengths", json.dumps(spec, sort_keys=True), python=python, limit_s=LIMIT_S)
    if not done.ok:
        raise NotApplicable(done.why)
    found = parse_prompts(done.out, "prompt lengths")
    if isinstance(found, str):
        raise NotApplicable(found)
    return found
