"""The probe of the NVIDIA driver, on recorded machines."""

import json

import pytest

from skyrl_doctor.core.errors import CouldNotLook, NotApplicable
from skyrl_doctor.facts.gpu import Closed, Gpu, Gpus, Memory, Owner, Process, Slice
from skyrl_doctor.facts.gpu.probe import gpu
from skyrl_doctor.machine.base import Machine
from support import recorded

PARENT = "GPU-5d5ba0d6-d33d-2b2c-524d-9e3d8d2b8a77"
ONE = "MIG-c6d4f1ef-42e4-5de3-91c7-45d71c87eb3f"
H100 = Gpu(
    index=0,
    uuid="GPU-2f1c9a44-77d3-4b0e-9c55-0c1d6e8a3b21",
    name="NVIDIA H100 80GB HBM3",
    mig=False,
    memory=Memory(total_mib=81559, used_mib=0, free_mib=81559),
    processes=(),
)
ASK = "ask nvml own-python"
LIST = "run nvidia-smi -L"
APPS = "run nvidia-smi --query-compute-apps=gpu_uuid,pid,used_memory --format=csv,noheader,nounits"


def look(machine: str | Machine) -> object:
    return gpu.look(recorded(machine) if isinstance(machine, str) else machine)


def test_a_whole_gpu() -> None:
    assert look("clean_gpu_node") == Gpus(source="nvml", driver="580.95.05", gpus=(H100,))


def test_the_memory_of_a_real_h200() -> None:
    found = look("whole_h200")
    assert isinstance(found, Gpus)
    assert found.driver == "580.159.04"
    assert found.gpus[0].memory == Memory(total_mib=143771, used_mib=0, free_mib=143155)


def test_a_slice_whose_gpu_tells_nothing() -> None:
    one = Slice(
        uuid=ONE,
        parent=PARENT,
        index=0,
        gi=2,
        ci=0,
        profile="3g.20gb",
        memory=Memory(total_mib=19968, used_mib=13, free_mib=19955),
        processes=(),
    )
    parent = Gpu(index=0, uuid=PARENT, name="NVIDIA A100-SXM4-40GB", mig=True, slices=(one,))
    assert look("mig_one_slice") == Gpus(source="nvml", driver="580.95.05", gpus=(parent,))


def test_an_old_driver_names_the_slice_after_its_gpu() -> None:
    found = look("mig_old_name")
    assert isinstance(found, Gpus)
    assert [(one.uuid, one.gi, one.ci, one.profile) for one in found.slices] == [(f"MIG-{PARENT}/2/0", 2, 0, "3g.20gb")]


def test_a_gpu_that_cannot_be_opened() -> None:
    closed = (Closed(0, "Insufficient Permissions"),)
    assert look("no_dev_files") == Gpus(source="nvml", driver="580.95.05", closed=closed)


def test_owners_of_processes() -> None:
    found = look("foreign_gpu_process")
    assert isinstance(found, Gpus)
    assert found.gpus[0].processes == (
        Process(pid=28412, used_mib=71680, owner=Owner(name="python3", uid=1002, job="4633")),
        Process(pid=30100, used_mib=520, owner=Owner(name="python", uid=1000, job="4711")),
    )


def test_a_process_that_proc_hides_has_no_owner() -> None:
    hidden = {"read /proc/28412/status": {"absent": "/proc/28412/status"}}
    found = look(recorded("foreign_gpu_process").but(hidden))
    assert isinstance(found, Gpus)
    assert [process.owner is None for process in found.gpus[0].processes or ()] == [True, False]


def test_nvidia_smi_where_pynvml_is_missing() -> None:
    one = Slice(uuid=ONE, parent=PARENT, index=0, profile="2g.20gb")
    parent = Gpu(index=0, uuid=PARENT, name="NVIDIA A100-SXM4-80GB", mig=True, slices=(one,), processes=())
    assert look("nvidia_smi_only") == Gpus(source="nvidia-smi", driver="580.95.05", gpus=(parent,))


def test_nvidia_smi_that_refuses_a_question_leaves_that_untold() -> None:
    found = look(recorded("nvidia_smi_only").but({APPS: {"rc": 2, "out": "not a valid field", "err": ""}}))
    assert isinstance(found, Gpus)
    assert found.gpus[0].processes is None


def test_nvidia_smi_without_any_device() -> None:
    none = {LIST: {"rc": 6, "out": "No devices were found", "err": ""}}
    assert look(recorded("nvidia_smi_only").but(none)) == Gpus(source="nvidia-smi")


@pytest.mark.parametrize(
    ("machine", "text"),
    [
        (
            "driver_library_mismatch",
            (
                "NVML: RM has detected an NVML/RM version mismatch.; nvidia-smi: exit status 18: "
                "Failed to initialize NVML: Driver/library version mismatch"
            ),
        ),
        ("nvidia_smi_hangs", "NVML: ModuleNotFoundError: No module named 'pynvml'; nvidia-smi: no answer within 8 s"),
        (
            "nvml_hangs",
            "nvml probe under /home/trainer/doctor/bin/python: no answer within 12 s: the NVIDIA driver does not answer",
        ),
    ],
)
def test_a_broken_driver_is_no_machine_without_gpu(machine: str, text: str) -> None:
    with pytest.raises(CouldNotLook) as raised:
        look(machine)
    assert str(raised.value) == text


def test_a_figure_that_hangs_is_told() -> None:
    with pytest.raises(CouldNotLook, match="no answer within 8 s"):
        look(recorded("nvidia_smi_only").but({APPS: {"timed_out": True}}))


@pytest.mark.parametrize("code", [None, 9, 12])
def test_no_driver_no_tool_and_no_device_is_no_gpu(code: int | None) -> None:
    machine = recorded("no_nvidia_gpu").but({ASK: _refused(code)})
    with pytest.raises(NotApplicable) as raised:
        look(machine)
    assert str(raised.value) == "no NVIDIA GPU here: no driver library, no nvidia-smi and no /dev/nvidia*"


@pytest.mark.parametrize(
    "changes",
    [
        {"list /dev": ["null", "nvidia0", "nvidiactl"]},
        {ASK: {"rc": 0, "out": '{"error": {"code": 999, "text": "Unknown Error"}}', "err": ""}},
        {
            LIST: {
                "rc": 9,
                "out": "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.",
                "err": "",
            }
        },
        {LIST: {"rc": 0, "out": "", "err": ""}},
        {ASK: {"rc": 0, "out": "garbage", "err": ""}},
    ],
)
def test_any_sign_of_nvidia_makes_a_failed_look_unknown(changes: dict[str, object]) -> None:
    with pytest.raises(CouldNotLook):
        look(recorded("no_nvidia_gpu").but(changes))


def test_a_child_that_dies_leaves_the_answer_to_nvidia_smi() -> None:
    found = look(recorded("nvidia_smi_only").but({ASK: {"rc": -11, "out": "", "err": ""}}))
    assert isinstance(found, Gpus)
    assert found.source == "nvidia-smi"


def _refused(code: int | None) -> dict[str, object]:
    return {"rc": 0, "out": json.dumps({"error": {"code": code, "text": "x"}}), "err": ""}
