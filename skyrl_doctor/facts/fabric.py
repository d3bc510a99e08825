"""The network between nodes as NCCL sees it: interfaces, RDMA devices, and the plug-in for Amazon's EFA."""

from collections.abc import Iterable

from skyrl_doctor.core.check import probe
from skyrl_doctor.core.errors import CouldNotLook, NotApplicable
from skyrl_doctor.core.record import record
from skyrl_doctor.facts.environ import Environ
from skyrl_doctor.machine.base import Absent, Machine, unless_absent

EFA = "efa"
PLUGIN = "libnccl-net"
NET, RDMA = "/sys/class/net", "/sys/class/infiniband"
PLUGIN_DIRS = (
    "/opt/amazon/ofi-nccl/lib",
    "/opt/amazon/ofi-nccl/lib64",
    "/opt/aws-ofi-nccl/lib",
    "/usr/lib64",
    "/usr/local/lib",
)
MOST_ENTRIES = 64


@record(kw_only=True)
class Fabric:
    """`rdma` has the name and the driver of each device (empty if unknown). `plugin` is the path of NCCL's network plug-in."""

    interfaces: tuple[str, ...]
    rdma: tuple[tuple[str, str], ...] = ()
    plugin: str | None = None

    @property
    def has_efa(self) -> bool:
        return any(driver == EFA or name.startswith((EFA, "rdmap")) for name, driver in self.rdma)


def matching(names: Iterable[str], setting: str) -> tuple[str, ...]:
    """The names that match an NCCL list. Its entries are prefixes; `=` makes them exact, `^` inverts the list, `^=` does both."""
    inverted, setting = setting.startswith("^"), setting.removeprefix("^")
    exact, setting = setting.startswith("="), setting.removeprefix("=")
    listed = [part.partition(":")[0] for part in setting.split(",") if part]

    def fits(name: str) -> bool:
        return any(name == one if exact else name.startswith(one) for one in listed) is not inverted

    return tuple(name for name in names if fits(name))


@probe(limit_s=4.0)
def fabric(machine: Machine, environ: Environ) -> Fabric:
    """Reads the network devices of this node, and looks for NCCL's plug-in in the loader's directories."""
    try:
        interfaces = machine.listdir(NET)
    except Absent:
        raise NotApplicable(f"this is not Linux: it has no {NET}") from None
    names = (unless_absent(lambda: machine.listdir(RDMA)) or ())[:MOST_ENTRIES]
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
    for path in (*named[:MOST_ENTRIES], *PLUGIN_DIRS):
        try:
            found = next((name for name in machine.listdir(path) if name.startswith(PLUGIN)), None)
        except CouldNotLook:
            continue
        if found:
            return f"{path}/{found}"
    return None
