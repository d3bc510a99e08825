"""`CUDA_VISIBLE_DEVICES` names a MIG slice by UUID, or a device that CUDA cannot find.

## What it does
Reads `CUDA_VISIBLE_DEVICES` as CUDA does and looks for each entry among the GPUs and MIG slices that this step can
open. It reports a MIG slice that is named by UUID (`MIG-…`, or `MIG-GPU-…/1/0` of drivers before 470), a UUID that
this step cannot open, an empty variable, and Slurm's `NoDevFiles`.

## Why it breaks training
Slurm names a MIG slice by its UUID. vLLM turns the entries into numbers of physical GPUs: 0.20 dies in `int()`, which
`vllm serve` hides behind "Model architectures failed to be inspected"; 0.24 and later ask the driver, which returns
the slice's number inside its GPU, so vLLM reads the memory and the name of another GPU. A UUID that cannot be opened,
an empty variable and `NoDevFiles` leave CUDA without any device.

## How to fix
Set `CUDA_VISIBLE_DEVICES=0` if the step can open one slice and nothing else; `skyrl-doctor env` and the job script do
it. With two slices no value is right, because CUDA gives a process one slice: request one from Slurm. If more devices
are open than the step was given, the cluster does not confine devices (`ConstrainDevices` in cgroup.conf).

## Example
    ValueError: invalid literal for int() with base 10: 'MIG-c6d4f1ef-42e4-5de3-91c7-45d71c87eb3f'
"""

from collections.abc import Iterator

from skyrl_doctor.core.check import check
from skyrl_doctor.core.model import Finding, Remedy, RemedyKind, Role
from skyrl_doctor.core.signature import Signature
from skyrl_doctor.facts.environ import Environ
from skyrl_doctor.facts.gpu import Gpus
from skyrl_train.node.mig import Refusal, Why, mig_remap
from skyrl_train.node.settings import Setting
from skyrl_train.node.visible_devices import VARIABLE

SIGNATURES = (
    Signature(
        pattern=r"""invalid literal for int\(\) with base 10: b?['\"]MIG-""",
        sample="ValueError: invalid literal for int() with base 10: 'MIG-8a5c0f1e-11d2-5b0a-9f3e-2f1f0c9d7e11'",
        explain="a MIG UUID in CUDA_VISIBLE_DEVICES was read as a number",
        versions="vllm < 0.33, prime-rl",
    ),
    Signature(
        pattern=r"Non-integer device ID '?MIG-",
        sample="RuntimeError: Non-integer device ID 'MIG-8a5c0f1e-11d2-5b0a-9f3e-2f1f0c9d7e11' is not supported by cuda.",
        explain="this vLLM takes no MIG UUID in CUDA_VISIBLE_DEVICES",
        versions="vllm",
    ),
    Signature(
        pattern=r"""invalid literal for int\(\) with base 10: b?['\"]GPU-[0-9a-f]""",
        sample="ValueError: invalid literal for int() with base 10: 'GPU-7f57f032-34ab-a064-c37c-7a4f75601cc5'",
        explain="a UUID in CUDA_VISIBLE_DEVICES was read as a number",
        versions="vllm",
    ),
    Signature(
        pattern=r"NVMLError_(?:InvalidArgument|NotFound)|nvmlDeviceGet\w{1,40} failed|Unknown device ID .?MIG-",
        sample="pynvml.NVMLError_InvalidArgument: Invalid Argument",
        explain="a MIG slice was addressed like a whole GPU",
        versions="vllm >= 0.33",
        near=r"MIG-[0-9a-f]|device_id_to_physical_device_id",
        within=150,
    ),
    Signature(
        pattern=r"""(?:MIG|GPU)-[0-9a-f]{8}-[0-9a-f-]{10,60}\S{0,4} (?:unknown device|not found|is invalid)|[Ii]nvalid device (?:string|id|UUID|name|ordinal)\b.{0,12}(?:MIG|GPU)-[0-9a-f]""",
        sample="RuntimeError: Invalid device string: 'cuda:MIG-8a5c0f1e-11d2-5b0a-9f3e-2f1f0c9d7e11'",
        explain="this program expects a number instead of the id of a MIG slice, or this node has no such slice",
        versions="torch, nvidia-container-cli",
    ),
    Signature(
        pattern=r"\bskyrl-train [\w ]{1,20}: (?:error: )?GPU001: ",
        sample="skyrl-train train: error: GPU001: 2 slices are visible, and none of them is named",
        explain="skyrl-train cannot use the GPU's slices as they are; the line has the reason",
        versions="skyrl-train",
    ),
    Signature(
        pattern=r"NVMLError_(?:NotFound|InvalidArgument)",
        sample="vllm.third_party.pynvml.NVMLError_NotFound: Not Found",
        explain="the id in CUDA_VISIBLE_DEVICES is not a whole UUID, or is the UUID of a slice instead of a GPU",
        versions="vllm",
        near=r"GetHandleByUUID|device_control_id_to_physical_device_id",
        within=8,
    ),
    Signature(
        pattern=r"""['\"](?:MIG|GPU)-[0-9a-f][0-9a-f/-]{5,60}['\"] is not (?:in list|a valid|an integer)|could not convert string to \w+: ['\"](?:MIG|GPU)-""",
        sample="ValueError: 'MIG-8a5c0f1e-11d2-5b0a-9f3e-2f1f0c9d7e11' is not in list",
        explain="a UUID in CUDA_VISIBLE_DEVICES was used as a number",
        versions="ray, verl",
    ),
    Signature(
        pattern=r"\bnvidia-container-cli: device error: (?:unknown device id: (?P<id>[\w:-]{1,80})|(?P<device>[\w:-]{1,80}): (?:unknown device|not found|invalid))",
        sample="nvidia-container-cli: device error: 4: unknown device: unknown",
        explain="the container asks for a GPU or slice that this node does not have",
        remedy="`nvidia-smi -L` lists the GPUs and slices of the node, with their numbers and UUIDs: `--gpus`, `NVIDIA_VISIBLE_DEVICES` or CUDA_VISIBLE_DEVICES must name these. After MIG was set up anew, the slices have other UUIDs.",
        versions="libnvidia-container",
        refines=("SLM010", "GPU001"),
    ),
)

TOPIC = Signature(
    pattern=r"(?i)\bMIG\b.{0,80}(?:unsupported|not supported|cannot|can't|invalid|unknown|not found|not an? (?:int|number))|(?:invalid|unknown|cannot parse|unparsable).{0,60}\bMIG-",
    sample="ValueError: cannot parse device id MIG-8a5c0f1e",
    explain="this program expects a number or a whole GPU instead of a MIG slice",
    versions="any",
)

ONE_GPU = "#SBATCH --gres=gpu:1"
REMEDIES = {
    Why.EMPTY: Remedy(kind=RemedyKind.FIX_ENV, summary=f"remove the empty {VARIABLE} from the job script"),
    Why.NO_DEVICES: Remedy(kind=RemedyKind.FIX_CONFIG, summary="request a GPU from Slurm", commands=(ONE_GPU,)),
    Why.NOT_HERE: Remedy(
        kind=RemedyKind.FIX_ENV,
        summary=f"let Slurm set {VARIABLE}; this command lists the devices that the step can open",
        commands=("nvidia-smi -L",),
    ),
    Why.SEVERAL_SLICES: Remedy(
        kind=RemedyKind.FIX_CONFIG,
        summary="request one slice from Slurm, a larger one if this is too small; not --exclusive, which gives all slices",
        commands=(ONE_GPU,),
    ),
    Why.OTHERS_BESIDE: Remedy(
        kind=RemedyKind.ASK_ADMIN,
        summary="ask the administrators to confine jobs to their devices (ConstrainDevices=yes in cgroup.conf)",
    ),
}


@check("GPU001", roles=[Role.GPU], fix="skyrl_train/node/mig.py")
def mig_uuid(gpus: Gpus, environ: Environ) -> Iterator[Finding]:
    seen = tuple(device.title for device in gpus.slices or gpus.gpus)
    answer = mig_remap(environ.get(VARIABLE), slices=gpus.slice_ids, gpus=gpus.uuids)
    if isinstance(answer, Refusal):
        yield Finding(message=answer.reason, evidence=seen, remedy=REMEDIES[answer.why])
        return
    for setting in answer.settings:
        yield _by_uuid(setting, environ[VARIABLE], seen)


def _by_uuid(setting: Setting, value: str, seen: tuple[str, ...]) -> Finding:
    return Finding(
        message=f"{VARIABLE}={value} names a MIG slice by UUID, but vLLM needs a number; expected {setting.value}, the only slice of this step",
        evidence=seen,
        remedy=Remedy(
            kind=RemedyKind.FIX_ENV,
            summary="name the slice by number, as `skyrl-doctor env` does",
            commands=(f"export {setting.name}={setting.value}",),
            settings={setting.name: setting.value or ""},
            safe=True,
        ),
    )
