"""Reads which images the rows of the plan's dataset name, under the training interpreter."""

import json

from skyrl_doctor.core.check import probe
from skyrl_doctor.core.errors import CouldNotLook, NotApplicable
from skyrl_doctor.facts.environ import Environ
from skyrl_doctor.facts.images.needed import NeededImages, parse_needed
from skyrl_doctor.machine.base import Absent, Machine
from skyrl_doctor.plan.model import Plan
from skyrl_doctor.probes.home import expanded
from skyrl_train.contracts.tasks.images import COLUMNS, HOLDERS

LIMIT_S = 12.0
PREFIX_KEY, PREFIX_VARIABLE = "sandbox.image_prefix", "EVAL_DOCKER_IMAGE_PREFIX"
DEFAULT_PREFIX = "docker.io/"


@probe(limit_s=LIMIT_S + 1)
def needed_images(machine: Machine, plan: Plan, environ: Environ) -> NeededImages:
    files = tuple(expanded(file, environ) for file in plan.texts("data.train_files") or ())
    if not files:
        raise NotApplicable("the configuration names no dataset")
    for file in files:
        try:
            machine.stat(file)
        except Absent as error:  # on another node it may lie there
            raise NotApplicable(f"dataset {error}") from None
    spec = json.dumps({"files": files, "columns": COLUMNS, "holders": HOLDERS}, sort_keys=True)
    python = plan.text("python.interpreter") or environ.get("UV_PYTHON")
    done = machine.ask("dataset_images", spec, python=python if python and "/" in python else None, limit_s=LIMIT_S)
    if not done.ok:
        raise CouldNotLook(done.why)
    return parse_needed(done.out, prefix=prefix_of(plan, environ))


def prefix_of(plan: Plan, environ: Environ) -> str:
    """What is put before a name without a registry."""
    said = plan.text(PREFIX_KEY)
    return environ.get(PREFIX_VARIABLE, DEFAULT_PREFIX) if said is None else said
