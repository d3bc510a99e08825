"""Parallel sizes do not divide the GPUs, the layers or the attention heads.

## What it does
Under Megatron, divides the GPUs by tensor x pipeline x context parallel size, and by the size of the experts. Under
FSDP, divides them by the sequence parallel size and by `fsdp_size`. Divides the GPUs of verl's rollout by its tensor x data x pipeline parallel
size. Divides the GPUs of prime-rl's trainer by its copies of the weights and its context parallel size, and both by the size of
the experts. Divides the model's attention heads by each tensor and sequence parallel size, and its layers by the pipeline size; the
model's config.json is on this machine, or its name is that of a public model.

## Why it breaks training
Megatron, verl and vLLM stop with an assertion after the queue, when the workers of all nodes have started.

## How to fix
The product of the sizes must divide the number of GPUs. A tensor parallel size must divide the number of attention heads.

## Example
    RuntimeError: world_size (8) is not divisible by 6
    ValueError: Total number of attention heads (14) must be divisible by tensor parallel size (4).
    AssertionError: rollout world_size: 8 is not divisible by infer_world_size: 3
"""

import math
from collections.abc import Iterator, Sequence

from skyrl_doctor.core.check import check
from skyrl_doctor.core.model import Finding, Severity
from skyrl_doctor.core.signature import Signature
from skyrl_doctor.facts.model_files import MODEL_KEY, ModelFiles
from skyrl_doctor.plan.answers import PRIME, TODAYS_PRIME, trained_gpus
from skyrl_doctor.plan.findings import config_finding, required
from skyrl_doctor.plan.model import Plan, Value
from skyrl_doctor.plan.parallel import fsdp_groups, megatron_models, own_integer, own_value
from skyrl_train.config.dialect import PRIME_NODE_GPUS
from skyrl_train.config.parallel import Mesh, does_not_divide, gpu_faults, mesh_fault, shards_fault

CAUSE = "the parallel sizes do not divide the GPUs or the model"

DIVIDE = "Change the tensor, pipeline or context parallel size. Their product has to divide the number of GPUs."

PARALLEL = r"[^\n]{0,30}(?:\b(?:tp|cp|dcp|ep|pp|sp|TP|CP|EP|SP|DCP|vp|tensor|pipeline|context|expert|ulysses|[\w]{0,30}_(?:tp|cp|ep|pp|sp|parallel))[ _-]?(?:size|parallel|world|degree|model|sequence)|number of nodes)"
"""Names of parallel sizes."""

SIGNATURES = (
    Signature(
        pattern=r"[Tt]otal number of attention heads \((?P<heads>\d+)\) must be divisible by tensor parallel size \((?P<size>\d+)\)",
        sample="ValueError: Total number of attention heads (14) must be divisible by tensor parallel size (4).",
        explain="the tensor parallel size {size} does not divide the model's {heads} attention heads",
        remedy="Choose a tensor parallel size that divides {heads} (`--tensor-parallel-size`, or `{key:rollout.tensor_parallel_size}` of a trainer). Use the other GPUs for more replicas: data or pipeline parallel.",
        keys=("rollout.tensor_parallel_size",),
        versions="vllm",
    ),
    Signature(
        pattern=r"\bworld[_ ]size:? \(?\d+\)? (?:is not|should be|must be) divisible by|\bn_gpus \(\d+\) must be divisible by model_parallel_size",
        sample="RuntimeError: world_size (8) is not divisible by 6",
        refines=("CFG002",),
        explain="tensor x pipeline x context parallel size does not divide the number of GPUs",
        remedy=DIVIDE,
        versions="megatron-core, verl",
    ),
    Signature(
        pattern=r"[Tt]otal number of attention heads \(\d+\) must be divisible by tensor parallel size|\bnum_attention_heads \(?\d+\)? must be (?:a multiple of|divisible by) (?:tensor|ulysses)",
        sample="ValueError: Total number of attention heads (14) must be divisible by tensor parallel size (4).",
        explain="the tensor parallel size does not divide the model's attention heads",
        remedy="Choose a parallel size that divides the attention heads: `num_attention_heads` in the model's config.json.",
        versions="vllm, megatron-core, verl",
    ),
    Signature(
        pattern=r"\bMesh should not be bigger than default world size (?P<gpus>\d{1,6}),? but found (?P<mesh>\d{1,6}) ranks",
        sample="RuntimeError: Mesh should not be bigger than default world size 4, but found 8 ranks!",
        explain="the parallel sizes need {mesh} GPUs, but the run has {gpus}",
        remedy="Start {mesh} processes, or lower the parallel sizes until their product is at most {gpus}.",
        versions="torch",
    ),
    Signature(
        pattern=r"\bcannot reshape tensor of 0 elements into shape \[-1, 0\]",
        near=r"\b(?:init_device_mesh|device_mesh\.py)\b",
        within=8,
        sample="RuntimeError: cannot reshape tensor of 0 elements into shape [-1, 0] because the unspecified dimension size -1 can be any value and is ambiguous",
        explain="a dimension of the device mesh is 0: a parallel size is larger than the number of GPUs",
        remedy="Lower `{key:actor.sequence_parallel_size}` or the tensor parallel size to at most the number of GPUs, or request more.",
        keys=("actor.sequence_parallel_size", "rollout.tensor_parallel_size"),
        versions="verl, torch",
    ),
    Signature(
        pattern=r"\bAssertionError: (?P<size>\d{1,6}) is not divisible by (?P<parts>\d{1,4})\s*$|\bis not divisible by weight quantization block",
        sample="AssertionError: 28 is not divisible by 8",
        explain="a size of the model ({size}) does not divide over the parallel ranks ({parts})",
        remedy="Choose a tensor parallel size that divides the attention heads, the key-value heads and the hidden sizes of the model's config.json (`{key:rollout.tensor_parallel_size}`).",
        versions="vllm, sglang, megatron",
        keys=("rollout.tensor_parallel_size",),
    ),
    Signature(
        pattern=r"\b(?:head|layer|expert)s?(?: count| number)? (?P<count>\d{1,6}) is not divisible by (?P<which>[A-Za-z][\w ]{0,30}?) ?(?:size|degree) (?P<size>\d{1,5})\b|`num_heads`: (?P<heads>\d{1,5}) and `num_shards`: (?P<shards>\d{1,4})|\bThe cho{1,2}sen size (?P<length>\d{1,9}) is not compatible with sharding on (?P<parts>\d{1,4}) shards\b",
        sample="ValueError: Attention head count 20 is not divisible by SP size 8",
        explain="the number of parallel ranks does not divide a size of the model; the line names both",
        remedy="Choose a number of ranks (tensor or sequence parallel size, TGI's `--num-shard`) that divides the heads and the other sizes of the model's config.json.",
        versions="deepspeed, TGI",
    ),
    Signature(
        pattern=rf"\bheads? (?:must|should) be divisible by (?:the )?(?:world[ _]size|number of GPUs|num_gpus)\b|\b(?:heads|experts|\w{{0,40}}_heads|\w{{0,40}}_experts|layers|tp_size|\w{{0,20}}per_node|vocab_size|num_\w{{1,40}}|[Ss]equence length)\b[^\n]{{0,40}}\bdivisible by {PARALLEL}|\b[Dd]ata parallel size \(\d+\) must be divisible by|\blayers?\b[^\n]{{0,100}}\bmust be divisible ?(?:by)? ?(?:the )?(?:middle |virtual)?pipeline|\bmust be a multiple of \((?:self\.)?tensor_model_parallel_size=|\bseq-length should be a multiple of 2 \* context-parallel-size|\b(?:[Mm]odel|[Ee]xpert model) parallel size \S{{1,10}} cannot divide world size|\bconfigured parallelisms are incompatible with the current world size|\bparallel\w{{0,6}}(?:_size)? \(\d+\) must equal world_size|\bmust equal world_size, got\b|\b[Ww]orld size \(\d+\) is insufficient for the parallelism|\bworld_size \(\d+\) is less than \w{{0,20}}parallel_size|\btp\*dp \(\d+\) exceeds rollout GPUs|\b[Ee]mbedding dimension \(\d+\) must be divisible by tensor parallel|\bnum_heads \d+ cannot be split by sp world size|\bAutoTP cannot shard\b|\bmust be a multiple or divisor of tensor|\bis not divisible by min_thread_[kn]\b|\bnot aligned with the quantized weight shape\b|\bparallel size \d{{1,5}} (?:must|does not) divide\b|\bCP requires sequence dimension\b|\bworld_size must be divisible by\b|\bWhen etp=\w{{1,3}}, [^\n]{{1,60}}must be divisible by\b|\bworld_size must (?:be )?equal to tp_size\b|\b[Ww]orld size \(\d+\) must be divisible by|\bmust divide world size\b|Invalid parallel dims: |\btotal[_ ]size \(\d+\) does not match num_processes|\binvalid tensor parallel size \d",
        sample="AssertionError: num_heads (14) must be divisible by ulysses sequence size(4)",
        explain="a parallel size does not divide the GPUs, or the heads, layers or experts of the model",
        remedy=DIVIDE,
        versions="torchtitan, accelerate, verl, vllm, prime-rl",
    ),
)

MOST_TENSOR, MOST_SIZES = 8, 8
"""The usual GPUs of a node; and how many sizes a remedy names."""
VERL = "actor_rollout_ref.rollout"
MODEL, DEPLOYMENT = "trainer.model", "deployment"
TENSOR, SEQUENCE = "rollout.tensor_parallel_size", "actor.sequence_parallel_size"


@check("CFG008", fix="skyrl_train/config/parallel.py")
def parallel_sizes_do_not_divide(plan: Plan, model: ModelFiles | None) -> Iterator[Finding]:
    heads, layers = _counts(required(plan), model)
    for trained in megatron_models(plan):
        for fault in gpu_faults(trained.gpus, trained.sizes):
            yield config_finding(fault, plan.own[trained.tensor].location or plan.place("slurm.gpus_per_node"))
        if does_not_divide(heads, trained.sizes.tensor):
            yield _heads(plan, trained.tensor, trained.sizes.tensor, heads or 0)
        if does_not_divide(layers, trained.sizes.pipeline) and not _is_uneven(plan, trained.table):
            yield config_finding(
                f"pipeline size {trained.sizes.pipeline} does not divide the model's {layers} layers",
                plan.own[trained.pipeline].location,
                severity=Severity.WARNING,
            )
    for key in (TENSOR, SEQUENCE):
        size = plan.integer(key)
        if size is not None and does_not_divide(heads, size):
            yield _heads(plan, plan.name(key), size, heads or 0)
    gpus = trained_gpus(plan)
    sequence = plan.integer(SEQUENCE)
    if gpus and sequence is not None and does_not_divide(gpus, sequence) and not any(megatron_models(plan)):
        yield config_finding(
            f"{plan.name(SEQUENCE)} is {sequence}, which does not divide {gpus} GPUs",
            plan.place(SEQUENCE),
            summary=_set_to(plan.name(SEQUENCE), _divisors(gpus)),
        )
    for group, count in fsdp_groups(plan):
        if fault := shards_fault(count, group.value):
            sizes = (-1, *_divisors(count)[:-1])
            yield config_finding(f"{group.name} is {fault}", group.location, summary=_set_to(group.name, sizes))
    yield from _rollout(plan, gpus)
    if plan.is_of(*PRIME):
        yield from _mesh(plan)


def _mesh(plan: Plan) -> Iterator[Finding]:
    """prime-rl's trainer. An expert size of `auto` depends on the model. A tensor parallel size is of releases before 0.5."""
    cp, ep, copies, tp = (plan.own.get(f"{MODEL}.{name}") for name in ("cp", "ep", "dp_replicate", "tp"))
    nodes, group, kind = (
        plan.own.get(f"{DEPLOYMENT}.{name}") for name in ("num_train_nodes", "nodes_per_fsdp_group", "type")
    )
    if tp is not None or any(found.unknown for found in (cp, ep, copies, nodes, group, kind) if found):
        return
    replicas = _integer(copies, 1)
    count, size = _integer(nodes, 0), _integer(group, 0)
    if size > 0 and count > 0 and _value(plan, f"{DEPLOYMENT}.type") == "multi_node":
        if count % size:
            message = f"{DEPLOYMENT}.nodes_per_fsdp_group is {size}, which does not divide the {count} nodes that train"
            yield config_finding(message, plan.own[f"{DEPLOYMENT}.nodes_per_fsdp_group"].location)
            return
        replicas = count // size
    fault = mesh_fault(_mesh_gpus(plan), Mesh(replicas=replicas, context=_integer(cp, 1), expert=_integer(ep, 1)))
    if fault:
        place = next((found.location for found in (cp, ep, copies, group) if found), None)
        yield config_finding(f"{MODEL}: {fault}", place)


def _integer(found: Value | None, absent: int) -> int:
    """The value; the default where there is none, or a word that the program replaces."""
    value = None if found is None else found.value
    return value if isinstance(value, int) and not isinstance(value, bool) else absent


def _mesh_gpus(plan: Plan) -> int | None:
    """The GPUs that prime-rl's trainer starts on, if the configuration writes them: a node has 8 where it does not say."""
    if not plan.is_of(TODAYS_PRIME):
        return None
    if _value(plan, f"{DEPLOYMENT}.type") != "multi_node":
        return own_integer(plan, f"{DEPLOYMENT}.num_train_gpus")
    nodes, key = own_integer(plan, f"{DEPLOYMENT}.num_train_nodes"), f"{DEPLOYMENT}.gpus_per_node"
    each = own_integer(plan, key) if key in plan.own else PRIME_NODE_GPUS
    return None if nodes is None or each is None else nodes * each


def _rollout(plan: Plan, gpus: int) -> Iterator[Finding]:
    """verl's servers that share the trainer's GPUs: each takes tensor x data x pipeline GPUs."""
    names = ("tensor_model", "data", "pipeline_model")
    keys = [f"{VERL}.{name}_parallel_size" for name in names]
    if plan.release is None or not gpus or any(found.unknown for key in keys if (found := plan.own.get(key))):
        return
    nodes = [own_integer(plan, key) or 0 for key in ("rollout.nnodes", f"{VERL}.nnodes")]
    if any(nodes) or _value(plan, "actor_rollout_ref.hybrid_engine") is False or _value(plan, f"{VERL}.name") == "hf":
        return  # the servers have GPUs of their own
    sizes = [own_integer(plan, key) or 1 for key in keys]
    if min(sizes) > 0 and gpus % math.prod(sizes):
        text = " x ".join(
            f"{name.removesuffix('_model')} parallel {size}{'' if _is_written(plan, key) else ', the default'}"
            for name, key, size in zip(names, keys, sizes, strict=True)
            if size > 1
        )
        rest = math.prod(sizes[1:])
        fitting = _divisors(gpus // rest) if gpus % rest == 0 else ()
        yield config_finding(
            _servers(math.prod(sizes), text, gpus, plan.name(TENSOR)),
            plan.place(TENSOR),
            summary=_set_to(plan.name(TENSOR), fitting),
        )


def _servers(each: int, sizes: str, gpus: int, tensor: str) -> str:
    start = f"each rollout server takes {each} GPUs ({sizes})"
    if gpus == 1:
        return f"{start}, but the run has 1; set {tensor} = 1"
    has = f"but the run has {gpus}" if each > gpus else f"which do not divide the {gpus} GPUs of the run"
    return f"{start}, {has}; use sizes with a product that divides {gpus}"


def _is_written(plan: Plan, key: str) -> bool:
    found = plan.own.get(key)
    return found is not None and found.written


def _value(plan: Plan, key: str) -> object:
    found = own_value(plan, key)
    return None if found is None else found.value


def _heads(plan: Plan, key: str, size: int, heads: int) -> Finding:
    found = plan.own.get(key)
    place = found.location if found is not None else None
    gpus = 0 if plan.is_of(*PRIME) else trained_gpus(plan)
    fitting = tuple(one for one in _divisors(heads) if (gpus % one == 0 if gpus else one <= max(size, MOST_TENSOR)))
    return config_finding(
        f"{key} is {size}, which does not divide the model's {heads} attention heads",
        place,
        summary=_set_to(key, fitting),
    )


def _divisors(whole: int) -> tuple[int, ...]:
    return tuple(size for size in range(1, whole + 1) if whole % size == 0)


def _set_to(key: str, sizes: Sequence[int]) -> str:
    """The remedy that names the sizes that fit; empty if they are none or too many to choose from."""
    if not sizes or len(sizes) > MOST_SIZES:
        return ""
    *first, last = map(str, sizes)
    return f"set {key} to {', '.join(first)}{' or ' if first else ''}{last}"


def _counts(plan: Plan, model: ModelFiles | None) -> tuple[int | None, int | None]:
    """The attention heads and the layers of the model, from its files or by its public name, if they are known."""
    config = model.text_config if model is not None else {}
    name = plan.values.get(MODEL_KEY)
    if not config and name is not None and name.written and not name.unknown and _is_split(plan):
        # a run without model parallelism needs no shape; of the package, since probes import it at the same time
        from skyrl_train.memory import known_config

        public = known_config(str(name.value)) or {}
        config = public.get("text_config", public)
    counts = [config.get(name) for name in ("num_attention_heads", "num_hidden_layers")]
    heads, layers = (count if isinstance(count, int) and not isinstance(count, bool) else None for count in counts)
    return heads, layers


def _is_split(plan: Plan) -> bool:
    """Whether a size is above 1, so that it must divide the heads or the layers."""
    return any(megatron_models(plan)) or any((plan.integer(key) or 1) > 1 for key in (TENSOR, SEQUENCE))


def _is_uneven(plan: Plan, table: str) -> bool:
    """Whether the configuration lays out the layers itself."""
    words = ("layout", "num_layers_in", "account_for")
    return any(key.startswith(f"{table}.") and any(word in key for word in words) for key in plan.own)
