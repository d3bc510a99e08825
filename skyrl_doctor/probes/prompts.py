"""Measures a sample of the dataset's prompts with the model's tokenizer, under the training interpreter."""

import json

from skyrl_doctor.core.check import probe
from skyrl_doctor.core.errors import CouldNotLook, NotApplicable
from skyrl_doctor.facts.environ import Environ
from skyrl_doctor.facts.model_files import ModelFiles
from skyrl_doctor.facts.prompts import PromptLengths, parse_prompts
from skyrl_doctor.machine.base import Machine
from skyrl_doctor.plan.model import Plan
from skyrl_doctor.probes.home import expanded

LIMIT_S = 10.0
SAMPLE = 500


@probe(limit_s=LIMIT_S + 2)
def prompts(machine: Machine, plan: Plan, environ: Environ, model: ModelFiles | None) -> PromptLengths:
    """Where lengths cannot be had, the reason is a NotApplicable: the bounds of the configuration serve instead."""
    files = plan.texts("data.train_files") or ()
    if not files:
        raise NotApplicable("the configuration names no dataset")
    if model is None or model.directory is None or not model.has_tokenizer:
        raise NotApplicable("the model's tokenizer is not on this machine")
    try:
        file = expanded(files[0], environ)
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
