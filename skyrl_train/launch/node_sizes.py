"""Whether the nodes of a partition are large enough for a job, and whether their GPUs are MIG slices."""

import re
from collections.abc import Iterator, Sequence
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
        kind = f" of type {request.gpu_type}" if request.gpu_type else ""
        yield f"slurm.gpus_per_node = {request.gpus}, but no node of partition {partition} has more than {most_gpus} GPUs{kind}"


def several_slices(request: JobRequest, partition: str, nodes: Sequence[Node]) -> str:
    """Why the trainer cannot use its GPUs (GPU002): it gets several MIG slices on any node. Empty if it can."""
    able = [node for node in nodes if sum(node.gpus(request.gpu_type).values()) >= request.gpus > 0]
    given = [node.gpus(None if request.gets_whole_node else request.gpu_type) for node in able]
    kinds = {kind for gpus in given for kind in gpus}
    if not given or not all(node.tells_gpus for node in nodes) or not all(map(_SLICE.search, kinds)):
        return ""
    if request.gpus > 1:
        return (
            f"slurm.gpus_per_node = {request.gpus}, but partition {partition} has only MIG slices ({', '.join(sorted(kinds))}), "
            "and slices cannot train together; set slurm.gpus_per_node = 1, or name a partition with whole GPUs (GPU002)"
        )
    if request.gets_whole_node and min(sum(gpus.values()) for gpus in given) > 1:
        return (
            f"slurm.extra has --exclusive, which gives the job all MIG slices of a node of partition {partition}, "
            "and a process can use only one; remove --exclusive (GPU001)"
        )
    return ""
