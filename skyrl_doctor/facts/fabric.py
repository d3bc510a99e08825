"""The network between nodes as NCCL finds it: interfaces, RDMA devices, and a plug-in for those of Amazon."""

from collections.abc import Iterable

from skyrl_doctor.core.check import probe
from skyrl_doctor.core.errors import CouldNotLook, NotApplicable
from skyrl_doctor.core.record import record
from skyrl_doctor.facts.environ import Environ
from skyrl_doctor.machine.base import Absent, Machine, unless_absent

EFA = "efa"
PLUGIN = "libnccl-net"
NET, RDMA = "/sys/class/net", "/sys/class/infiniband"
USUAL = (
    "/opt/amazon/ofi-nccl/lib",
    "/opt/amazon/ofi-nccl/lib64",
    "/opt/aws-ofi-nccl/lib",
    "/usr/lib64",
    "/usr/local/lib",
)
MOST = 64


@record(kw_only=True)
class Fabric:
    """`rdma` are devices by name with the driver where it is told; `plugin` is the path of NCCL's network plug-in."""

    interfaces: tuple[str, ...]
    rdma: tuple[tuple[str, str], ...] = ()
    plugin: str | None = None

    @property
    def has_efa(self) -> bool:
        return any(driver == EFA or name.startswith((EFA, "rdmap")) for name, driver in self.rdma)


def matching(names: Iterable[str], said: str) -> tuple[str, ...]:
    """The names that a list of NCCL leaves: prefixes; `=` wants them whole, `^` leaves all others, `^=` both."""
    is_not, said = said.startswith("^"), said.removeprefix("^")
    exact, said = said.startswith("="), said.removeprefix("=")
    wanted = [part.partition(":")[0] for part in said.split(",") if part]

    def fits(name: str) -> bool:
        return any(name == one if exact else name.startswith(one) for one in wanted) is not is_not

    return tuple(name for name in names if fits(name))


@probe(limit_s=4.0)
def fabric(machine: Machine, environ: Environ) -> Fabric:
    """Reads the network devices of this node, and looks for NCCL's plug-in where the loader would."""
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
