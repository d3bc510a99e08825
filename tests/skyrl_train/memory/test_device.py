"""GPUs and slices by name and by size."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skyrl_train.memory import (
    GIB,
    GPUS,
    SLICES,
    Device,
    MemoryModelError,
    UnknownDeviceError,
    device_named,
    device_of_size,
)


@pytest.mark.parametrize(
    ("name", "found", "gib"),
    [
        ("H200", "H200", 139.81),
        ("NVIDIA H100 80GB HBM3", "H100-80GB", 79.18),
        ("NVIDIA A100-SXM4-40GB", "A100-40GB", 39.49),
        ("NVIDIA A100 80GB PCIe", "A100-80GB", 79.25),
        ("NVIDIA A100-SXM4-40GB MIG 3g.20gb", "A100-40GB 3g.20gb", 19.5),
        ("A100-80GB 3g.40gb", "A100-80GB 3g.40gb", 39.25),
        ("MIG 1g.5gb", "A100-40GB 1g.5gb", 4.75),
        ("3G.20GB", "A100-40GB 3g.20gb", 19.5),
        ("1g.10gb+me", "A100-80GB 1g.10gb", 9.5),  # of all that are called so, the smallest
        ("H200 1g.18gb", "H200 1g.18gb", 16.0),
        ("A100 1g.5gb", "A100-40GB 1g.5gb", 4.75),  # only one of the two A100 has it
        ("a100:1", "A100-80GB", 79.25),
        ("gres/gpu:h200:1", "H200", 139.81),
        ("gpu:a100_3g.20gb:1", "A100-40GB 3g.20gb", 19.5),
        ("nvidia_h100_80gb_hbm3_3g.40gb", "H100-80GB 3g.40gb", 39.5),
        ("gpu:rtx_4090:2", "RTX-4090", 23.64),
        ("RTX4090", "RTX-4090", 23.64),
        ("NVIDIA GH200 480GB", "GH200-96GB", 94.5),
        ("NVIDIA H20", "H20-96GB", 95.0),
        ("gpu:h20:8", "H20-96GB", 95.0),
        ("NVIDIA H800", "H800-80GB", 79.18),
        ("NVIDIA A800-SXM4-80GB", "A800-80GB", 79.25),
        ("A800", "A800-80GB", 79.25),
        ("NVIDIA A40", "A40", 44.42),
    ],
)
def test_names_as_people_and_nvidia_smi_write_them(name: str, found: str, gib: float) -> None:
    assert device_named(name) == Device(found, round(gib * GIB))


@pytest.mark.parametrize("name", ["", "B9000", "A100 9g.90gb", "9g.90gb", "H100 1g.5gb", "MIG", "20", "gpu", "gpu:1"])
def test_other_names_are_refused(name: str) -> None:
    with pytest.raises(UnknownDeviceError):
        device_named(name)


@pytest.mark.parametrize(
    "name",
    [
        "NVIDIA H100 NVL",
        "NVIDIA A800 40GB Active",
        "NVIDIA H20-3e",
        "A30 1g.6gb",
        "L40S 1g.10gb",
        "H100 NVL MIG 1g.12gb",
        "GB200",
    ],
)
def test_another_card_is_not_taken_for_one_that_is_known(name: str) -> None:
    with pytest.raises(UnknownDeviceError):
        device_named(name)


@pytest.mark.parametrize(
    ("size", "total"),
    [("20GiB", 20 * GIB), ("24 GB", 24 * 10**9), ("40536MiB", 40536 * 1024**2), ("19.5g", int(19.5 * GIB))],
)
def test_sizes(size: str, total: int) -> None:
    assert device_of_size(size).total == total


@pytest.mark.parametrize(
    "size",
    [
        "",
        "20",
        "GiB",
        "0GiB",
        "-3GiB",
        "nanGiB",
        "infGiB",
        "1e9GiB",
        "0.0000000001GiB",
        "9" * 400 + "GiB",
        "\u0662\u0660GiB",
    ],
)
def test_what_is_no_size_is_refused(size: str) -> None:
    with pytest.raises(UnknownDeviceError):
        device_of_size(size)


@pytest.mark.parametrize("total", [0, -1, 1.5, True, None])
def test_a_device_has_memory(total: object) -> None:
    with pytest.raises(UnknownDeviceError):
        Device("x", total)  # type: ignore[arg-type]  # what the type forbids, a caller may still do


def test_every_slice_is_smaller_than_its_gpu_and_has_a_parent() -> None:
    assert all(size <= GPUS[parent] + 0.1 for parent, slices in SLICES.items() for size in slices.values())


@given(st.text(max_size=30))
def test_no_text_is_mistaken_for_a_device(text: str) -> None:
    for read in (device_named, device_of_size):
        try:
            assert read(text).total > 0
        except MemoryModelError:
            continue


@pytest.mark.parametrize(("gpu", "profile"), [(gpu, profile) for gpu in SLICES for profile in SLICES[gpu]])
def test_a_slice_has_a_little_less_than_its_name_says(gpu: str, profile: str) -> None:
    said = int(profile.partition(".")[2].removesuffix("gb"))
    assert 0.88 * said <= SLICES[gpu][profile] < said
    assert SLICES[gpu][profile] <= GPUS[gpu] + 0.1


@pytest.mark.parametrize(
    ("device", "is_slice"),
    [
        (device_named("H200"), False),
        (device_named("A100-40GB 3g.20gb"), True),
        (Device("NVIDIA H100 80GB HBM3 MIG slice", GIB), True),
        (device_of_size("20GiB"), False),
    ],
)
def test_a_slice_is_told_from_a_whole_gpu(device: Device, is_slice: bool) -> None:
    assert device.is_slice is is_slice
