"""ROCR_VISIBLE_DEVICES: AMD's variable, which Slurm also sets on NVIDIA nodes."""

from collections.abc import Mapping

from skyrl_train.node.settings import Preparation, Setting

AMD_VARIABLE = "ROCR_VISIBLE_DEVICES"


def stops_verl(environ: Mapping[str, str]) -> bool:
    """Whether verl's workers refuse to start: they do if both this and CUDA_VISIBLE_DEVICES, set by Ray, are not empty."""
    return bool(environ.get(AMD_VARIABLE))


def rocr_settings(environ: Mapping[str, str]) -> Preparation:
    """The setting that unsets the variable for a job on NVIDIA GPUs."""
    if not stops_verl(environ):
        return Preparation()
    why = "verl refuses to start if both this and CUDA_VISIBLE_DEVICES are set"
    return Preparation(settings=(Setting(name=AMD_VARIABLE, value=None, cures="ENV015", why=why),))  # FIX(ENV015)
