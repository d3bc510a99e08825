"""What of a node is compared with the others."""

from skyrl_doctor.core.gather import FactResult, Gathered, Unavailable
from skyrl_doctor.facts.environ import Environ
from skyrl_doctor.facts.gpu import Gpu, Gpus, Slice
from skyrl_doctor.facts.host import Host
from skyrl_doctor.facts.interpreter import Interpreter, TrainingPython
from skyrl_doctor.nodes.traits import traits

HOST = Host(name="n", user="u", uid=1, gid=1, pid=1, cpus=1, system="Linux 6.1 x86_64", python="p", cwd="/", now=0.0)
PYTHON = Interpreter(
    python=TrainingPython("/v/python", "the configuration"),
    version="3.12.9",
    implementation="cpython",
    platform="linux",
    machine="x86_64",
    prefix="/v",
    base_prefix="/v",
    include="/v/include",
    header=True,
    packages={"ray": "2.60.0"},
)
WHOLE = Gpus(source="nvml", driver="580.95", gpus=(Gpu(index=0, uuid="GPU-1", name="NVIDIA H200"),))
SLICED = Gpus(
    source="nvml",
    gpus=(
        Gpu(
            index=0,
            uuid="GPU-1",
            name="A100",
            mig=True,
            slices=(Slice(uuid="MIG-1", parent="GPU-1", index=0, profile="2g.20gb"),),
        ),
    ),
)


def of(environ: dict[str, str], *facts: object) -> dict[str, str]:
    answers: dict[type, FactResult] = {type(fact): Gathered(fact) for fact in facts}
    return traits({Environ: Gathered(Environ(environ)), **answers})


def test_versions_gpus_kernel_and_variables() -> None:
    found = of({"NCCL_DEBUG": "INFO", "HOME": "/h", "SLURM_PROCID": "1"}, HOST, PYTHON, WHOLE)
    assert found == {
        "python": "3.12.9",
        "openhands-sdk": "absent",
        "ray": "2.60.0",
        "torch": "absent",
        "transformers": "absent",
        "verl": "absent",
        "vllm": "absent",
        "driver": "580.95",
        "set of GPUs": "1 x NVIDIA H200",
        "kernel": "Linux 6.1 x86_64",
        "$NCCL_DEBUG": "INFO",
    }


def test_slices_count_by_their_profile() -> None:
    assert of({"CUDA_VISIBLE_DEVICES": "MIG-1"}, SLICED)["set of GPUs"] == "1 x MIG 2g.20gb of A100"
    assert of({"CUDA_VISIBLE_DEVICES": ""}, SLICED)["set of GPUs"] == "none"


def test_devices_of_a_node_s_own_are_not_compared() -> None:
    assert "$CUDA_VISIBLE_DEVICES" not in of({"CUDA_VISIBLE_DEVICES": "MIG-1"})


def test_no_secret_is_told_and_none_makes_a_difference() -> None:
    told = of({"HF_TOKEN": "hf_0123456789abcdefgh", "https_proxy": "http://me:geheim-17@proxy:3128"})
    assert told == {"$https_proxy": "http://xxxxxxxxxxxx@proxy:3128"}
    assert of({"https_proxy": "http://me:geheim-17@proxy:3128"}) == told


def test_what_was_not_seen_is_left_out() -> None:
    answers: dict[type, FactResult] = {Gpus: Unavailable("it hangs"), Interpreter: Unavailable("no answer")}
    assert traits(answers) == {}
