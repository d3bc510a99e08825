"""The network between nodes as NCCL finds it: interfaces, RDMA devices, and a plug-in for those of Amazon."""

from collections.abc import Iterable

from skyrl_doctor.core.record import record

EFA = "efa"
PLUGIN = "libnccl-net"


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
