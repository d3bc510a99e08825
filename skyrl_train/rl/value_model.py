"""The critic's engine: loads the value model with the configured attention.

verl loads every value model with flash attention, whatever `attn_implementation` says, and a GPU without flash-attn then
ends in "is not a value head model, please install trl". verl makes the critic's configuration of the class that
`critic.model._target_` names. A worker that receives it imports this module, and with it the engine: verl's registry
prefers an engine of this vendor to one without a vendor. FIX(TRN020)
"""

from typing import Any

from transformers import AutoModelForTokenClassification, PreTrainedConfig, PreTrainedModel
from verl.workers.config import HFModelConfig
from verl.workers.engine import EngineRegistry
from verl.workers.engine.fsdp.transformer_impl import FSDPEngineWithValueHead

VENDOR = "nvidia"


class ValueModelConfig(HFModelConfig):
    """verl's own configuration of a model. Only its module matters."""


@EngineRegistry.register(model_type="value_model", backend=["fsdp", "fsdp2"], device="cuda", vendor=VENDOR)
class ConfiguredAttention(FSDPEngineWithValueHead):
    """verl's engine of a value model, with the attention of the configuration."""

    def initialize(self) -> None:
        use_configured_attention(self.model_config.hf_config)
        super().initialize()


def use_configured_attention(config: PreTrainedConfig) -> None:
    """Registers a class for value models of this kind that ignores the attention that the caller asks for."""
    known = AutoModelForTokenClassification._model_mapping  # noqa: SLF001 -- has no public reader
    if type(config) not in known or "from_pretrained" in vars(known[type(config)]):
        return
    parent = known[type(config)]

    def from_pretrained(cls: type[PreTrainedModel], path: str, *args: Any, **words: Any) -> PreTrainedModel:
        words["attn_implementation"] = config._attn_implementation  # noqa: SLF001 -- where transformers keeps the setting
        return parent.from_pretrained.__func__(cls, path, *args, **words)

    # with the parent's name, since a checkpoint's config.json names the class
    made = type(parent.__name__, (parent,), {"from_pretrained": classmethod(from_pretrained), "__module__": __name__})
    AutoModelForTokenClassification.register(type(config), made, exist_ok=True)
