"""Whether the nodes of a partition are large enough for a job, and whether their GPUs are MIG slices."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from skyrl_train.launch.job_requests import JobRequest

_GPUS = re.compile(r"(?:^|,)gpu:(?:([^:,(]+):)?(\d{1,6})(?=[,(]|$)")
_ANY_GPU = re.compile(r"(?:^|,)gpu(?=[:,(]|$)")
_SLICE = re.compile(r"(?:^|_)\dg\.\d{1,3}gb(?![a-z0-9])")
"""The type of a MIG slice, as NVML names it (`a100_2g.20gb`, `1g.10gb+me`) or a site does."""


@dataclass(frozen=True, slots=True)
class Node:
    """What a node has in all, whoever uses it now."""

    memory_mib: int
    cpus: int
    gres: str

    @property
    def tells_gpus(self) -> bool:
        """Whether each entry of GPUs is one that we can read."""
        return len(_ANY_GPU.findall(self.gres)) == len(_GPUS.findall(self.gres))

    @property
    def whole_gpus(self) -> int:
        """The number of GPUs that are not MIG slices."""
        return sum(count for kind, count in self.gpus(None).items() if not is_slice(kind))

    def gpus(self, kind: str | None) -> dict[str, int]:
        """The number of GPUs of each type. An empty type stands for GPUs without one."""
        found: dict[str, int] = {}
        for name, count in _GPUS.findall(self.gres):
            if kind is None or name == kind:
                found[name] = found.get(name, 0) + int(count)
        return found


def parse_nodes(text: str) -> list[Node]:
    """The nodes in the output of `sinfo --Node --format=%m|%c|%G`."""
    return [node for line in text.splitlines() if (node := _node(line)) is not None]


def _node(line: str) -> Node | None:
    words = line.strip().split("|", 2)
    if len(words) < 3 or not (words[0].rstrip("+").isdigit() and words[1].rstrip("+").isdigit()):
        return None
    return Node(int(words[0].rstrip("+")), int(words[1].rstrip("+")), words[2])


def too_large(request: JobRequest, partition: str, nodes: Sequence[Node]) -> Iterator[str]:
    """What no node of the partition has. Nothing if Slurm lists none."""
    if not nodes:
        return
    role = request.role
    for key, asked, most in (
        (f"slurm.{role}_memory_mib", request.memory_mib, max(node.memory_mib for node in nodes)),
        (f"slurm.{role}_cpus", request.cpus, max(node.cpus for node in nodes)),
    ):
        if asked > most > 0:
            yield f"{key} = {asked}, but no node of partition {partition} has more than {most}"
    most_gpus = max(sum(node.gpus(request.gpu_type).values()) for node in nodes)
    if request.gpus > most_gpus and all(node.tells_gpus for node in nodes):
        yield f"{_asked_gpus(request)}, but no node of partition {partition} has {_most_gpus(request, nodes, most_gpus)}"


def _asked_gpus(request: JobRequest) -> str:
    kind = f" with slurm.gpu_type = {request.gpu_type!r}" if request.gpu_type else ""
    return f"slurm.gpus_per_node = {request.gpus}{kind}"


def _most_gpus(request: JobRequest, nodes: Sequence[Node], most: int) -> str:
    kinds = _listed(kind for node in nodes for kind in node.gpus(None))
    if not most and request.gpu_type and kinds:
        return f"a GPU of this type; they have {kinds}"
    if not most:
        return "a GPU"
    noun = "GPU" if most == 1 else "GPUs"
    has_slices = not request.gpu_type and any(is_slice(kind) for node in nodes for kind in node.gpus(None))
    of_type = " of this type" if request.gpu_type else ", MIG slices included" if has_slices else ""
    return f"more than {most} {noun}{of_type}"


def _listed(kinds: Iterable[str]) -> str:
    return ", ".join(sorted({kind for kind in kinds if kind}))


def is_slice(kind: str) -> bool:
    return _SLICE.search(kind) is not None


def several_slices(request: JobRequest, partition: str, nodes: Sequence[Node]) -> str:
    """Why the trainer cannot use its GPUs: on any node a MIG slice is among several devices. Empty if it can."""
    able = [node for node in nodes if sum(node.gpus(request.gpu_type).values()) >= request.gpus > 0]
    if not able or not all(node.tells_gpus for node in nodes):
        return ""
    slices = _listed(kind for node in able for kind in node.gpus(None) if is_slice(kind))
    if request.gpus > 1 and request.gpu_type and is_slice(request.gpu_type):
        return (
            f"{_asked_gpus(request)}, which is a MIG slice, and slices cannot train together; "
            "set slurm.gpus_per_node = 1, or a type of whole GPUs (GPU002)"
        )
    if request.gpus > 1 and not request.gpu_type and all(node.whole_gpus < request.gpus for node in able):
        has = "only MIG slices" if not any(node.whole_gpus for node in able) else "MIG slices and too few whole GPUs"
        return (
            f"{_asked_gpus(request)}, but the nodes of partition {partition} with {request.gpus} or more have {has} ({slices}), "
            "and a slice cannot train together with another; set slurm.gpus_per_node = 1, or name a partition with whole GPUs (GPU002)"
        )
    if request.gets_whole_node and all(node.whole_gpus < sum(node.gpus(None).values()) > 1 for node in able):
        return (
            f"{request.whole_node_because}, which gives the job all GPUs of a node. On partition {partition} MIG slices "
            f"({slices}) are among them, and a process can use a slice only alone; remove it (GPU001)"
        )
    return ""
