"""The program of a job is not installed on its node.

## What it does
Finds the lines with which the gate, the launch and Slurm report that the program of a job does not exist.

## Why it breaks training
The node has another `PATH`, another image or no such file system than the login node. The job passes its gate, waits for
its runtime, and ends with status 127 before the first step.

## How to fix
Name the program with its full path on a file system that the node can read, or load its module or environment in the
shell from which you launch.

## Example
    skyrl-doctor gate: passed, but the command 'my-trainer' does not exist
    slurmstepd: error: execve(): my-trainer: No such file or directory
"""

from skyrl_doctor.core.signature import Signature

CAUSE = "the program {program} is not installed on the node of the job"
REMEDY = (
    "Name the program with a full path that the node can read, or load its module or environment before you launch."
)

TOOLKIT = "Load the CUDA module (or install the CUDA toolkit) and set `CUDA_HOME` to it before you launch: `$CUDA_HOME/bin/nvcc` must exist. In a container, use an image with the toolkit (`-devel`)."

ACTIVATE = "Activate the environment in the job script before this line (`source PATH/bin/activate`, `conda activate NAME`, `module load …`), and look there with `command -v accelerate torchrun python`. Missing there too: install it in that environment. Earlier errors of the same script (a failed `pip install`, `cd` or activation) are mostly the reason."
LAUNCHER = r"(?P<program>accelerate|deepspeed|torchrun)"

SIGNATURES = (
    Signature(
        pattern=r"\bskyrl-doctor gate: passed, but the command '(?P<program>[^'\n]{1,300})' does not exist",
        sample="skyrl-doctor gate: passed, but the command 'my-trainer' does not exist",
        explain=CAUSE,
        remedy=REMEDY,
        versions="skyrl-doctor",
    ),
    Signature(
        pattern=r"\bskyrl-train job: (?:trainer|runtime): (?:the runtime job ended(?: before it was ready)?: )?the program '(?P<program>[^'\n]{1,300})' was not found on this node",
        sample="skyrl-train job: trainer: the program 'my-trainer' was not found on this node",
        explain=CAUSE,
        remedy=REMEDY,
        versions="skyrl-train",
    ),
    Signature(
        pattern=r"\bslurmstepd(?:-\S{1,64})?: error: execve\(\): (?!\S{1,200}/slurm_script:)(?P<program>\S{1,300}): No such file or directory",
        sample="slurmstepd: error: execve(): my-trainer: No such file or directory",
        explain=CAUSE,
        remedy=REMEDY,
        versions="slurm",
    ),
    Signature(
        pattern=r"\bFATAL: {1,8}\"(?P<program>[^\"\n]{1,300})\": executable file not found in \$PATH",
        sample='FATAL:   "my-trainer": executable file not found in $PATH',
        explain="the program {program} is not installed in the job's container",
        remedy="Name the program with the full path that it has in the container (`apptainer exec IMAGE which PROGRAM` shows it), or use an image that has it.",
        versions="apptainer, singularity",
    ),
    Signature(
        pattern=r"\bCould not find (?P<program>nvcc) and default cuda_home=",
        sample="RuntimeError: Could not find nvcc and default cuda_home='/usr/local/cuda' doesn't exist",
        explain="a package compiles its kernels when it starts, and {program} is not installed on this node",
        remedy=TOOLKIT,
        versions="flashinfer",
    ),
    Signature(
        pattern=r"(?:^|[\s:])(?P<program>docker|apptainer|singularity|enroot|buildah|skopeo): (?:command )?not found\s*$|\bFileNotFoundError: [^\n]{0,40}No such file or directory: '(?P<other>docker|apptainer|singularity|enroot|buildah|skopeo)'",
        sample="/var/spool/slurmd/job4711/slurm_script: line 9: apptainer: command not found",
        explain="a program that starts containers is not installed on this node, or its module is not loaded",
        remedy="Load its module in the job script (`module avail apptainer`), or use nodes that have it. In a container, the host's container programs are not there.",
        versions="bash, dash, python",
        last_resort=True,
    ),
    Signature(
        pattern=rf"(?:^|[\s:]){LAUNCHER}: (?:command )?not found\s*$|\b(?:zsh|fish): (?:command not found|Unknown command): (?P<named>accelerate|deepspeed|torchrun)\s*$|\b(?:env|nohup|time|timeout|exec|srun|mpirun|sudo): (?:failed to run command )?[^\w\s/]{{0,3}}(?P<started>accelerate|deepspeed|torchrun)[^\w\s/]{{0,3}}: [^\n]{{0,40}}(?:No such file or directory|not found)",
        sample="/var/spool/slurmd/job4711/slurm_script: line 110: accelerate: command not found",
        explain="the program that starts the training is not installed in the environment of this shell",
        remedy=ACTIVATE,
        versions="bash, dash, zsh",
    ),
    Signature(
        pattern=r"(?:^|[\s:])(?:python3?(?:\.\d{1,2})?|uv|vllm|sglang|ray): (?:command )?not found\s*$",
        sample="/var/spool/slurmd/job4711/slurm_script: line 9: python: command not found",
        explain="a program of the environment is not installed on this node, or its environment is not active",
        remedy=ACTIVATE,
        versions="bash, dash",
        last_resort=True,
        passing=True,
    ),
    Signature(
        pattern=r"\bCUDA_HOME does not exist, unable to compile CUDA op|\bCUDA_HOME environment variable is not set\. Please set it to your CUDA install root",
        sample="deepspeed.ops.op_builder.builder.MissingCUDAException: CUDA_HOME does not exist, unable to compile CUDA op(s)",
        explain="a package compiles its kernels, and the CUDA toolkit with nvcc is not installed on this node",
        remedy=TOOLKIT,
        versions="deepspeed, torch",
        last_resort=True,
    ),
)
