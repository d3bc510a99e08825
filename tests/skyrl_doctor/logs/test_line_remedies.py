"""The cause and the remedy of single lines, as users read them."""

import pytest

from skyrl_doctor.logs.cause.root_cause import find_root_cause
from skyrl_doctor.logs.judge.files import scan_chunks
from skyrl_doctor.logs.match.patterns import installed_patterns
from skyrl_doctor.logs.sentences import explain
from skyrl_doctor.logs.show import own_remedy


def judged(*lines: str) -> tuple[str, str, str]:
    """The failure of the lines, its sentence and its remedy."""
    text = "".join(f"{line}\n" for line in lines).encode()
    found = find_root_cause([scan_chunks("a.log", [text], installed_patterns())])
    assert found.root is not None
    return found.root.failure.name, explain(found.root, found.dialect), own_remedy(found.root, found)


def test_the_command_that_torch_misses_is_named() -> None:
    assert judged("RuntimeError: Ninja is required to load C++ extensions (pip install ninja to get it)") == (
        "ENV022",
        "torch compiles an extension with the command `ninja`, which is not on PATH",
        "`python -m pip install ninja`. If it is installed, activate its environment, or put the environment's `bin` directory on PATH.",
    )


REBUILD = "The path in the line names the package. Install it again for the torch that is there (`python -c 'import torch; print(torch.__version__, torch.version.cuda)'`): a wheel for this torch, CUDA and Python, or `pip install --force-reinstall --no-deps --no-build-isolation --no-cache-dir PACKAGE` (pip's cache may hold the wheel that was built for the other torch)."


@pytest.mark.parametrize(
    ("line", "cause", "advice"),
    [
        (
            "ImportError: /venv/lib/python3.12/site-packages/flash_attn_2_cuda.so: undefined symbol: _ZN3c104cuda9SetDeviceEab",
            "a compiled extension was built for a different torch",
            REBUILD,
        ),
        (
            "ImportError: DLL load failed while importing flash_attn_2_cuda: The specified procedure could not be found.",
            "a compiled extension was built for a different torch, CUDA or NumPy",
            f"{REBUILD} A missing Visual C++ runtime gives the same error.",
        ),
    ],
)
def test_an_extension_is_built_anew_and_not_taken_from_the_cache(line: str, cause: str, advice: str) -> None:
    assert judged(line) == ("ENV011", cause, advice)


def test_a_quota_without_a_number_is_told_without_one() -> None:
    assert judged("daytona_sdk.common.errors.DaytonaError: Failed to create sandbox: Total memory limit exceeded.") == (
        "RUN012",
        "all memory that the sandbox provider's account allows is used",
        "Delete the sandboxes that earlier runs left behind, give each sandbox less memory, run fewer at once, or raise the limit of the account.",
    )


def test_openblas_is_given_fewer_threads_first() -> None:
    assert judged(
        "OpenBLAS blas_thread_init: pthread_create: Resource temporarily unavailable",
        "OpenBLAS blas_thread_init: RLIMIT_NPROC 4096 current, 4096 max",
    ) == (
        "ENV008",
        "no further thread or process was allowed",
        "`OMP_NUM_THREADS=1` and `OPENBLAS_NUM_THREADS=1` start fewer threads. If the next line shows a current limit below max: `ulimit -S -u $(ulimit -H -u)`. In a container the limit is of its own (`--pids-limit`, Kubernetes: podPidsLimit).",
    )


@pytest.mark.parametrize(
    ("rest", "cause"),
    [
        (
            "GPU 0 has a total capacity of 23.69 GiB of which 1.30 GiB is free. Process 31742 has 22.10 GiB memory in use. Including non-PyTorch memory, this process has 260.00 MiB memory in use.",
            "another process (pid 31742) holds 22.10 GiB of the 23.69 GiB of this GPU",
        ),
        (
            "GPU 1 has a total capacity of 79.10 GiB of which 1.30 GiB is free. Including non-PyTorch memory, this process has 6.60 GiB memory in use. Process 31742 has 70.10 GiB memory in use.",
            "another process (pid 31742) holds 70.10 GiB of the 79.10 GiB of this GPU",
        ),
    ],
)
def test_out_of_memory_names_the_other_process(rest: str, cause: str) -> None:
    assert judged(f"torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.45 GiB. {rest}") == (
        "GPU003",
        cause,
        "`nvidia-smi` names the process. End it if it is yours (`kill PID`), such as one that an earlier run left. If it is another user's, use another GPU (`CUDA_VISIBLE_DEVICES`) or another node. If it belongs to this run (a model server on the same GPU), give that server a smaller share of the memory.",
    )


@pytest.mark.parametrize(
    "line",
    [
        "accelerate: command not found",
        "zsh: command not found: accelerate",
        "env: ‘torchrun’: No such file or directory",
        "/bin/sh: 1: deepspeed: not found",
    ],
)
def test_a_launcher_that_is_not_installed_is_named_behind_other_errors(line: str) -> None:
    name, cause, _ = judged("python3: can't open file 'a.py': [Errno 2] No such file or directory", line)
    assert (name, cause) == (
        "ENV023",
        "the program that starts the training is not installed in the environment of this shell",
    )


OOM = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 768.00 MiB. GPU 0 has a total capacity of 14.58 GiB of which 163.06 MiB is free."
PLAIN = ('  File "/own/train.py", line 309, in <module>', "    loss.backward()", OOM)


@pytest.mark.parametrize(
    ("lines", "named", "cause", "begins"),
    [
        (
            PLAIN,
            "MEM002",
            "the update's logits and activations did not fit on the GPU",
            "Use a smaller batch on each GPU first; gradient accumulation keeps the size of a step.",
        ),
        (
            ("import verl.trainer.main_ppo", "actor_rollout_ref.model.path = own/model", *PLAIN),
            "MEM002",
            "the update's logits and activations did not fit on the GPU",
            "Set `actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu` to 1 (dynamic batches:",
        ),
        (
            (OOM,),
            "MEM001",
            "the GPU has no memory left: the model, its batch and what else uses the GPU do not fit together",
            "In training use a smaller batch first, then activation checkpointing,",
        ),
        (
            (
                "torch.distributed.DistBackendError: NCCL error, unhandled cuda error",
                "Cuda failure 802 'system not yet initialized'",
            ),
            "TRN009",
            "CUDA error 802: the GPUs of this node are not joined by NVSwitch yet",
            "On the node, as administrator: `systemctl status nvidia-fabricmanager`,",
        ),
        (
            ("huggingface_hub.errors.GatedRepoError: 403 Client Error. (Request ID: Root=1-2)",),
            "MOD005",
            "the account of this job's token is not among those that may read this model or data set",
            "Ask for access on its page with the account of the token (`hf auth whoami`),",
        ),
        (
            ("vllm: error: unrecognized arguments: serve /models/own",),
            "CFG030",
            "`serve` reached the server as an argument: the image's entrypoint starts the server already",
            "Leave `vllm serve` out after the name of the image,",
        ),
        (
            ("KeyboardInterrupt", "Terminated"),
            "TRN011",
            "SIGINT stopped the program: Ctrl-C, or a batch system",
            "Some batch systems send it before SIGTERM when a job is ended or has reached a limit: LSF's `bhist -l JOB` has the reason.",
        ),
        (
            ("jinja2.exceptions.TemplateError: Conversation roles must alternate user/assistant/user/assistant/...",),
            "MOD007",
            "the model's chat template refuses these messages: Conversation roles must alternate user/assistant/user/assistant/...",
            "Put the system text into the first user message, and join neighbours of one role.",
        ),
        (
            ("ModuleNotFoundError: No module named 'sgl_kernel'",),
            "ENV022",
            "Python does not find SGLang's kernels (`sgl_kernel`) in the environment of this process",
            "With CUDA: `python -m pip install sgl-kernel`, in the version",
        ),
        (
            (
                "(raylet) The node with node id: 0f21 and address: 10.0.0.51 and node name: 10.0.0.51 has been marked dead because the detector has missed too many heartbeats from it.",
            ),
            "ENV025",
            "Ray lost a node: it restarted, its Ray processes were killed (most often out of memory), or the network to it failed",
            "On that node: `dmesg -T | grep -i -E 'killed process|oom'`, `uptime`, and `raylet.out` in `/tmp/ray/session_latest/logs/`; on the head node",
        ),
    ],
)
def test_a_remedy_is_for_what_the_log_shows(lines: tuple[str, ...], named: str, cause: str, begins: str) -> None:
    failure, told, advice = judged(*lines)
    assert (failure, told, advice[: len(begins)]) == (named, cause, begins)
