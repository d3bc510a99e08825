"""Shared by CFG005 and CFG012: the model's context. Shared by CFG012 and CFG030: the files that check settings."""

import re
from collections.abc import Mapping

from skyrl_doctor.core.errors import NotApplicable
from skyrl_doctor.facts.model_files import ModelFiles, is_path
from skyrl_doctor.plan.model import Plan
from skyrl_train.config.models import longest_context

STRETCHES = re.compile(r"rope|hf_overrides|max_position_embeddings")
"""Settings that may give the engine a longer context than the model's file."""

CONFIGURATIONS = r"vllm/(?:config/\w{1,40}|config|engine/arg_utils)|sglang/srt/(?:server_args|arg_groups/\w{1,40})|transformers/(?:training_args\w{0,20}|integrations/deepspeed)|trl/(?:\w{1,40}/){1,3}\w{1,40}_config|accelerate/(?:parallelism_config|utils/dataclasses|commands/(?:config/)?\w{1,40}|utils/launch)|deepspeed/runtime/(?:zero/)?config|verl/(?:utils/config|workers/config/\w{1,40}|trainer/config/\w{1,40})|openrlhf/cli/\w{1,40}|skyrl\w{0,10}/(?:\w{1,40}/){0,3}config(?:/\w{1,40})?|prime_rl/(?:\w{1,40}/){0,3}configs?(?:/\w{1,40})?|llamafactory/hparams/\w{1,40}|swift/(?:\w{1,40}/){0,3}arguments?/\w{1,40}|axolotl/(?:utils/(?:schemas|config)|cli/config)(?:/\w{1,40})?|slime/utils/arguments|megatron/(?:training/(?:arguments|config/\w{1,40})|core/(?:transformer/)?\w{0,30}config)|areal/api/\w{1,40}|lmdeploy/messages|torchtune/config/\w{1,40}"
"""Files of programs that read and check settings and do nothing else."""


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
