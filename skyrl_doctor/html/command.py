"""The number of GPUs that the command in a log asks for: `set -x` and most trainers print the command first."""

import re

from skyrl_train.contracts import bounded

BEGIN_BYTES = 1 << 20
_PER_NODE = re.compile(
    rb"\btrainer\.(?:n_gpus_per_node|placement\.policy_num_gpus_per_node)[= ](?P<number>[1-9]\d{0,3})\b"
)
_NODES = re.compile(rb"\btrainer\.(?:nnodes|placement\.policy_num_nodes)[= ](?P<number>[1-9]\d{0,3})\b")


def gpus_asked(path: str) -> int | None:
    """GPUs of a node times nodes, by the last command in the begin of the log. None where no command names them."""
    try:
        with bounded.open_file(path) as file:
            begin = file.read(BEGIN_BYTES)
    except OSError:
        return None
    per_node = [int(found["number"]) for found in _PER_NODE.finditer(begin)]
    nodes = [int(found["number"]) for found in _NODES.finditer(begin)]
    return per_node[-1] * (nodes[-1] if nodes else 1) if per_node else None
