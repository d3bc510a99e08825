"""Shared by CFG005 and CFG012: the model's context."""

import re
from collections.abc import Mapping

from skyrl_doctor.core.errors import NotApplicable
from skyrl_doctor.facts.model_files import ModelFiles, is_path
from skyrl_doctor.plan.model import Plan
from skyrl_train.config.models import longest_context

STRETCHES = re.compile(r"rope|hf_overrides|max_position_embeddings")
"""Settings that may give the engine a longer context than the model's file."""


def may_stretch(plan: Plan) -> bool:
    """Whether a setting may give the engine a longer context than the model's file."""
    return any(STRETCHES.search(name) and value.written for name, value in plan.own.items())


def model_context(model: ModelFiles) -> tuple[int, str]:
    """The model's context, and where it is known from. The file of a run's own may have another than the public model."""
    if model.config is not None:
        config, label = model.text_config, model.label
    else:
        from skyrl_train.memory import known_config  # only for a model that is not here

        is_public = model.directory is None and not is_path(model.name)
        found = known_config(model.name) if is_public else None
        if found is None:
            raise NotApplicable(f"{model.name} has no config.json on this machine")
        inner = found.get("text_config")
        config, label = inner if isinstance(inner, Mapping) else found, f"the public model {model.name}"
    has = longest_context(config)
    if has is None and model.config is None:
        raise NotApplicable(f"the context of {model.name} is not in the doctor's table of public models")
    if has is None:
        raise NotApplicable(f"{label} has no max_position_embeddings")
    return has, label
