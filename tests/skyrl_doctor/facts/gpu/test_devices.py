"""Which devices CUDA gives to a job."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skyrl_doctor.facts.gpu.devices import Closed, Device, Gpu, Gpus, Owner, Process, Slice, usable
from skyrl_train.node.mig import SliceId

A = Gpu(index=0, uuid="GPU-aa11", name="NVIDIA H100")
B = Gpu(index=1, uuid="GPU-aa22", name="NVIDIA H100")
ONE = Slice(uuid="MIG-cc11", parent="GPU-dd33", index=0, gi=2, ci=0, profile="2g.20gb")
TWO = Slice(uuid="MIG-cc22", parent="GPU-dd33", index=1, gi=3, ci=0)
CUT = Gpu(index=0, uuid="GPU-dd33", name="NVIDIA A100", mig=True, slices=(ONE, TWO))
BARE = Gpu(index=0, uuid="GPU-ee44", name="NVIDIA A100", mig=True)
WHOLES = Gpus(
    source="nvml", gpus=(A, B), closed=(Closed(2, "Insufficient Permissions"), Closed(0, "no", slice_index=1))
)


@pytest.mark.parametrize(
    ("gpus", "value", "found"),
    [
        ((A, B), None, (A, B)),
        ((A, B), "", ()),
        ((A, B), "1,0", (B, A)),
        ((A, B), "0,2,1", (A,)),
        ((A, B), "1,1", ()),
        ((A, B), "GPU-aa2,GPU-aa11", (B, A)),
        ((A, B), "GPU-aa", ()),
        ((A, B), "GPU-aa11,GPU-aa1", ()),
        ((A, B), "NoDevFiles", ()),
        ((CUT,), None, (ONE,)),
        ((CUT,), "0", (ONE,)),
        ((CUT,), "MIG-cc22", (TWO,)),
        ((CUT,), "MIG-cc22,MIG-cc11", (TWO, ONE)),
        ((CUT,), "MIG-GPU-dd33/3/0", (TWO,)),
        ((CUT,), "MIG-GPU-dd33/3/0,MIG-cc22", ()),
        ((CUT,), "MIG-cc", ()),
        ((CUT,), "GPU-dd33", (ONE,)),
        ((BARE,), "0", ()),
        ((BARE,), None, ()),
        ((), None, ()),
    ],
)
def test_follows_the_variable_as_cuda_does(gpus: tuple[Gpu, ...], value: str | None, found: tuple[Device, ...]) -> None:
    environ = {} if value is None else {"CUDA_VISIBLE_DEVICES": value}
    assert usable(Gpus(source="nvml", gpus=gpus), environ) == found


@given(st.text())
def test_gives_no_device_twice_whatever_the_variable_says(value: str) -> None:
    found = usable(Gpus(source="nvml", gpus=(A, CUT)), {"CUDA_VISIBLE_DEVICES": value})
    assert len({device.uuid for device in found}) == len(found)


def test_counts_as_nvml_does() -> None:
    assert WHOLES.physical == 3
    assert WHOLES.uuids == ("GPU-aa11", "GPU-aa22")
    assert Gpus(source="nvml", gpus=(CUT,)).slice_ids == (
        SliceId(uuid="MIG-cc11", parent="GPU-dd33", gi=2, ci=0),
        SliceId(uuid="MIG-cc22", parent="GPU-dd33", gi=3, ci=0),
    )


def test_owners_reach_slices_and_gpus_and_leave_the_untold_untold() -> None:
    mine = Owner(name="python", uid=1000, job="4711")
    one = Slice(uuid="MIG-1", parent="GPU-1", index=0, processes=(Process(pid=7), Process(pid=8)))
    gpus = Gpus(source="nvml", gpus=(Gpu(index=0, uuid="GPU-1", name="x", slices=(one,)),))
    owned = gpus.with_owners({7: mine})
    assert gpus.pids == (7, 8)
    assert owned.slices[0].processes == (Process(pid=7, owner=mine), Process(pid=8))
    assert owned.gpus[0].processes is None


def test_titles() -> None:
    assert [device.title for device in (A, ONE, TWO)] == [
        "GPU 0 (NVIDIA H100)",
        "MIG slice 2g.20gb (MIG-cc11)",
        "MIG slice MIG-cc22",
    ]
