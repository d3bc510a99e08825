"""Which line of a log is the first error, and which logs hold none: texts in the form of many programs."""

import pytest

from skyrl_doctor.logs.cause.root_cause import find_root_cause
from skyrl_doctor.logs.judge.files import scan_chunks
from skyrl_doctor.logs.match.patterns import installed_patterns

WORK = "loading the rows\n" * 6
TRACE = 'Traceback (most recent call last):\n  File "/home/me/own/a.py", line 3, in f\n    go()\n'


def found(text: str) -> int | None:
    """The number of the line that is shown as the failure, known or not."""
    diagnosis = find_root_cause([scan_chunks("a.log", [text.encode()], installed_patterns())])
    shown = diagnosis.root.line if diagnosis.root else diagnosis.unknown
    return shown.number if shown else None


FAILED = {
    "loguru": (
        "2026-03-02 09:00:01.123 | INFO     | own.run:go:3 - start\n2026-03-02 09:00:02.123 | ERROR    | own.run:go:9 - the panel is gone\n",
        2,
    ),
    "loguru_trace": (
        f"2026-03-02 09:00:02.123 | ERROR    | own.run:go:9 - it broke\n{TRACE}ValueError: odd panel\n",
        5,
    ),
    "glog": (
        "I0302 09:00:01.000001  4411 own.cc:10] start\nE0302 09:00:02.000001  4411 own.cc:44] the panel is gone\n",
        2,
    ),
    "glog_fatal": (
        "F0302 09:00:02.000001  4411 own.cc:44] Check failed: rows > 0 (0 vs. 0)\n*** Aborted at 1772442002 ***\n",
        1,
    ),
    "logrus": (
        'time="2026-03-02T09:00:01Z" level=info msg="start"\ntime="2026-03-02T09:00:02Z" level=fatal msg="the panel is gone"\n',
        2,
    ),
    "journald": (
        "Mar 02 09:00:01 gpu07 systemd[1]: Started own.service.\nMar 02 09:00:02 gpu07 systemd[1]: own.service: Failed with result 'exit-code'.\n",
        2,
    ),
    "ray": (
        f"\x1b[36m(Trainer pid=7)\x1b[0m start\n{''.join(chr(27) + '[36m(Trainer pid=7)' + chr(27) + '[0m ' + line + chr(10) for line in (TRACE + 'KeyError: 7').splitlines())}",
        5,
    ),
    "rust_panic": (
        "start\nthread 'main' panicked at src/main.rs:7:9:\nindex out of bounds: the len is 3 but the index is 7\n",
        2,
    ),
    "rust_compiler": (
        '   Compiling own v0.1.0\nerror[E0308]: mismatched types\n --> src/main.rs:4:18\nerror: could not compile `own` (bin "own") due to 1 previous error\n',
        2,
    ),
    "go_panic": (
        "start\npanic: runtime error: index out of range [7] with length 3\n\ngoroutine 1 [running]:\nmain.main()\n\t/own/main.go:9 +0x1d\nexit status 2\n",
        2,
    ),
    "terminate": (
        "start\nterminate called after throwing an instance of 'std::runtime_error'\n  what():  the panel is gone\nAborted (core dumped)\n",
        2,
    ),
    "java": (
        'start\nException in thread "main" java.lang.IllegalStateException: the panel is gone\n\tat own.Main.main(Main.java:9)\nCaused by: java.io.IOException: closed\n',
        2,
    ),
    "npm": ("npm ERR! code ELIFECYCLE\nnpm ERR! own@1.0.0 build: `tsc`\n", 1),
    "make": (
        "gcc -c own.c\nown.c:7:3: error: expected ';' before 'return'\nmake: *** [Makefile:4: own.o] Error 1\n",
        2,
    ),
    "make_alone": ("cc own\nmake[2]: *** [Makefile:4: own.o] Error 1\nmake: *** [all] Error 2\n", 2),
    "cmake": (
        '-- The C compiler identification is GNU 12.2.0\nCMake Error at CMakeLists.txt:7 (find_package):\n  By not providing "FindOwn.cmake"\n-- Configuring incomplete, errors occurred!\n',
        2,
    ),
    "gcc_fatal": (
        "g++ own.cpp\nown.cpp:1:10: fatal error: own.h: No such file or directory\ncompilation terminated.\n",
        2,
    ),
    "bash": ("start\n./run.sh: line 4: own-train: command not found\n", 2),
    "bash_before_done": ("start\n./run.sh: line 4: own-train: command not found\nDONE\n", 2),
    "python_not_there_then_done": (f"./run.sh: line 4: python: command not found\n{WORK}DONE\n", 1),
    "exception_then_done": (f"{TRACE}ValueError: odd panel\n{WORK}DONE\n", 4),
    "module_alone": ('Lmod has detected the following error: The following module(s) are unknown: "own/1.2"\n', 1),
    "module_then_failed": (
        f"cp: cannot stat '/own/a': No such file or directory\n{WORK}{TRACE}ValueError: odd panel\n",
        11,
    ),
    "passed_over_then_failed": (
        "+ cp a b\ncp: cannot stat 'a': No such file or directory\n+ true\n+ mv c d\nmv: cannot stat 'c': No such file or directory\n",
        5,
    ),
    "slurm_task": (f"{TRACE}ValueError: odd panel\nsrun: error: gpu07: task 0: Exited with exit code 1\n", 4),
    "slurm_alone": ("start\nsrun: error: gpu07: task 0: Exited with exit code 1\n", 2),
    "pbs": ("start\n=>> PBS: job killed: walltime 3601 exceeded limit 3600\n", 2),
    "lsf": (
        "Started at Tue Nov 24 21:12:13 2020\nTerminated at Tue Nov 24 21:12:41 2020\n\nTERM_OWNER: job killed by owner.\nExited with exit code 130.\n",
        4,
    ),
    "lsf_error": (
        f"{TRACE}ValueError: odd panel\nStarted at Tue Nov 24 21:12:13 2020\nTerminated at Tue Nov 24 21:12:41 2020\nExited with exit code 1.\n",
        4,
    ),
    "kubernetes": (
        '  Normal   Scheduled  9m    default-scheduler  Successfully assigned own/own-0 to gpu07\n  Warning  FailedMount  2m  kubelet  MountVolume.SetUp failed for volume "own"\n',
        2,
    ),
    "mpi_abort": ("start\nMPI_ABORT was invoked on rank 3 in communicator MPI_COMM_WORLD\nwith errorcode 7.\n", 2),
    "llama_cpp": (
        "srv  update_slots: all slots are idle\nsrv    send_error: task id = 0, error: the input is not one of this model\nsrv  log_server_r: request: POST /v1/chat/completions 127.0.0.1 400\n",
        2,
    ),
    "llama_cpp_long": (
        "srv  update_slots: all slots are idle\nsrv    send_error: task id = 0, error: request (44496 tokens) exceeds the available context size (32768 tokens), try increasing it\n",
        2,
    ),
    "llama_cpp_template": (
        (
            "main: chat template, example_format: '<|im_start|>system\nhi<|im_end|>\n<|im_start|>assistant\n'\n"
            "srv  update_slots: all slots are idle\n"
            "srv    send_error: task id = 0, error: the input is not one of this model\n"
            + "slot      release: id  0 | task 0 | stop processing\n"
            * 8
        ),
        6,
    ),
    "julia": (
        "start\nERROR: LoadError: UndefVarError: `panel` not defined\nStacktrace:\n [1] top-level scope\n   @ /own/a.jl:3\n",
        2,
    ),
    "device_assert": (
        (
            "/pytorch/aten/src/ATen/native/cuda/Own.cu:42: own_check: block: [0,0,0], thread: [3,0,0] Assertion `a <= b` failed.\n"
            f"{TRACE}torch.AcceleratorError: CUDA error: device-side assert triggered\n"
            "CUDA kernel errors might be asynchronously reported at some other API call, so the stacktrace below might be incorrect.\n"
            "For debugging consider passing CUDA_LAUNCH_BLOCKING=1\n"
        ),
        1,
    ),
    "device_assert_logged": (
        (
            "own/Own.cu:42: own_check: block: [0,0,0], thread: [3,0,0] Assertion `a <= b` failed.\n"
            "ERROR 11-01 12:31:40 [core.py:781] torch.AcceleratorError: CUDA error: device-side assert triggered\n"
            "ERROR 11-01 12:31:40 [core.py:781] CUDA kernel errors might be asynchronously reported at some other API call\n"
        ),
        1,
    ),
    "pytest_of_the_run": (
        "FAILED tests/test_own.py::test_a - ImportError: the panel has no backend\ntests/test_own.py:7: in test_a\n    load()\n",
        1,
    ),
    "trainer_nan": (f"{WORK}{{'eval_loss': nan, 'eval_runtime': 0.19, 'epoch': 5.0}}\nFine-tuning completed!\n", 7),
    "trainer_zero_loss": (f"{WORK}{{'loss': 0.0, 'grad_norm': nan, 'learning_rate': 1e-06, 'epoch': 5.0}}\n", 7),
    "segfault": ("start\nrun.sh: line 3:  4411 Segmentation fault      (core dumped) ./own\n", 2),
}

HEALTHY = {
    "lmod": f'Lmod has detected the following error: The following module(s) are unknown: "own/1.2"\n{WORK}DONE\n',
    "copy": f"cp: cannot stat '/own/a': No such file or directory\n{WORK}All done.\n",
    "no_smi": f"run.sh: line 3: nvidia-smi: command not found\n{WORK}Training finished successfully\n",
    "passed_over": "+ cp a b\ncp: cannot stat 'a': No such file or directory\n+ true\nINFO:    Adding labels\nINFO:    Creating SIF file...\n",
    "passed_over_twice": "+ rm a\nrm: cannot remove 'a': No such file or directory\n+ true\n+ rm b\nrm: cannot remove 'b': No such file or directory\n+ :\n",
    "safetensors": (
        "ERROR 03-09 18:43:53 [repo_utils.py:47] Error retrieving safetensors: Repo id must be in the form 'name' or 'space/name': '/data/own'., retrying 1 of 2\n"
        "ERROR 03-09 18:43:55 [repo_utils.py:45] Error retrieving safetensors: Repo id must be in the form 'name' or 'space/name': '/data/own'.\n"
        "INFO 03-09 18:45:30 [gpu_model_runner.py:4221] Model loading took 15.57 GiB memory and 69.1 seconds\n"
    ),
    "lsf": "start\n\nStarted at Tue Nov 24 21:12:13 2020\nTerminated at Tue Nov 24 21:12:41 2020\n\nSuccessfully completed.\n",
    "cuda_versions": "Installed CUDA version 12.4 does not match the version torch was compiled with 12.8 but since the APIs are compatible, accepting this combination\n",
    "llama_cpp": (
        "srv  log_server_r: request: POST /v1/chat/completions 10.0.0.7 200\n" * 3
        + "srv    send_error: task id = 3, error: the input is not one of this model\nsrv  log_server_r: request: POST /v1/chat/completions 10.0.0.7 400\n"
    ),
    "cuda_advice": "ERROR 11-01 12:31:40 [core.py:781] For debugging consider passing CUDA_LAUNCH_BLOCKING=1\n",
    "glog": "W0302 09:00:01.000001  4411 own.cc:10] error rate 0.1\nI0302 09:00:02.000001  4411 own.cc:44] no errors\n",
    "make": "gcc -Werror -c error.c\nmake: Nothing to be done for 'all'.\n",
    "rust": "   Compiling thiserror v1.0.69\n    Finished `release` profile [optimized] target(s) in 2.11s\n",
    "kubernetes": "own-0   1/1   Running   0   9m\n  Normal  Pulled  9m  kubelet  Container image already present on machine\n",
    "trainer": "{'loss': 0.31, 'grad_norm': 1.2, 'learning_rate': 1e-06, 'epoch': 5.0}\n{'eval_loss': 0.29, 'epoch': 5.0}\n",
    "trainer_overflow": "{'loss': 1.31, 'grad_norm': nan, 'learning_rate': 1e-06, 'epoch': 0.1}\n{'loss': 0.9, 'grad_norm': 2.1, 'epoch': 0.2}\n",
    "tests_of_an_agent": "(AgentLoopWorker pid=4) prompt\nray::Worker actor_rollout_ref\nFAILED tests/test_own.py::test_a - ImportError: the panel has no backend\n",
}


@pytest.mark.parametrize("name", FAILED)
def test_the_first_error(name: str) -> None:
    text, number = FAILED[name]
    assert found(text) == number


def test_the_report_of_a_device_side_assertion_is_no_other_error() -> None:
    text, _ = FAILED["device_assert"]
    assert find_root_cause([scan_chunks("a.log", [text.encode()], installed_patterns())]).groups == ()


@pytest.mark.parametrize("name", HEALTHY)
def test_a_healthy_log(name: str) -> None:
    assert found(HEALTHY[name]) is None
