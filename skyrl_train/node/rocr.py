"""ROCR_VISIBLE_DEVICES: AMD's variable, which Slurm also sets on NVIDIA nodes."""

from collections.abc import Mapping

from skyrl_train.node.settings import Preparation, Setting

AMD_VARIABLE = "ROCR_VISIBLE_DEVICES"


def stops_verl(environ: Mapping[str, str]) -> bool:
    """verl's workers refuse it beside CUDA_VISIBLE_DEVICES, which Ray sets for each of them. Empty counts as unset."""
    return bool(environ.get(AMD_VARIABLE))


def rocr_settings(environ: Mapping[str, str]) -> Preparation:
    """Takes the variable away from a job on NVIDIA GPUs."""
    if not stops_verl(environ):
        return Preparation()
    why = "verl refuses it beside CUDA_VISIBLE_DEVICES"
    return Preparation(settings=(Setting(name=AMD_VARIABLE, value=None, cures="ENV015", why=why),))  # FIX(ENV015)
