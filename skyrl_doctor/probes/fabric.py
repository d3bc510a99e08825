"""Reads the network devices of this node, and looks for NCCL's plug-in where the loader would."""

from skyrl_doctor.core.check import probe
from skyrl_doctor.core.errors import CouldNotLook, NotApplicable
from skyrl_doctor.facts.environ import Environ
from skyrl_doctor.facts.fabric import PLUGIN, Fabric
from skyrl_doctor.machine.base import Absent, Machine, unless_absent

NET, RDMA = "/sys/class/net", "/sys/class/infiniband"
USUAL = (
    "/opt/amazon/ofi-nccl/lib",
    "/opt/amazon/ofi-nccl/lib64",
    "/opt/aws-ofi-nccl/lib",
    "/usr/lib64",
    "/usr/local/lib",
)
MOST = 64


@probe(limit_s=4.0)
def fabric(machine: Machine, environ: Environ) -> Fabric:
    try:
        interfaces = machine.listdir(NET)
    except Absent:
        raise NotApplicable(f"this is not Linux: it has no {NET}") from None
    names = (unless_absent(lambda: machine.listdir(RDMA)) or ())[:MOST]
    rdma = tuple((name, _driver(machine, name)) for name in names)
    plugin = _plugin(machine, environ) if rdma else None
    return Fabric(interfaces=interfaces, rdma=rdma, plugin=plugin)


def _driver(machine: Machine, name: str) -> str:
    try:
        return machine.readlink(f"{RDMA}/{name}/device/driver").rpartition("/")[2]
    except CouldNotLook:
        return ""


def _plugin(machine: Machine, environ: Environ) -> str | None:
    named = [path for path in environ.get("LD_LIBRARY_PATH", "").split(":") if path.startswith("/")]
    for path in (*named[:MOST], *USUAL):
        try:
            found = next((name for name in machine.listdir(path) if name.startswith(PLUGIN)), None)
        except CouldNotLook:
            continue
        if found:
            return f"{path}/{found}"
    return None
