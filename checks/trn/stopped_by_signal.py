"""A signal from outside stopped the run.

## What it does
Finds the notes of torchrun, accelerate, LSF and PBS that the run was asked to stop. The cause is outside of the run, if nothing in
its log precedes the signal.

## Why it breaks training
SIGTERM comes from Slurm (cancel, preemption, time limit), Kubernetes, a spot instance that is taken back, or a person.
SIGHUP comes when a terminal closes, SIGINT with Ctrl-C. Work since the last checkpoint is lost.

## How to fix
Find the sender: `sacct -j JOB -o State,Reason,ExitCode`, the events of the pod, or the cloud's notices. Start long runs
under Slurm, in tmux or with setsid, so that closing a terminal does not end them: torchrun handles SIGHUP itself, so nohup
does not protect it. Resume from the last checkpoint.

## Example
    torch.distributed.elastic.multiprocessing.api.SignalException: Process 2811 got signal: 15
"""

from skyrl_doctor.core.signature import Signature

STOPPED = "SIGTERM from outside stopped the run: the scheduler, the platform or a person"
SERVER_STOPPED = "a signal (SIGTERM or SIGINT) stopped the vLLM server"
SENDER = (
    "If you did not stop the server, find the sender: {slurm:the end of the job (`sacct -j JOB -o State,ExitCode`), or |}the script "
    "that started it."
)
FIND_SENDER = (
    "Find the sender ({slurm:`sacct -j JOB -o State,ExitCode`, |}the events of the pod, the notices of the cloud)"
)
CTRL_C = "Ctrl-C (SIGINT) stopped the run"
RESUME = "then resume from the last checkpoint."

SIGNATURES = (
    Signature(
        pattern=r"\bSignalException: Process \d+ got signal: 15\b|\bReceived (?:15|Signals?\.SIGTERM) death signal",
        sample="torch.distributed.elastic.multiprocessing.api.SignalException: Process 2811 got signal: 15",
        explain=STOPPED,
        remedy=f"{FIND_SENDER}, {RESUME}",
        versions="torchrun",
        last_resort=True,
    ),
    Signature(
        pattern=r"\bSignalException: Process \d+ got signal: 1\b|\bReceived (?:1|Signals?\.SIGHUP) death signal|\bSending process \d+ closing signal SIGHUP\b",
        sample="torch.distributed.elastic.multiprocessing.api.SignalException: Process 2811 got signal: 1",
        explain="the terminal that started the run was closed (SIGHUP)",
        remedy=f"Start the run with `setsid`, in tmux or as a job of a scheduler, {RESUME} `nohup` alone does not protect it: torchrun handles SIGHUP itself.",
        versions="torchrun",
        last_resort=True,
    ),
    Signature(
        pattern=r"\bSignalException: Process \d+ got signal: 2\b|\bReceived (?:2|Signals?\.SIGINT) death signal|\bSending process \d+ closing signal SIGINT\b",
        sample="torch.distributed.elastic.multiprocessing.api.SignalException: Process 2811 got signal: 2",
        explain=CTRL_C,
        remedy=f"If no person did it, look for a script that sends SIGINT, {RESUME}",
        versions="torchrun",
        last_resort=True,
    ),
    Signature(
        pattern=r"(?:^|\s)KeyboardInterrupt:?$",
        sample="KeyboardInterrupt",
        explain="SIGINT stopped the program: Ctrl-C, or a batch system",
        remedy=f"{{slurm:`sacct -j JOB` has the state.|Some batch systems send it before SIGTERM when a job is ended or has reached a limit: LSF's `bhist -l JOB` has the reason.}} If neither was it, look for a script that sends SIGINT, {RESUME}",
        versions="python",
        last_resort=True,
    ),
    Signature(
        pattern=r"(?:^|\s)(?:KeyboardInterrupt: (?:MQLLMEngine )?|MQLLMEngine )terminated$",
        sample="KeyboardInterrupt: MQLLMEngine terminated",
        explain=SERVER_STOPPED,
        remedy=SENDER,
        versions="vllm 0.6 - 0.10",
        last_resort=True,
    ),
    Signature(
        pattern=r"\bAsyncLLM output_handler failed",
        near=r"\[shutdown\] [^\n]{0,60}received signal=SIG(?:TERM|INT)",
        within=60,
        sample="ERROR 01-15 16:00:12 [async_llm.py:704] AsyncLLM output_handler failed.",
        explain=SERVER_STOPPED,
        remedy=SENDER,
        versions="vllm",
        last_resort=True,
    ),
    Signature(
        pattern=r": line \d{1,6}: {1,4}\d{1,9} (?:Aborted|Terminated)\b",
        near=r"\*\*\* SIGTERM received at time=\d",
        within=120,
        sample="train.sh: line 115: 378056 Aborted                 (core dumped) python3 -m verl.trainer.main_ppo",
        explain=STOPPED,
        remedy=f"{FIND_SENDER}, {RESUME}",
        versions="ray",
        last_resort=True,
    ),
    Signature(
        pattern=r": line \d{1,6}: {1,4}\d{1,9} Terminated  .{0,300}\b(?:python|torchrun|accelerate|deepspeed|srun|vllm)",
        sample="run.sh: line 32: 40673 Terminated              CUDA_VISIBLE_DEVICES=0 python train.py --steps 100",
        explain=STOPPED,
        remedy=f"{FIND_SENDER}, {RESUME}",
        versions="bash",
        last_resort=True,
    ),
    Signature(
        pattern=r"\b(?:[Rr]eceived|[Cc]aught|[Gg]ot) (?:signal:? )?(?:Signals\.)?SIGTERM\b|\bSIGTERM (?:signal )?received\b|\b(?:[Rr]eceived|[Cc]aught|[Gg]ot) signal:? 15\b(?! ?\w)",
        unless=r"\*\*\* |\bsystemd-\w{1,20}\[",
        sample="Received SIGTERM, terminating subprocesses and exiting",
        explain=STOPPED,
        remedy=f"{FIND_SENDER}, {RESUME}",
        versions="any",
        last_resort=True,
        passing=True,
    ),
    Signature(
        pattern=r"\b(?:[Rr]eceived|[Cc]aught|[Gg]ot) (?:signal:? )?(?:Signals\.)?SIGINT\b|\bSIGINT (?:signal )?received\b|\b(?:[Rr]eceived|[Cc]aught|[Gg]ot) signal:? 2\b(?! ?\w)|\b[Ii]nterrupted by (?:the )?user\b|\b(?:[Ss]topp|[Ii]nterrupt|[Ee]xit|[Aa]bort)(?:ed|ing) (?:due to|by|on|after) (?:a )?(?:[Kk]eyboard ?[Ii]nterrupt|[Cc]trl-[Cc])\b|\b(?:[Kk]eyboard ?[Ii]nterrupt|[Cc]trl-[Cc]) (?:received|detected)|\b[Dd]etected [Kk]eyboard ?[Ii]nterrupt\b",
        unless=r"\*\*\* ",
        sample="Received SIGINT, saving a checkpoint before the exit",
        explain=CTRL_C,
        remedy=f"If no person did it, look for a script that sends SIGINT, {RESUME}",
        versions="any",
        last_resort=True,
        passing=True,
    ),
    Signature(
        pattern=r"\bMain process received SIG(?P<signal>INT|TERM), exiting",
        sample="[2026-03-02 08:52:31,001] [INFO] [launch.py:327:sigkill_handler] Main process received SIGINT, exiting",
        explain="SIG{signal} stopped DeepSpeed's launcher: Ctrl-C (SIGINT), or the scheduler, the platform or a person (SIGTERM)",
        remedy=f"If no person did it: {FIND_SENDER[0].lower()}{FIND_SENDER[1:]}, {RESUME}",
        versions="deepspeed",
        fatal=False,
    ),
    Signature(
        pattern=r"\bTERM_(?P<why>OWNER|FORCE_OWNER|ADMIN|FORCE_ADMIN|EXTERNAL_SIGNAL|PREEMPT|REQUEUE_OWNER|REQUEUE_ADMIN|BUCKET_KILL|LOAD): job killed\b|\b[Jj]ob deleted at request of (?P<who>\S{1,100})",
        sample="TERM_ADMIN: job killed by root or LSF administrator.",
        explain="the scheduler ended the job on request: a user, an administrator or another job",
        remedy=f"`bhist -l JOB` (LSF) or `tracejob JOB` (PBS) names the sender, {RESUME}",
        versions="lsf, pbs",
        last_resort=True,
    ),
    Signature(
        pattern=r"\bexitcode  : -15\b|\bfailed \(exitcode: -15\) local_rank: |\bSignal 15 \(SIGTERM\) received by PID \d|\bdied with <Signals\.SIGTERM: 15>|\bterminated with signal SIGTERM\b|\bexits with return code = -15\b",
        sample="E0302 09:14:37.123000 81200 torch/distributed/elastic/multiprocessing/api.py:869] failed (exitcode: -15) local_rank: 0 (pid: 81234) of binary: /usr/bin/python",
        explain="a process of the run was ended with SIGTERM, and no line has the reason: the scheduler, the platform or a person",
        remedy=f"{FIND_SENDER}, {RESUME}",
        versions="torchrun, deepspeed, python",
        last_resort=True,
        passing=True,
    ),
    Signature(
        pattern=r"\bsrun: sending Ctrl-C to (?:StepId|job)\b",
        sample="srun: sending Ctrl-C to StepId=4711.0",
        explain=CTRL_C,
        remedy=f"If no person did it, look for a script that sends SIGINT, {RESUME}",
        versions="slurm",
        last_resort=True,
        passing=True,
    ),
)
