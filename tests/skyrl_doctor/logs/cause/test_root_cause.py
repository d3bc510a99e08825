"""The cause among the hits of several files."""

from pathlib import Path

import pytest

from skyrl_doctor.core.signature import Part
from skyrl_doctor.logs.cause.root_cause import Diagnosis, find_root_cause
from skyrl_doctor.logs.diagnose import diagnose
from skyrl_doctor.logs.judge.clusters import Cluster
from skyrl_doctor.logs.judge.files import scan_chunks
from skyrl_doctor.logs.match.patterns import Patterns
from skyrl_doctor.logs.match.signatures import load_signatures

PATTERNS = Patterns(load_signatures())
LOCKED = "Error: beginning container create transaction: database is locked"
SLOTS = "No available worker slots"
DEL = "Exception ignored in: <function APIRemoteWorkspace.__del__ at 0x1>"


def diagnosis(**files: str) -> Diagnosis:
    named = {name.replace("_", ".", 1): text.encode() for name, text in files.items()}
    return find_root_cause(
        [scan_chunks(name, [text], PATTERNS, order=order) for order, (name, text) in enumerate(named.items())]
    )


def root(**files: str) -> str | None:
    found = diagnosis(**files).root
    return found.failure.name if found else None


def test_the_earliest_by_the_clock_is_the_cause() -> None:
    early, late = f"2026-03-02 09:00:00 {LOCKED}\n", f"2026-03-02 10:00:00 {SLOTS}\n"
    assert root(a_log=late, b_log=early) == "POD009"
    assert root(a_log=early, b_log=late) == "POD009"
    assert root(a_log=f"INFO 03-02 08:59:59 x\n{SLOTS}\n", b_log=early) == "RUN005"


def test_without_clocks_what_others_depend_on_comes_first() -> None:
    assert root(training_log=f"{SLOTS}\n", runtime_log=f"{LOCKED}\n") == "POD009"
    assert root(training_log=f"{LOCKED}\n{SLOTS}\n") == "POD009"


def test_consequences_are_never_the_cause() -> None:
    text = f"ray.exceptions.ActorDiedError: The actor died\nEngineCore failed to start.\n{SLOTS}\n"
    assert root(training_log=text) == "RUN005"
    alone = diagnosis(training_log="ray.exceptions.ActorDiedError: The actor died\n")
    assert alone.root is None
    assert alone.unknown is not None


def test_what_a_run_lives_with_is_the_cause_only_where_nothing_else_is() -> None:
    assert root(a_log=f"{DEL}\n") == "RUN007"
    assert root(a_log=f"{DEL}\n{SLOTS}\n") == "RUN005"
    unknown = diagnosis(a_log=f"{DEL}\nfine\nZeroDivisionError: division by zero\n")
    assert (unknown.root, unknown.unknown and unknown.unknown.number) == (None, 3)


def test_the_more_exact_of_two_is_named() -> None:
    error = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1 GiB\n"
    assert root(a_log=f"loss.backward()\n{error}") == "MEM002"
    assert root(a_log=error) == "MEM001"


def test_a_run_that_came_to_its_end_had_no_cause() -> None:
    found = diagnosis(a_log=f"{SLOTS}\nFinal validation metrics: 1\n")
    assert (found.root, found.unknown) == (None, None)
    assert root(a_log=f"Final validation metrics: 1\n{SLOTS}\n") == "RUN005"


def test_nothing_is_forced_to_match() -> None:
    found = diagnosis(a_log="fine\nValueError: 7 of 9\nValueError: 8 of 9\n")
    assert found.root is None
    assert found.unknown is not None
    assert (found.unknown.number, found.unknown.text) == (2, "ValueError: 7 of 9")
    assert found.cluster == Cluster("ValueError: * of *", 2, 2, 3, "ValueError: 7 of 9")
    assert diagnosis(a_log="").unknown is None


TAKEN = (
    'Traceback (most recent call last):\n  File "x.py", line 1, in bind\nOSError: [Errno 98] Address already in use\n'
)


def test_what_ray_runs_beside_a_job_ends_none() -> None:
    assert diagnosis(monitor_log=TAKEN, training_log="fine\n").unknown is None
    assert diagnosis(monitor_log=TAKEN).unknown is not None
    both = diagnosis(dashboard_log=TAKEN, training_log=TAKEN).unknown
    assert both is not None
    assert both.file == "training.log"


def test_a_worker_that_was_told_to_end_is_no_consequence() -> None:
    told = "[2026-03-02 09:30:07,344 {} 3743 3759] core_worker.cc:4630: Force kill actor request: The actor is dead because its owner has died.\n"
    assert diagnosis(a_log=told.format("I")).unknown is None
    assert diagnosis(a_log=told.format("E")).unknown is not None


TIMEOUT = "[rank1]:[E302 09:30:00.5 ProcessGroupNCCL.cpp:616] [Rank 1] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=88, OpType=ALLREDUCE, NumelIn=1, Timeout(ms)=600000) ran"
OOM = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.16 GiB. GPU 0 has a total capacity of 19.62 GiB"


def test_a_last_resort_yields_to_any_other_known_failure() -> None:
    found = diagnosis(a_log=f"{TIMEOUT}\n{SLOTS}\n")
    assert found.root is not None
    assert found.root.failure.name == "RUN005"
    assert {(hit.failure.name, str(hit.failure.signature.role)) for hit in found.matches} == {
        ("RUN005", "root"),
        ("TRN008", "cascade"),
        ("nccl", "cascade"),
    }
    assert found.others == ()


def test_a_last_resort_yields_to_an_unknown_error_above_it_only() -> None:
    error = "[rank3]: ZeroDivisionError: division by zero"
    above = diagnosis(a_log=f"{error}\n{TIMEOUT}\n")
    assert (above.root, above.unknown and above.unknown.number) == (None, 1)
    assert root(a_log=f"{TIMEOUT}\n{error}\n") == "TRN008"
    assert root(a_log=f"{TIMEOUT}\n", b_log=f"{error}\n") is None


def test_a_run_that_reached_its_end_is_torn_down_by_signals() -> None:
    cancelled = "slurmstepd: error: *** JOB 4711 ON gpu07 CANCELLED AT 2026-03-02T11:00:12 ***"
    found = diagnosis(a_log=f"Final validation metrics: 1\n{cancelled}\n")
    assert (found.root, found.unknown) == (None, None)
    assert root(a_log=f"{cancelled}\n") == "SLM011"


def test_after_steps_that_fitted_no_model_is_too_big() -> None:
    step = "step:3 - critic/score/mean:0.21"
    assert root(a_log=f"{OOM}\n") == "MEM001"
    assert root(a_log=f"{step}\n{OOM}\n") == "MEM002"
    assert root(a_log=f"{OOM}\n{step}\n") == "MEM001"
    words = "RuntimeError: GPU memory exhausted while allocating optimizer state (needed 4.1 GiB, 1.0 GiB free)"
    assert root(a_log=f"{words}\n") == "MEM001"
    assert root(a_log=f"{step}\n{words}\n") == "MEM002"


def test_a_last_resort_is_the_cause_where_only_a_note_stands_above() -> None:
    note = "CommandNotFoundError: Your shell has not been properly configured to use 'conda activate'."
    found = diagnosis(a_log=f"{note}\nModuleNotFoundError: No module named 'verl'\n")
    assert found.root is not None
    assert (found.root.failure.name, found.root.line.number) == ("ENV022", 2)


NO_CONDA = "run.sh: line 4: conda: command not found"


def _unknown_line(text: str) -> int | None:
    found = diagnosis(a_log=text)
    return found.unknown.number if found.unknown and found.root is None else None


def test_what_ended_the_run_is_the_cause_behind_a_failed_command_of_a_shell() -> None:
    assert _unknown_line(f"{NO_CONDA}\nepoch 1\n 68%|###   | 15/22 [00:19<00:09,  1.29s/it]Killed\n") == 3
    assert _unknown_line(f"{NO_CONDA}\nepoch 1\nTerminated\n") == 3
    assert _unknown_line("run.sh: line 4: own-tool: command not found\nepoch 1\nTraining failed\n") == 1
    assert root(a_log=f"{NO_CONDA}\nepoch 1\nTraining failed\n") == "ENV023"
    assert _unknown_line(f"{NO_CONDA}\nepoch 1\nValueError: odd\n") == 3
    cancelled = "slurmstepd: error: *** JOB 4711 ON gpu07 CANCELLED AT 2026-03-02T11:00:12 ***"
    assert root(a_log=f"{NO_CONDA}\n{cancelled}\n") == "SLM011"
    source = "/opt/own/start.sh: 3: source: not found"
    assert root(a_log=f"{source}\nModuleNotFoundError: No module named 'verl'\n") == "ENV022"
    assert root(a_log=f"{source}\n") == "RUN006"


def test_the_last_lines_say_that_a_run_failed_only_where_no_other_line_does() -> None:
    assert _unknown_line("epoch 1\nServer did not start within 600 seconds\nexit status 1\n") == 2
    assert _unknown_line("[rank3]: ZeroDivisionError: division by zero\nepoch\nexit status 1\n") == 1
    assert _unknown_line("Server did not start within 600 seconds\n" + "epoch\n" * 9) is None
    assert root(a_log=f"{SLOTS}\nexit status 1\nTerminated\n") == "RUN005"
    finished = diagnosis(a_log="Training finished\nTerminated\n")
    assert (finished.root, finished.unknown) == (None, None)


def test_a_last_resort_below_the_line_that_announces_it_is_the_cause() -> None:
    announced = "[ERROR] agent: the call failed {error=the request failed:"
    reason = "  Error: Jinja Exception: Conversation roles must alternate user/assistant/user/assistant/..."
    assert root(a_log=f"{announced}\n{reason}\n") == "MOD007"
    assert root(a_log=f"{announced[:-1]}\n{reason}\n") is None
    assert root(a_log=f"{announced}\n{reason[:7]}\n\n\n\n{reason}\n") is None


STEPS = "step:1 - actor/loss:0.1 - timing_s/step:1.0\nstep:2 - actor/loss:0.1 - timing_s/step:1.0\n"
OWN_ERROR = "Traceback (most recent call last):\n  File \"/a/my_reward.py\", line 3, in f\n    y()\nKeyError: 'abc'\n"
IPV6 = "[W1123 10:00:00.1 socket.cpp:697] [c10d] The client socket has failed to connect to [::ffff:n07]:29500 (errno: 97 - Address family not supported by protocol)."
NO_NUMBER = "[W socket.cpp:697] [c10d] The client socket has failed to connect to [node]:29500 (errno: 97 - Address family not supported by protocol)."
NO_ROUTE = "[W1123 10:00:00.1 socket.cpp:752] [c10d] The client socket has failed to connect to [n07]:29500 (errno: 113 - No route to host)."
NO_ROOM = "The actor or task with ID ff01 cannot be scheduled right now. It requires {GPU: 1.000000} for placement, but this node only has remaining {CPU: 8.000000}."
TOO_OLD = "/e/torch/cuda/__init__.py:141: UserWarning: CUDA initialization: The NVIDIA driver on your system is too old (found version 11040)."
FALLBACKS = (
    IPV6,
    NO_NUMBER,
    NO_ROUTE,
    "Failed to import sgl_kernel: No module named 'sgl_kernel'",
    "Failed to load extension: No module named 'sgl_kernel'",
    "Failed to import from vllm._custom with ImportError, No module named 'triton_kernels'",
    "(SGLangServer pid=3) Received SIGTERM, restarting engine with new weights",
    "vLLM server: Received SIGTERM signal, reload weights",
    "Received SIGTERM, saving checkpoint before the end",
    NO_ROOM,
    f"{NO_ROOM}\n{NO_ROOM}",
    "NVIDIA RTX A6000 with CUDA capability sm_86 is not compatible with the current PyTorch installation.",
    TOO_OLD,
)


@pytest.mark.parametrize("line", FALLBACKS)
@pytest.mark.parametrize("steps", ["", STEPS])
def test_what_programs_go_on_after_explains_no_later_exception(line: str, steps: str) -> None:
    found = diagnosis(a_log=f"{line}\n{steps}{OWN_ERROR}")
    assert found.root is None
    assert (found.unknown and found.unknown.text) == "KeyError: 'abc'"


@pytest.mark.parametrize("line", [IPV6, NO_NUMBER, NO_ROUTE, "Received SIGTERM, reloading weights", NO_ROOM])
def test_what_is_harmless_is_no_cause_of_its_own(line: str) -> None:
    found = diagnosis(a_log=f"{line}\n{STEPS}")
    assert (found.root, found.unknown) == (None, None)


def test_what_programs_go_on_after_is_the_cause_where_nothing_else_is() -> None:
    assert root(a_log="Failed to import sgl_kernel: No module named 'sgl_kernel'\n") == "ENV022"
    assert root(a_log="Main process received SIGTERM, exiting\n") == "TRN011"
    assert root(a_log=f"{TOO_OLD}\nRuntimeError: No CUDA GPUs are available\n") == "ENV020"
    socket = "torch.distributed.DistNetworkError: The client socket has failed to connect to any network address of (n7, 29500)."
    assert root(a_log=f"{NO_NUMBER}\n{socket}\n") == "TRN009"


@pytest.mark.parametrize(
    "line",
    [
        "Received SIGTERM, saving checkpoint before the end",
        "Received SIGTERM, the job will restart from the queue",
        "Received SIGTERM on node restart-03, terminating",
        "Received SIGTERM, saving checkpoint and exiting\nsrun: error: n01: task 0: Exited with exit code 143",
    ],
)
def test_a_signal_at_the_end_of_a_log_ended_the_run_whatever_was_planned(line: str) -> None:
    assert root(a_log=f"{STEPS}{line}\n") == "TRN011"


RAISED = 'Traceback (most recent call last):\n  File "/a/b.py", line 1, in g\n'


@pytest.mark.parametrize(
    "line",
    [
        "RuntimeError: DataLoader worker (pid 88) exited unexpectedly",
        "my.pkg.StopRequestedError: termination was requested",
        "RuntimeError: cannot schedule new futures after shutdown",
    ],
)
def test_a_signal_explains_what_processes_write_that_it_ended_and_nothing_above_it(line: str) -> None:
    signal = "Received SIGTERM, shutting down\n"
    assert root(a_log=f"{STEPS}{signal}{RAISED}{line}\n") == "TRN011"
    assert root(a_log=f"{STEPS}{RAISED}{line}\n{signal}") != "TRN011"
    assert root(a_log=f"{NO_ROUTE}\n{RAISED}{line}\n") != "TRN009"


@pytest.mark.parametrize(
    "error",
    [
        "RuntimeError: CUDA error: an illegal memory access was encountered",
        "ValueError: reward for task gsm8k on GPUs is None",
        "RuntimeError: No CUDA GPUs are available",
    ],
)
def test_an_old_driver_explains_no_error_after_steps(error: str) -> None:
    assert root(a_log=f"{TOO_OLD}\n{STEPS}{RAISED}{error}\n") != "ENV020"


def test_an_old_driver_explains_only_errors_of_the_start_of_cuda() -> None:
    assert root(a_log=f"{TOO_OLD}\n{RAISED}RuntimeError: No CUDA GPUs are available\n") == "ENV020"
    assert root(a_log=f"{TOO_OLD}\n{RAISED}RuntimeError: Failed to infer device type\n") == "ENV020"
    assert root(a_log=f"{TOO_OLD}\n{RAISED}ValueError: reward for task gsm8k on GPUs is None\n") is None


@pytest.mark.parametrize(
    "line",
    [
        "(EngineCore_0 pid=123) ERROR 11-23 10:00:00 [core.py:700] ImportError: cannot load plugin: No module named 'own_plugin'",
        "2026-11-23 10:00:00 ERROR [agent.py:3] ImportError: No module named 'own_tools'",
    ],
)
def test_a_missing_module_at_the_level_of_an_error_explains_what_follows(line: str) -> None:
    assert root(a_log=f"{line}\n{RAISED}RuntimeError: Engine could not be started by the launcher\n") == "ENV022"


def test_a_warning_about_the_gpu_hides_no_error_that_confirms_it() -> None:
    warning = "NVIDIA B200 with CUDA capability sm_100 is not compatible with the current PyTorch installation."
    mismatch = "RuntimeError: cuBLAS returned CUBLAS_STATUS_ARCH_MISMATCH in gemm"
    assert root(a_log=f"{warning}\n{RAISED}{mismatch}\n") == "GPU007"


def test_another_way_hides_no_cause_where_it_leads_nowhere() -> None:
    full = "2026-11-23 10:00:00 ERROR [x.py:88] cannot save: No space left on device, falling back to"
    assert root(a_log=f"{full} /tmp also failed\n") == "CKP003"
    assert root(a_log=f"{full} /tmp because /ckpt failed\n") is None
    assert root(a_log=f"{STEPS}{RAISED}{OOM}; falling back to expandable segments\n") == "MEM002"
    nccl = "(W pid=3) ERROR RuntimeError: NCCL error: unhandled system error, falling back to TCP is not possible"
    assert root(a_log=f"{STEPS}{nccl}\nsrun: error: n01: task 0: Exited with exit code 1\n") == "TRN009"


def test_a_request_that_is_tried_again_is_no_cause() -> None:
    line = "ERROR 11-23 10:00:00 [config.py:137] Error retrieving safetensors: We couldn't connect to 'https://huggingface.co', retrying 1 of 2"
    assert root(a_log=f"{line}\nepoch\n") is None
    found = diagnosis(a_log=f"{line}\n{STEPS}")
    assert (found.root, found.unknown) == (None, None)


@pytest.mark.parametrize(
    "line",
    [
        NO_ROUTE,
        "[W1123 10:00:00.1 socket.cpp:752] [c10d] The client socket has timed out after 600000ms while trying to connect to (n07, 29500).",
        "[rank1]:[W1123 10:00:00.1 ProcessGroupGloo.cpp:12] Gloo connectFullMesh failed with [transport/tcp/pair.cc:144] no error",
    ],
)
def test_a_warning_of_a_lost_connection_is_the_cause_where_nothing_else_is(line: str) -> None:
    assert root(a_log=f"{line}\n") == "TRN009"
    assert root(a_log=f"{line}\nsrun: error: n01: task 0: Exited with exit code 1\n") == "TRN009"


@pytest.mark.parametrize("name", ["train.jsonl", "val.json", "test.jsonl", "train.parquet"])
def test_a_data_file_that_is_opened_by_hand_and_missing_is_the_cause(name: str) -> None:
    error = f"FileNotFoundError: [Errno 2] No such file or directory: '/data/own/{name}'"
    assert root(a_log=f"{RAISED}{error}\n") == "CFG007"
    written = RAISED.replace("in g\n", "in g\n    with open(path, 'w') as f:\n")
    assert root(a_log=f"{written}{error}\n") is None


@pytest.mark.parametrize(
    ("failure", "line"),
    [
        ("ENV007", "smemwatch: This job has exceeded its memory quota and will be terminated"),
        ("TRN009", "n7:11:12 [0] misc/ibvwrap.cc:94 NCCL WARN Call to ibv_create_qp failed"),
        ("ENV012", f"{RAISED}ImportError: Numba needs NumPy 2.2 or less. Got NumPy 2.4."),
        ("ENV023", f"{RAISED}RuntimeError: Could not find nvcc and default cuda_home='/opt/cuda' doesn't exist"),
    ],
)
def test_messages_of_other_programs_have_a_name(failure: str, line: str) -> None:
    assert root(a_log=f"{line}\n") == failure


def test_the_line_that_repeats_the_cause_is_no_consequence_of_it() -> None:
    repeated = "ray.exceptions.RayTaskError(OutOfMemoryError): ray::WorkerDict.actor_rollout_update_actor() (pid=4)\n"
    found = diagnosis(a_log=f"{repeated}loss.backward()\ntorch.OutOfMemoryError: CUDA out of memory.\n")
    assert [(hit.failure.slug, hit.failure.signature.role, hit.line.number) for hit in found.matches] == [
        ("task-error", Part.CASCADE, 1),
        ("backward-out-of-memory", Part.ROOT, 3),
    ]


def test_the_last_error_of_nccl_is_the_cause_and_the_echo_of_ray_is_no_waiting_rank() -> None:
    log = Path(__file__).parents[3] / "logs" / "TRN009" / "invalid_argument.log"
    found = diagnose([str(log)]).diagnosis
    assert found.root is not None
    assert (found.root.line.number, found.root.line.frame, found.root.line.caller) == (
        14,
        "/opt/venv/lib/python3.12/site-packages/torch/distributed/distributed_c10d.py:1 in barrier",
        "/opt/verl/verl/workers/fsdp_workers.py:230 in _build_model_optimizer",
    )
    assert found.root.failure.signature.remedy.startswith("Invalid argument or an operation that is not supported: ")
    assert [(hit.failure.slug, hit.line.number) for hit in found.matches] == [
        ("task-error", 6),
        ("collective-failed", 14),
    ]


@pytest.mark.parametrize(
    ("above", "name"),
    [
        ("INFO:     Shutting down\nINFO:     Waiting for connections to close.\n", "request-cancelled"),
        ("INFO:     Application startup complete.\n", "request-refused"),
    ],
)
def test_a_request_that_a_server_cancels_while_it_shuts_down_is_not_refused(above: str, name: str) -> None:
    error = "ERROR:    Exception in ASGI application\nasyncio.exceptions.CancelledError: Task cancelled\n"
    found = diagnosis(a_log=f"{above}{error}{SLOTS}\n")
    assert [(hit.failure.name, str(hit.failure.signature.role)) for hit in found.matches] == [
        (name, "cascade"),
        ("RUN005", "root"),
    ]
