"""The plan uses more GPUs than Ray and CUDA find.

## What it does
Compares the plan's GPUs for each node with two counts: the devices that CUDA gives this step, following
`CUDA_VISIBLE_DEVICES`, and Ray's own count, which is the number of physical GPUs or, if less, of entries in that
variable. It also reports a step without any CUDA device.

## Why it breaks training
Two MIG slices of one GPU are two entries and one physical GPU: Ray counts one, and verl ends at once or waits forever
for the second. Even if Ray counts two, CUDA gives a process one slice, and NCCL does not join slices. CUDA ignores
all entries from the first wrong index on, so `7` on a node with one GPU leaves none.

## How to fix
With MIG, plan for one GPU and request one slice from Slurm, as large as the run needs. Otherwise request as many GPUs
as the plan uses.

## Example
    ValueError: Total available GPUs 1 is less than total desired GPUs 2
"""

from collections.abc import Iterator

from skyrl_doctor.core.check import check
from skyrl_doctor.core.errors import NotApplicable
from skyrl_doctor.core.model import Finding, Remedy, RemedyKind, Role, Severity
from skyrl_doctor.core.signature import Signature
from skyrl_doctor.facts.environ import Environ
from skyrl_doctor.facts.gpu import Gpus, Slice, usable
from skyrl_doctor.facts.gpu.others import OtherAccelerators
from skyrl_doctor.facts.host import Roles
from skyrl_doctor.plan.model import Plan
from skyrl_train.node.mig import ray_gpus
from skyrl_train.node.visible_devices import VARIABLE, parse

CAUSE = (
    "this process finds no GPU: it was given none, the driver is not loaded, or CUDA_VISIBLE_DEVICES names none of them"
)

LOOK = "Inside the job run `nvidia-smi -L; echo $CUDA_VISIBLE_DEVICES`."
REQUEST = f"{LOOK} Nothing listed: the job has no GPU; request one (Slurm: `--gres=gpu:1`; a container: `--gpus all`). Listed, but not in the variable: unset the variable, or correct it. In a Ray worker: the actor must request `num_gpus`."

NO_DRIVER = "Look at the node: `lsmod | grep nvidia`, `dmesg | grep -i nvrm`. {slurm:Submit again with `--exclude=NODE`|Use another node} and tell the administrators. In a container that was started without GPUs: {slurm:`srun --gres=gpu:N`, `apptainer --nv`|`docker run --gpus all`, `apptainer --nv`}."

SIGNATURES = (
    Signature(
        pattern=r"Total available GPUs 0(?:\.0)? is less than total desired GPUs (?P<desired>\d+)",
        sample="ValueError: Total available GPUs 0 is less than total desired GPUs 2",
        explain="Ray counts no GPU, because it does not count MIG slices; the run needs {desired}",
        remedy="Plan for one GPU (`{key:slurm.gpus_per_node}` = 1) and request one slice{slurm: from Slurm|}, as large as the run needs.",
        versions="verl",
        near=r"\bMIG-(?:GPU-)?[0-9a-f]{8}-",
        within=200,
        keys=("slurm.gpus_per_node",),
    ),
    Signature(
        pattern=r"Total available GPUs 0(?:\.0)? is less than total desired GPUs(?: (?P<needed>\d+))?",
        sample="ValueError: Total available GPUs 0 is less than total desired GPUs 1",
        explain="Ray finds no GPU on this node, and the run needs {needed}",
        remedy=f"{LOOK} Nothing listed: request GPUs (Slurm: `--gres=gpu:N`; a container: `--gpus all`). Listed: an older Ray cluster without GPUs still runs; `ray stop`, then start again.",
        versions="verl",
        keys=("slurm.gpus_per_node",),
    ),
    Signature(
        pattern=r"Duplicate GPU detected ?: rank \d|CUDA error: invalid device ordinal|\bInvalid device id\b",
        sample="Duplicate GPU detected : rank 1 and rank 0 both on CUDA device 34000",
        explain="CUDA gives a process one MIG slice, and NCCL does not join slices of one GPU",
        versions="torch, nccl",
        near=r"\bMIG-(?:GPU-)?[0-9a-f]{8}-",
        within=200,
    ),
    Signature(
        pattern=r"Duplicate GPU detected ?: rank (?P<one>\d+) and rank (?P<other>\d+) both on CUDA device (?P<device>[0-9a-f]+)",
        sample="Duplicate GPU detected : rank 3 and rank 0 both on CUDA device f000",
        explain="ranks {one} and {other} use the same GPU ({device})",
        remedy="Start no more processes on a node than it has GPUs, and let each choose its own before the process group is made: `torch.cuda.set_device(int(os.environ['LOCAL_RANK']))`. If CUDA_VISIBLE_DEVICES names one GPU for all of them, name them all.",
        versions="nccl 2.16 and newer",
        last_resort=True,
    ),
    Signature(
        pattern=r"CUDA error: invalid device ordinal|\bcuda runtime error \((?:10|101)\) : invalid device ordinal|\bdevice >= 0 && device < num_gpus INTERNAL ASSERT FAILED|\bAssertionError: Invalid device id$",
        sample="RuntimeError: CUDA error: invalid device ordinal",
        explain="a rank asked for a GPU index that this process does not see",
        remedy=f"{LOOK} Fewer GPUs than ranks on the node: request more, or lower the number of processes. In a Ray worker that sees one GPU: use index 0, not the rank.",
        versions="torch",
        keys=("slurm.gpus_per_node",),
        last_resort=True,
    ),
    Signature(
        pattern=r"RuntimeError: (?:No (?:CUDA|HIP) GPUs are available|CUDA unknown error - this may be due to an incorrectly set up environment|No supported device detected|Found no NVIDIA driver on your system|Failed to infer device type)|CUDA error: no CUDA-capable device is detected|\bcuInit\(0\) failed: CUDA_ERROR_NO_DEVICE\b|\b0 active drivers \(\[\]\)|from cudaGetDeviceCount\(\).{0,160}Error 10[01]: |\bFAILED_PRECONDITION: No visible GPU devices\b|\bNo supported gpu backend found!|\bGPU is required to quantize\b|\bcuda runtime error \((?:38|100)\) : no CUDA-capable device",
        sample="RuntimeError: No CUDA GPUs are available",
        explain="CUDA has no device in this step: the job requested none, or CUDA_VISIBLE_DEVICES names none that it can open",
        remedy=REQUEST,
        versions="torch, vllm, triton",
    ),
    Signature(
        pattern=r"\b(?:is|be) larger than the number of available GPUs \((?P<found>\d+)",
        sample="ValueError: World size (2) is larger than the number of available GPUs (1) in this node.",
        explain="the run uses more GPUs on this node than CUDA finds ({found})",
        remedy="Request as many GPUs as the run uses, or lower tensor parallelism (`{key:rollout.tensor_parallel_size}`).",
        keys=("rollout.tensor_parallel_size", "slurm.gpus_per_node"),
        versions="vllm",
    ),
    Signature(
        pattern=r"Error: .{0,80}(?:torch\.cuda\.is_available\(\) is False|[Nn]o (?:CUDA |NVIDIA )?(?:(?:GPUs|devices) (?:are |were )?(?:available|found|detected|visible)|GPU (?:is |was )?(?:found|detected|visible))\b)|\bNVMLError_(?:DriverNotLoaded|LibraryNotFound)\b",
        sample="ValueError: ProcessGroupNCCL is only supported with GPUs, no GPUs found!",
        explain=CAUSE,
        remedy=REQUEST,
        versions="torch, transformers, pynvml",
    ),
    Signature(
        pattern=r"\b(?:[Mm]ixed precision|[Hh]alf precision|--(?:fp16|bf16)\b)[^\n]{0,200} can only be used on CUDA\b|\bfp(?:16|8) mixed precision requires a (?:GPU|gpu)\b(?! \(not '(?:mps|xla)'\))",
        sample="ValueError: FP16 Mixed precision training with AMP or APEX (`--fp16`) and FP16 half precision evaluation (`--fp16_full_eval`) can only be used on CUDA devices.",
        explain="the run asks for half precision, and this process finds no GPU",
        remedy=f"{REQUEST} Nothing wrong there: `python -c 'import torch; print(torch.version.cuda, torch.cuda.is_available())'` prints None for a torch that was built without CUDA; install one with it. To train on the CPU, turn fp16 and bf16 off.",
        versions="transformers, accelerate",
    ),
    Signature(
        pattern=r"\bcouldn't find libnvidia-ml\.so library in your system\b|\bFailed to initialize NVML: (?:Driver Not Loaded|Unknown Error|Insufficient Permissions|GPU access blocked)|\b(?:NVIDIA-SMI|nvidia-smi) has failed because it couldn't communicate with the NVIDIA driver|^No devices were found\s*$|\bno CUDA-capable device is detected\s*$|\bcudaGetDeviceCount returned 100\b",
        sample="NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure that the latest NVIDIA driver is installed and running.",
        explain="no GPU is visible here: the NVIDIA driver is not loaded on the node, or the job or container was given no GPU",
        remedy=NO_DRIVER,
        versions="nvidia driver",
        last_resort=True,
        passing=True,
    ),
    Signature(
        pattern=r"(?:^|\bNCCL WARN |[\])] |Last error: ?)Multiple Ranks are using the same GPU\b",
        sample="gpu07:3211:3377 [0] init.cc:90 NCCL WARN Multiple Ranks are using the same GPU/Partition. Set NCCL_MULTI_RANK_GPU_ENABLE=1 to enable this feature",
        explain="several ranks use the same GPU",
        remedy="Start no more processes on a node than it has GPUs, and let each choose its own: `torch.cuda.set_device(int(os.environ['LOCAL_RANK']))`.",
        versions="nccl >= 2.28",
        last_resort=True,
    ),
    Signature(
        pattern=r"Error: [^\n]{0,80}\b(?:require|requires|requested|expected|need|needs) (?P<planned>\d{1,4}) GPUs?\b[^\n]{0,40}\b(?:only|but|found)\b[^\n]{0,20}?(?P<found>\d{1,4})(?: GPUs?)?(?: (?:is|are|were))?(?: available| visible| found)?\b",
        unless=r"\b(?:[Rr]ay|[Cc]luster|[Nn]odes?|[Pp]lacement|GiB|GB|[Mm]emory)\b",
        sample="ValueError: require 2 GPUs, but only 1 GPUs available",
        explain="the run uses {planned} GPUs on this node, and this process finds {found}",
        remedy=f"{LOOK} Request as many GPUs as the run uses, or set its number of GPUs to those that are there.",
        keys=("slurm.gpus_per_node",),
        versions="any",
    ),
    Signature(
        pattern=r"\bYou requested gpu: \[(?P<planned>[\d, ]{1,80})\]|\bplease set tensor_parallel_size \((?P<size>\d{1,4})\) to less than max local gpu count|\bNo slot '(?P<slot>\d{1,3})' specified on host '",
        sample="lightning.fabric.utilities.exceptions.MisconfigurationException: You requested gpu: [0, 1, 2, 3]",
        explain="the run uses more GPUs on this node than this process finds",
        remedy=f"{LOOK} Request as many GPUs as the run uses, or name only those that are there (Lightning: `devices`; deepspeed: `--include`, `--num_gpus`; vLLM: `--tensor-parallel-size`).",
        keys=("slurm.gpus_per_node",),
        versions="lightning, vllm, deepspeed",
        refines=("GPU004",),
    ),
    Signature(
        pattern=r"\bAssertionError: Torch not compiled with CUDA enabled",
        sample="AssertionError: Torch not compiled with CUDA enabled",
        explain="the installed torch was built without CUDA, so it finds no GPU",
        remedy="`python -c 'import torch; print(torch.__version__, torch.version.cuda)'` prints None: install torch with CUDA (`--index-url https://download.pytorch.org/whl/cu126`) in the environment that runs the job. A later `pip install` may have replaced it.",
        versions="torch",
    ),
    Signature(
        pattern=r"\blocal[_ ]world[_ ]size \((?P<planned>\d{1,4})\) must be less than or equal to the number of visible devices \((?P<found>\d{1,4})\)|\b[Ll]ocal rank \d{1,4} is out of bounds\b",
        sample="AssertionError: local_world_size (8) must be less than or equal to the number of visible devices (4).",
        explain="vLLM starts more workers on this node than it sees GPUs",
        remedy="Tensor, pipeline and data parallel sizes on one node must fit into its GPUs: lower them, or give the job more GPUs (`nvidia-smi -L` in the job shows those that it has, `CUDA_VISIBLE_DEVICES` those that the process sees).",
        versions="vllm >= 0.11",
    ),
)

TOPIC = Signature(
    pattern=r"(?i)\bno (?:usable |visible |cuda |nvidia )*gpus?\b.{0,40}(?:found|available|visible|detected)|\bcuda (?:is )?(?:not available|unavailable)|cuda driver initiali[sz]ation failed|gpu is needed",
    sample="RuntimeError: CUDA driver initialization failed, you might not have a CUDA gpu.",
    explain=CAUSE,
    remedy=REQUEST,
    versions="any",
)

PLANNED = "slurm.gpus_per_node"


@check("GPU002", roles=[Role.GPU], fix="operator: only the job's own request to Slurm gives it GPUs")
def mig_gpu_count(
    gpus: Gpus | None, others: OtherAccelerators | None, plan: Plan, environ: Environ, roles: Roles
) -> Iterator[Finding]:
    expected = plan.integer(PLANNED)
    if gpus is None:
        if others is not None:
            raise NotApplicable(f"this node has no NVIDIA GPU but {others.label}, which the doctor does not read")
        if not expected and not roles.asked:
            raise NotApplicable("this machine has no NVIDIA GPU, and no plan uses one")
        yield _finding("this node has no NVIDIA driver and no GPU", expected or 1, plan)
        return
    devices = usable(gpus, environ)
    if not devices:
        yield _finding(_why_none(gpus, environ), expected or 1, plan)
        return
    if expected is None or expected < 1:
        raise NotApplicable(f"no plan sets the number of GPUs per node ({PLANNED})")
    counted = ray_gpus(environ.get(VARIABLE), physical=gpus.physical)
    if expected > 1 and any(isinstance(device, Slice) for device in devices):
        yield _slices(gpus, counted, expected, plan)
    elif min(counted, len(devices)) < expected:
        yield _finding(f"CUDA finds {len(devices)} and Ray counts {counted}", expected, plan)
    elif len(devices) > expected:
        slices = sum(isinstance(device, Slice) for device in devices)
        yield _idle_slices(slices, len(devices), expected, plan) if slices else _idle(len(devices), expected, plan)


def _finding(seen: str, expected: int, plan: Plan) -> Finding:
    return Finding(
        message=f"GPUs: {seen}; expected {expected}",
        location=plan.place(PLANNED),
        remedy=Remedy(
            kind=RemedyKind.FIX_CONFIG,
            summary="request the GPUs of the plan from Slurm",
            commands=(f"#SBATCH --gres=gpu:{expected}",),
        ),
    )


def _slices(gpus: Gpus, counted: int, expected: int, plan: Plan) -> Finding:
    return Finding(
        message=f"{plan.name(PLANNED)} = {expected}, but this step has {_count(len(gpus.slices), 'MIG slice')} on {_count(len(gpus.gpus), 'physical GPU')} and Ray counts {_count(counted, 'GPU')}; expected 1, because a process gets one slice and slices cannot train together",
        evidence=tuple(one.title for one in gpus.slices),
        location=plan.place(PLANNED),
        remedy=Remedy(
            kind=RemedyKind.FIX_CONFIG,
            summary="plan for one slice and request one from Slurm",
            commands=("#SBATCH --gres=gpu:1",),
            settings=plan.settings({PLANNED: "1"}),
        ),
    )


def _idle(found: int, expected: int, plan: Plan) -> Finding:
    return Finding(
        message=f"{plan.name(PLANNED)} = {expected}, but this step has {_count(found, 'GPU')}; {found - expected} would stay idle",
        severity=Severity.INFO,
        location=plan.place(PLANNED),
        remedy=Remedy(
            kind=RemedyKind.FIX_CONFIG,
            summary="request only as many GPUs as the plan uses, or plan for all",
            settings=plan.settings({PLANNED: str(found)}),
        ),
    )


def _idle_slices(slices: int, found: int, expected: int, plan: Plan) -> Finding:
    """Without the advice to plan for all: slices cannot train together."""
    seen = _count(slices, "MIG slice")
    if slices < found:
        seen = f"{_count(found - slices, 'GPU')} and {seen}"
    return Finding(
        message=f"{plan.name(PLANNED)} = {expected}, but this step has {seen}; {found - expected} would stay idle",
        severity=Severity.INFO,
        location=plan.place(PLANNED),
        remedy=Remedy(
            kind=RemedyKind.FIX_CONFIG,
            summary="request one slice from Slurm, not --exclusive",
            commands=("#SBATCH --gres=gpu:1",),
        ),
    )


def _why_none(gpus: Gpus, environ: Environ) -> str:
    if not gpus.gpus:
        return f"{len(gpus.closed)} here, but none open to this step" if gpus.closed else "none open to this step"
    if all(gpu.mig and not gpu.slices for gpu in gpus.gpus):
        return f"{gpus.gpus[0].title} is in MIG mode, but none of its slices is open to this step"
    visible = parse(environ.get(VARIABLE))
    return f"none that CUDA finds, with {_count(len(gpus.gpus), 'GPU')} open to this step and {visible.label}"


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
