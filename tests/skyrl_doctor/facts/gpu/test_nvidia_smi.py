"""Reading nvidia-smi."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from skyrl_doctor.facts.gpu import Closed, Gpu, Gpus, Memory, Process, Slice
from skyrl_doctor.facts.gpu.nvidia_smi import parse_list, with_figures, with_mig_mode, with_processes

G0, G1 = "GPU-5d5ba0d6-d33d-2b2c-524d-9e3d8d2b8a77", "GPU-a7449be4-8516-9501-f69d-1e5841e103ce"
NEW = "MIG-c6d4f1ef-42e4-5de3-91c7-45d71c87eb3f"
OLD = f"MIG-{G1}/1/0"
LISTING = f"""\
GPU 0: NVIDIA A100-SXM4-80GB (UUID: {G0})
  MIG 2g.20gb     Device  0: (UUID: {NEW})
GPU 1: A100-PCIE-40GB (UUID: {G1})
  MIG 3g.20gb Device 0: (UUID: {OLD})
"""
FIRST = Slice(uuid=NEW, parent=G0, index=0, profile="2g.20gb")
SECOND = Slice(uuid=OLD, parent=G1, index=0, gi=1, ci=0, profile="3g.20gb")
LISTED = Gpus(
    source="nvidia-smi",
    gpus=(
        Gpu(index=0, uuid=G0, name="NVIDIA A100-SXM4-80GB", mig=True, slices=(FIRST,)),
        Gpu(index=1, uuid=G1, name="A100-PCIE-40GB", mig=True, slices=(SECOND,)),
    ),
)
WHOLE = Gpus(source="nvidia-smi", gpus=(Gpu(index=0, uuid=G0, name="NVIDIA H200"),))


def test_lists_gpus_and_slices_of_new_and_old_drivers() -> None:
    assert parse_list(LISTING) == LISTED


@pytest.mark.parametrize("text", ["No devices were found\n", "No devices found.\n"])
def test_tells_a_driver_that_has_no_gpu(text: str) -> None:
    assert parse_list(text) == Gpus(source="nvidia-smi")


@pytest.mark.parametrize(
    "line",
    [
        "Unable to determine the device handle for GPU1: 0000:84:00.0: GPU is lost.  Reboot the system to recover this GPU",
        "Unable to determine the device handle for GPU 0000:84:00.0: Unknown Error",
    ],
)
def test_a_lost_gpu_is_closed_and_not_forgotten(line: str) -> None:
    found = parse_list(f"GPU 0: NVIDIA H200 (UUID: {G0})\n{line}\n")
    assert found is not None
    assert found.gpus == WHOLE.gpus
    assert [closed.why for closed in found.closed] == [line]


def test_a_lost_gpu_keeps_its_number() -> None:
    text = "Unable to determine the device handle for GPU3: 0000:84:00.0: GPU is lost."
    assert parse_list(text) == Gpus(source="nvidia-smi", closed=(Closed(3, text),))


@pytest.mark.parametrize("bus", ["GPU0000:CB:00.0", "GPU 0000:CB:00.0", "gpu 0000:CB:00.0"])
def test_the_domain_of_a_lost_gpus_bus_is_not_its_number(bus: str) -> None:
    line = f"Unable to determine the device handle for {bus}: Unknown Error"
    other = line.replace("CB", "4F")
    found = parse_list(f"{line}\n{other}\n")
    assert found == Gpus(source="nvidia-smi", closed=(Closed(None, line), Closed(None, other)))
    assert found.physical == 2


@pytest.mark.parametrize(
    "text",
    [
        "",
        "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.",
        "Failed to initialize NVML: Driver/library version mismatch\nNVML library version: 580.95",
        f"  MIG 2g.20gb     Device  0: (UUID: {NEW})",
    ],
)
def test_what_lists_nothing_is_no_empty_list(text: str) -> None:
    assert parse_list(text) is None


def test_fills_in_figures_and_leaves_what_is_not_told() -> None:
    text = f"{G0}, 143771, 0, 143156, 580.159.04\n{G1}, 40960, [N/A], [Insufficient Permissions], 580.159.04\n"
    found = with_figures(LISTED, text)
    assert found.driver == "580.159.04"
    assert [gpu.memory for gpu in found.gpus] == [Memory(total_mib=143771, used_mib=0, free_mib=143156), None]


def test_tells_mig_mode_without_a_slice() -> None:
    assert with_mig_mode(WHOLE, f"{G0}, Enabled\n").gpus[0].mig is True
    assert with_mig_mode(WHOLE, f"{G0}, Disabled\n").gpus[0].mig is False
    assert with_mig_mode(WHOLE, f"{G0}, [N/A]\n").gpus[0].mig is None


def test_gives_each_process_to_the_device_that_it_names() -> None:
    found = with_processes(LISTED, f"{NEW}, 910, 3590\n{G1}, 911, [N/A]\n{G1}, x, 1\n")
    assert [gpu.processes for gpu in found.gpus] == [(), (Process(pid=911),)]
    assert [one.processes for one in found.slices] == [(Process(pid=910, used_mib=3590),), None]


@given(st.text() | st.lists(st.sampled_from([*LISTING.splitlines(), "x", ""])).map("\n".join))
@example(LISTING.replace("\n", "\r\n"))
def test_no_text_crashes_the_readers(text: str) -> None:
    found = parse_list(text)
    assert found is None or found.gpus or found.closed or "devices" in text.lower()
    for fill in (with_figures, with_mig_mode, with_processes):
        assert fill(LISTED, text).uuids == LISTED.uuids
