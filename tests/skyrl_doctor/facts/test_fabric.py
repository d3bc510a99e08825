"""The network devices of a node."""

import pytest

from skyrl_doctor.core.errors import NotApplicable
from skyrl_doctor.facts.environ import Environ
from skyrl_doctor.facts.fabric import Fabric, fabric
from support import recorded

CLEAN, EFA = recorded("clean_gpu_node"), recorded("nodes_of_a_job")
NET, RDMA = "list /sys/class/net", "list /sys/class/infiniband"


def test_names_interfaces_and_devices() -> None:
    names = ("eth0", "ib0", "lo")
    assert fabric.look(CLEAN, Environ({})) == Fabric(interfaces=names, rdma=(("mlx5_0", "mlx5_core"),))
    found = fabric.look(EFA, Environ({}))
    assert found == Fabric(interfaces=names, rdma=(("rdmap0s6", "efa"),))
    assert isinstance(found, Fabric)
    assert found.has_efa


def test_finds_the_plug_in_where_the_loader_would() -> None:
    machine = EFA.but({"list /site/lib": ["libnccl-net-ofi.so"], "list /none": {"absent": "/none"}})
    found = fabric.look(machine, Environ({"LD_LIBRARY_PATH": "/none::relative:/site/lib"}))
    assert isinstance(found, Fabric)
    assert found.plugin == "/site/lib/libnccl-net-ofi.so"


def test_a_node_without_rdma_has_none() -> None:
    machine = CLEAN.but({RDMA: {"absent": "/sys/class/infiniband"}})
    assert fabric.look(machine, Environ({})) == Fabric(interfaces=("eth0", "ib0", "lo"))


def test_elsewhere_there_is_no_such_thing() -> None:
    with pytest.raises(NotApplicable):
        fabric.look(CLEAN.but({NET: {"absent": "/sys/class/net"}}), Environ({}))
