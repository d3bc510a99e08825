"""Which lines report errors, and how much each says."""

import pytest

from skyrl_doctor.logs.match.errors import ERROR, Weight, is_error, looks_like_error, weigh
from skyrl_doctor.logs.match.patterns import compile_pattern


@pytest.mark.parametrize(
    "text",
    [
        "RuntimeError: Expected 3D tensor but got 4D",
        "[rank1]: ValueError: rows were skipped",
        "ERROR 03-02 09:14:03 [core.py:843] KeyError: 'x'",
        "Error: could not get runtime",
    ],
)
def test_an_error(text: str) -> None:
    assert is_error(text)


@pytest.mark.parametrize(
    "text",
    [
        'ERROR 03-02 09:14:03 [core.py:843]   File "a.py", line 3, in b',
        "ERROR 03-02 09:14:03 [core.py:843]     return KeyError",
        "ERROR handling: trap set",
        "+ echo ERROR",
        "+    except own.errors.RequestException:",
        "worker: KeyError: 'x' (expected while reproducing)",
        "WARNING: 503, retrying: ConnectionError: refused",
        "0 errors",
    ],
)
def test_no_error(text: str) -> None:
    assert not is_error(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("RuntimeError: odd (run with NCCL_DEBUG=INFO for details)", Weight.EXCEPTION),
        ("gpu07: TypeError: odd", Weight.EXCEPTION),
        ("gpu07:9:9 [3] p2p.cc:288 NCCL WARN odd call failed : odd", Weight.ERROR),
        ("gpu07:9:9 [3] proxy.cc:15 NCCL WARN [Proxy Service 1] Failed to execute operation Connect", Weight.NOTE),
        ("ERROR 03-02 09:57:41 [core.py:459] Invocation of odd_rpc method failed", Weight.NOTE),
        ("Exception in thread Thread-3 (run):", Weight.NOTE),
        ("ERROR 03-02 09:14:03 [core.py:843] AssertionError", Weight.EXCEPTION),
        ("Exception: Request error for 5 times, returning None.", Weight.EXCEPTION),
        ("ValueError: max retries 3 exceeded, expected a row", Weight.EXCEPTION),
        ("2026-03-02 09:14:03.120 | ERROR    | own.main:run:5 - odd", Weight.ERROR),
        ("2026-03-02 09:14:03.120 | ERROR    | own.main:run:5 - [FATAL] odd, skipping", Weight.ERROR),
        ("E1122 10:00:00.006647   33721 server.cc:213]    Failed accept4: odd", Weight.ERROR),
        ("ERRO[0014] odd", Weight.ERROR),
        ("Mar 02 04:01:14 gpu07 runtime[123]: 9:14AM ERR odd error=full", Weight.ERROR),
        ("2026-03-02T09:14:03Z FTL odd", Weight.ERROR),
        ("2026-03-02 09:14:03 [error    ] odd", Weight.ERROR),
        ("##[error]odd", Weight.ERROR),
        ("/w/own.cpp:128:26: error: odd", Weight.ERROR),
        ("ROCm error: odd", Weight.ERROR),
        ("gpu07:1:2 [0] socket.h:403 NCCL WARN Connect to 10.0.0.1<5> failed : odd", Weight.ERROR),
        ("sh: 1: nvidia-smi: not found", Weight.SHELL),
        ("malloc(): corrupted top size", Weight.ERROR),
        ("*** stack smashing detected ***: terminated", Weight.ERROR),
        ("[E socket.cpp:462] [c10d] odd", Weight.ERROR),
        ("[W socket.cpp:663] [c10d] ERROR odd", None),
        ('job 4711 exceeded hard wallclock time "all.q"', Weight.ERROR),
        ("\t(0) Abnormal termination (signal 9)", Weight.ERROR),
        ("Exited with exit code 140.", Weight.NOTE),
        ("There are not enough slots available in the system to satisfy the 4", Weight.ERROR),
        ("A sequential map was requested, but not enough node entries", Weight.ERROR),
        ("There are no allocated resources for the application:", Weight.ERROR),
        ("Your job has requested more processes than the ppr for this topology", Weight.ERROR),
        ("A request was made to bind to that would result in binding more", Weight.ERROR),
        ("A daemon (pid 81) died unexpectedly with status 127 while attempting", Weight.ERROR),
        ("PRTE has lost communication with a remote daemon.", Weight.ERROR),
        ("mpirun has exited due to process rank 1 with PID 0 on", Weight.ERROR),
        ("prterun detected that one or more processes exited with non-zero status", Weight.NOTE),
        ("It looks like MPI_INIT failed for some reason; your parallel process is", Weight.ERROR),
        ("[gpu07:81] [[1,0],0] ORTE_ERROR_LOG: Not found in file ess_hnp_module.c", Weight.ERROR),
        ("[mpiexec@gpu07] HYDU_sock_connect (utils/sock.c:145): no way to connect", Weight.ERROR),
        ("=   BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES", Weight.ERROR),
        ("Host key verification failed.", Weight.ERROR),
        ("gpu08: Permission denied (publickey,password).", Weight.ERROR),
        ("OCI runtime exec failed: exec failed: unable to start container process", Weight.ERROR),
        ("Cannot connect to the Docker daemon at unix:///var/run/docker.sock.", Weight.ERROR),
        ("nvidia-container-cli: mount error: file creation failed: /x", Weight.ERROR),
        ("unknown flag: --gpus", Weight.ERROR),
        ("  × Failed to build `own==1.0`", Weight.NOTE),
        ("RuntimeError: Ninja build failed. Ninja output:", Weight.NOTE),
        ("ERROR 03-02 04:01:14 [core.py:718] Last error:", Weight.NOTE),
        ("own/own.cu(12): error: identifier `panel` is undefined", Weight.ERROR),
        ("An error occurred (AccessDenied) when calling the GetObject operation", Weight.ERROR),
        ("run.sh: line 12: syntax error near unexpected token `fi'", Weight.ERROR),
        ("run.sh: line 9: [: too many arguments", Weight.SHELL),
        ("Makefile:3: *** missing separator.  Stop.", Weight.ERROR),
        ("ld: cannot find -lcuda", Weight.ERROR),
        ("Received sigquit from a child process. It usually means the child failed.", Weight.NOTE),
        ("bind: Address already in use", Weight.ERROR),
        (
            "ERROR 03-02 09:14:03 [serving.py:215] Error with model error=ErrorInfo(message='The model `m` does not exist.', code=404)",
            Weight.TOLERATED,
        ),
        (
            "ERROR 03-02 09:14:03 [serving.py:215] Error with model error=ErrorInfo(message='odd', code=500)",
            Weight.ERROR,
        ),
        ("错误：odd", Weight.ERROR),
        ("3 errors occurred:", Weight.NOTE),
        ("LLVM ERROR: odd", Weight.EXCEPTION),
        ("TimeoutError: timed out", Weight.NOTE),
        ("ValueError: Caught ValueError in DataLoader worker process 3.", Weight.NOTE),
        ("FATA[0014] odd", Weight.ERROR),
        ('Apr 27 20:19:50 dockerd[1]: time="2026" level=error msg="odd"', Weight.ERROR),
        ("[1843290.113311] NVRM: Xid (PCI:0000:44:00): 79, GPU has fallen off the bus.", Weight.ERROR),
        ("[2026-03-02 09:14:03,500 C 29 29] (gcs_server) id.cc:2: odd", Weight.ERROR),
        (
            "[2026-03-02 09:14:03,500 E 29 29] (raylet) worker_pool.cc:2: have not registered within the timeout",
            Weight.ERROR,
        ),
        ("ERROR config: 3 rows, expected 4", Weight.ERROR),
        ("bash: ./run.sh: Permission denied", Weight.SHELL),
        ("run.sh: line 3: /opt/own/activate: No such file or directory", Weight.SHELL),
        ("rm: cannot remove 'own': No such file or directory", Weight.SHELL),
        ("CondaError: Run 'conda init' before 'conda activate'", Weight.SHELL),
        ("2026-03-02 17:01:52 | ERROR | stderr | INFO:     Started server process [4463]", None),
        ("2026-03-02 17:01:52 | ERROR | stderr | 50%|#####     | 1/2", None),
        ("2026-03-02 17:01:52 | ERROR | stderr | ValueError: odd", Weight.EXCEPTION),
        ("/var/spool/slurmd/job00123/slurm_script: line 14: HF_HOME: unbound variable", Weight.ERROR),
        ("gpu07:21:25 [0] misc/shm.cc:88 NCCL WARN Error: failed to extend /dev/shm/nccl-W", Weight.ERROR),
        ("Invalid handle. Cannot load symbol cublasLtGetVersion", Weight.ERROR),
        ("KeyboardInterrupt", Weight.NOTE),
        ("slurmstepd: error: child 3851 failed with error code: 1", Weight.NOTE),
        ("2026-03-02 09:14:03,120\tERR cli.py:72 -- Job 'raysubmit_1' failed", Weight.NOTE),
        ("[2026-03-02 09:14:03,500 E 29 29] (raylet) metrics.cc:2: Failed to export", Weight.TOLERATED),
        ("2026-03-02 09:14:03,120 - own - ERROR - odd, falling back to 3", Weight.TOLERATED),
        ("TimeoutError: odd, retrying in 3 s", Weight.TOLERATED),
        ("E0000 00:00:1772442843.12   81234 cuda_dnn.cc:8310] Unable to register cuDNN factory", Weight.TOLERATED),
        (
            "[E socket.cpp:500] [c10d] The server socket has failed to listen on any local network address.",
            Weight.TOLERATED,
        ),
        (
            "RuntimeError: The server socket has failed to listen on any local network address. port: 1",
            Weight.EXCEPTION,
        ),
        (
            "1/4 [HAMI-core ERROR (pid:3 thread=7 allocator.c:119)]: cuMemoryAllocate failed res=2",
            Weight.TOLERATED,
        ),
        ("WARNING 03-02 09:14:03 [core.py:843] ValueError: odd", None),
        ("[rank0]:[W302 09:15:04.1 ProcessGroupNCCL.cpp:1538] Warning: WARNING: ERROR", None),
        ("an odd WARNING: ERROR of a cache", None),
    ],
)
def test_the_weight_of_an_error(text: str, expected: Weight | None) -> None:
    assert compile_pattern(ERROR).search(text.encode())
    assert weigh(text) is expected


@pytest.mark.parametrize(
    "text",
    [
        "bash: 第 3 行: 81234 已杀死 python train.py",
        "run.sh: Zeile 3: 81234 Getötet python train.py",
        "段错误 (核心已转储)",
        "Speicherzugriffsfehler (Speicherabzug geschrieben)",
        "Erreur de segmentation",
        "bash: nvcc: 未找到命令",
        "bash: nvcc : commande introuvable",
        "tar: /data: 没有那个文件或目录",
        "cp: Fehler beim Schreiben von '/a': Auf dem Gerät ist kein Speicherplatz mehr verfügbar",
        "fork: 资源暂时不可用",
        "odd.cu:1237: odd: block: [3,0,0], thread: [0,0,0] Assertion `odd < size` failed.",
        "Uncaught exception: odd",
        "thrust::system::system_error: odd",
        "CUDA driver error: odd",
        "OpenBLAS odd: pthread_create failed for thread 35 of 48: Operation not permitted",
        "cudaErrorUnknown",
        "mpirun noticed that process rank 2 with PID 8 on node gpu07 exited on signal 9 (odd).",
        "=>> PBS: job killed: ncpus 3.2 exceeded limit 1 (sum)",
        "TERM_OTHER: job killed",
    ],
)
def test_messages_of_the_system_are_errors_in_any_language(text: str) -> None:
    assert looks_like_error(text)


@pytest.mark.parametrize(
    "text",
    [
        "tokens 已杀死 2",
        "cudaErrorNotReady",
        "gpu07:9:9 [3] NCCL WARN NET/OFI odd call failed",
        "the assertion `odd` failed in 3 of 10 rollouts",
        "step 81234 Morte 3",
    ],
)
def test_words_of_the_system_within_a_line_are_none(text: str) -> None:
    assert not looks_like_error(text)


@pytest.mark.parametrize(
    "text",
    [
        "A request was made to bind a process. While the system",
        "Server on 8000; port 8001 is already in use by the exporter",
        "Connection closed by 10.0.0.5 port 443",
        "This is a warning only; your job will continue, though performance may",
    ],
)
def test_what_looks_like_no_error(text: str) -> None:
    assert not looks_like_error(text)
