"""A computation got tensors on different devices.

## What it does
Finds torch's refusal and names the devices.

## Why it breaks training
With `cpu` and a GPU, parameters were offloaded and not loaded back, or a batch was not moved. With two GPUs, the model
was spread by `device_map="auto"`, or a worker sees more GPUs than its own.

## How to fix
Turn off parameter offload for the model in the traceback, or update the framework. A script of your own moves its batch
with `.to(device)`.

## Example
    RuntimeError: Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!
"""

from skyrl_doctor.core.signature import Signature

GPU_AND_CPU = "a computation got one tensor on the GPU and one on the CPU"

SIGNATURES = (
    Signature(
        pattern=r"Expected all tensors to be on the same device, but found at least two devices, (?:cuda:\d+ and cpu|cpu and cuda:\d+)",
        near=r"in unscale_and_clip_grads\b",
        within=6,
        sample="RuntimeError: Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!",
        explain="DeepSpeed's ZeRO multiplied a gradient that the optimizer offload keeps on the CPU by a number on the GPU",
        remedy="DeepSpeed releases after 0.14.0 had this fault with `offload_optimizer`: update DeepSpeed, or use 0.14.0, or turn the offload of the optimizer off.",
        versions="deepspeed",
    ),
    Signature(
        pattern=r"Expected all tensors to be on the same device, but found at least two devices, (?:(?P<gpu>cuda:\d+) and cpu|cpu and (?P<other>cuda:\d+))",
        sample="RuntimeError: Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!",
        explain=GPU_AND_CPU,
        remedy="Is parameter offload on? Turn it off for the model of the traceback (`{key:actor.param_offload}`), or update the framework: then its load and offload do not match. Otherwise the traceback's last frame of your own code misses a `.to(device)`.",
        versions="torch",
        keys=("actor.param_offload",),
    ),
    Signature(
        pattern=r"Expected all tensors to be on the same device, but found at least two devices, (?P<one>cuda:\d+) and (?P<other>cuda:\d+)",
        sample="RuntimeError: Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cuda:1!",
        explain="a computation got tensors on {one} and on {other}: one process uses two GPUs",
        remedy='Load the model on one device (no `device_map="auto"` in training), and give each worker one GPU through CUDA_VISIBLE_DEVICES or `torch.cuda.set_device(LOCAL_RANK)`.',
        versions="torch",
    ),
    Signature(
        pattern=r"Expected all tensors to be on the same device, but got (?P<what>\w{1,40}) is on (?P<one>[a-z]{2,8}(?::\d+)?), different from other tensors on (?P<other>[a-z]{2,8}(?::\d+)?)",
        sample="RuntimeError: Expected all tensors to be on the same device, but got index is on cpu, different from other tensors on cuda:0 (when checking argument in method wrapper_CUDA__index_select)",
        explain="a computation got `{what}` on {one} and the other tensors on {other}",
        remedy="Move it before the call: the last frame of the traceback that is not torch's names the place. With parameter offload on, turn it off to see whether the framework forgot to load the parameters.",
        versions="torch >= 2.8",
    ),
    Signature(
        pattern=r"Tensor on device (?P<one>[a-z]{2,8}(?::\d+)?) is not on the expected device (?P<other>[a-z]{2,8}(?::\d+)?)",
        sample="RuntimeError: Tensor on device meta is not on the expected device cuda:0!",
        explain="a tensor is on {one}, but the computation runs on {other}",
        remedy="On `meta` it has no data: the weights were not loaded into it (a key missing in the checkpoint, or tied weights under low_cpu_mem_usage). Otherwise move it with `.to(device)`.",
        versions="torch",
    ),
    Signature(
        pattern=r"attempting to assign a gradient with device type '(?P<one>[a-z]{2,8})' to a tensor with device type '(?P<other>[a-z]{2,8})'",
        sample="RuntimeError: attempting to assign a gradient with device type 'cuda' to a tensor with device type 'cpu'. Please ensure that the gradient and the tensor are on the same device",
        explain="a gradient is on {one} and its parameter on {other}",
        remedy="The parameters were moved between the backward pass and the optimizer's step. Is parameter offload on? Turn it off (`{key:actor.param_offload}`), or update the framework: then its load and offload do not match.",
        versions="torch",
        keys=("actor.param_offload",),
    ),
    Signature(
        pattern=r"Input type \((?:torch\.cuda\.|CUDA)\w{3,40}\) and weight type \((?:torch\.(?!cuda)|CPU)\w{3,40}\) should be the same|Input type \((?:torch\.(?!cuda)|CPU)\w{3,40}\) and weight type \((?:torch\.cuda\.|CUDA)\w{3,40}\) should be the same|\bcannot be accessed from Triton \(cpu tensor\?\)|\bExpected object of (?:device type|backend) \w{3,5} but got (?:device type|backend) \w{3,5}\b",
        sample="RuntimeError: Input type (torch.cuda.FloatTensor) and weight type (torch.FloatTensor) should be the same",
        explain=GPU_AND_CPU,
        remedy="The last frame of the traceback that is not torch's names the place: move the model or the input with `.to(device)` before it. With parameter offload on, turn it off to see whether the framework forgot to load the parameters.",
        versions="torch, triton",
    ),
    Signature(
        pattern=r"\bTensors of the same index must be on the same device and the same dtype\b|(?:\bIf capturable=\w{4,5}, )state_steps should (?:not )?be CUDA tensors|\bparams, grads, exp_avgs,? (?:and|exp_)[^\n]{0,80}\bmust have same dtype, device|\b(?:CPU\w{3,8}) param is on (?P<gpu>[a-z]{2,8}(?::\d+)?) and must be 'cpu'",
        sample="RuntimeError: Tensors of the same index must be on the same device and the same dtype except `step` tensors that can be CPU and float32/64 notwithstanding",
        explain="the optimizer got a parameter, its gradient and its state on different devices, or in different number formats",
        remedy="Move the model to its device before the optimizer is built, and load the optimizer's state after that (`optimizer.load_state_dict` moves it to the parameters as they are then). Of an offloaded optimizer (DeepSpeed's CPUAdam) the parameters stay on the CPU: set `offload_optimizer`, or choose the optimizer of the GPU.",
        versions="torch, deepspeed",
    ),
    Signature(
        pattern=r"\bNo backend type associated with device type (?P<device>[a-z]{2,8})\b|\bTensors must be CUDA and dense\b",
        sample="RuntimeError: No backend type associated with device type cpu",
        explain="a collective operation got a tensor on a device for which the process group has no backend",
        remedy='NCCL takes tensors on the GPU, Gloo takes those on the CPU. Move the tensor (or the offloaded model) before the call in the traceback, or start the group with both: `init_process_group("cpu:gloo,cuda:nccl")`.',
        versions="torch",
    ),
    Signature(
        pattern=r"\b(?:[Mm]odule|[Mm]odel) has parameters on different devices\b|\bFSDP parameters should be materialized (?:on|from)\b|\bAn FSDP-managed module (?:with parameter CPU offloading enabled |unexpectedly )?has parameters on (?:cuda|cpu|meta)\b|\binput module must be on the same type of devices\b|\barguments only work with single-device/multiple-device GPU modules or CPU modules\b|\bReceived incompatible devices for jitted computation\b|\bPlaceholder storage has not been allocated on MPS device|\b`?fused=True`? requires all the params to be floating point Tensors of supported devices\b|Error: (?:[^\n]{0,60}: )?(?:\w{1,20},? (?:and )?){1,4} must be (?:a CUDA tensor|on (?:the )?(?:CUDA|GPU|cuda))(?:\b|$)",
        sample="ValueError: FSDP parameters should be materialized on CPU when enabling CPU offloading. For example, load a CPU state dict",
        explain="the parameters of a model are on different devices, or not on the one that this program expects",
        remedy="Move the whole model to one device before it is wrapped (`model.to(local_rank)`, or `to_empty` from `meta` and then the weights), and do not move it afterwards. With CPU offload on, FSDP keeps the parameters on the CPU itself.",
        versions="torch, jax",
    ),
    Signature(
        pattern=r"\b[Ee]xpected all tensors to be on the same device\b|\bindices should be either on cpu or on the same device as the indexed tensor|\bmodule must have its parameters and buffers on device |\bExpected an? '\w{2,10}' device type for generator but found '|\bCannot copy out of meta tensor; no data|\bTensor on device [a-z]{2,8}(?::\d{1,4})? is not on the\s*$|\b[Ee]xpected [^\n]{1,60} (?:to be )?on (?:the )?same device\b|\ball input tensors must be on the same device\b|\b(?:are|is) not (?:at|on) the same device, found\b|\bAll input tensors need to be on the same GPU\b|\bTensor for argument #\d{1,2} '\w{1,40}' is on \w{2,4}, but expected\b|\bTensor for '?\w{1,10}'? is on \w{2,4}, Tensor for argument #\d",
        sample="RuntimeError: indices should be either on cpu or on the same device as the indexed tensor (cpu)",
        explain="a computation got tensors on two devices",
        remedy="The last frame of the traceback that is not torch's names the place: move the model or the input with `.to(device)` before it. On `meta` a weight has no data: it was not loaded.",
        versions="torch",
    ),
)
