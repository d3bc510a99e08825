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
NAMES = r"conda|mamba|micromamba|pip3?|uvx?|poetry|pixi|make|cmake|ninja|nvcc|srun|sbatch|mpirun|mpiexec|pdsh|kubectl|helm|huggingface-cli|llamafactory-cli|swift|trl|xtuner|pytest|node|npm|npx|ffmpeg|java"
ALSO_FILES = r"horovodrun|colossalai|composer|fabric|lightning|trtllm-\w{3,12}|numactl|nsys|ncu|hf|axolotl|tune|sky|torchx|ssh|sshpass|rsync|tmux|screen|git|git-lfs|wget|curl|aria2c|aws|gsutil|gcloud|rclone|ompi_info|orterun|prterun|prun|jsrun|aprun|flux|unzip|jq"
"""Names that are also those of files and directories: only a shell's message tells."""
OTHERS, IN_SHELLS = rf"(?:{NAMES})", rf"(?:{NAMES}|{ALSO_FILES})"
SHELL = "a program that the script starts is not installed on this node, or its environment or module is not loaded"
LOAD = "Look with `command -v PROGRAM` in the job itself: load its module (`module load …`), activate its environment, or install it there. `module` and `conda` are shell functions: begin the script with `#!/bin/bash -l`, or source their set-up file first."

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
        pattern=r"(?:^|[\s:])(?:python3?(?:\.\d{1,2})?|uv|vllm|sglang|ray): (?:command )?not found\s*$|\b(?:zsh|fish): (?:command not found|Unknown command): (?:python3?|uv|vllm|sglang|ray)\s*$|\b(?:env|nohup|time|timeout|exec|srun|sudo): (?:failed to run command )?[^\w\s/]{0,3}(?:python3?(?:\.\d{1,2})?|uv|vllm|sglang|ray)[^\w\s/]{0,3}: [^\n]{0,40}(?:No such file or directory|not found)",
        sample="/var/spool/slurmd/job4711/slurm_script: line 9: python: command not found",
        explain="a program of the environment is not installed on this node, or its environment is not active",
        remedy=ACTIVATE,
        versions="bash, dash",
        last_resort=True,
        passing=True,
    ),
    Signature(
        pattern=r"\bCUDA_HOME does not exist, unable to compile CUDA op|\bCUDA_HOME environment variable is not set\. Please set it to your CUDA install root|\bnvcc was not found\. {1,2}Are you sure your environment has nvcc available|\bname 'bare_metal_version' is not defined|\berror: command '\S{0,100}nvcc' failed: No such file|\[Errno 2\] No such file or directory: ':?(?:/[\w./-]{0,100}/)?nvcc'|\bmake(?:\[\d{1,2}\])?: (?:/[\w./-]{1,100}/)?nvcc: (?:No such file|[Cc]ommand not found)|\bCommand '[^\n]{0,10}nvcc\b[^\n]{0,80}returned non-zero exit status 127\b|\b\w{1,40}Error: [^\n]{0,60}(?:Could not find CUDA installation|CUDA_HOME is not set|\bnvcc (?:was )?not found|\bCould not find nvcc)\b",
        sample="deepspeed.ops.op_builder.builder.MissingCUDAException: CUDA_HOME does not exist, unable to compile CUDA op(s)",
        explain="a package compiles its kernels, and the CUDA toolkit with nvcc is not installed on this node",
        remedy=TOOLKIT,
        versions="deepspeed, torch",
        last_resort=True,
    ),
    Signature(
        pattern=r"\bslurm_script: line \d{1,6}: (?P<program>(?!docker|apptainer|singularity|enroot|buildah|skopeo|podman|accelerate|deepspeed|torchrun|python3?:|uv:|vllm:|sglang:|ray:)[\w+][\w+.-]{1,59}): command not found\s*$",
        sample="/var/spool/slurmd/job4711/slurm_script: line 8: mpirun: command not found",
        explain="the job's script starts {program}, which this shell does not find: it is not installed on this node, or its environment or module is not loaded",
        remedy=LOAD,
        versions="bash",
        last_resort=True,
        passing=True,
    ),
    Signature(
        pattern=rf"(?:^|[\s:/]){IN_SHELLS}: (?:command )?not found\s*$|\bzsh: command not found: {IN_SHELLS}\s*$|\b(?:env|nohup|time|timeout|exec|sudo|xargs): (?:failed to run command )?[^\w\s/]{{0,3}}{IN_SHELLS}[^\w\s/]{{0,3}}: [^\n]{{0,40}}(?:No such file or directory|not found)|\[Errno 2\] No such file or directory: '(?:/[\w./-]{{1,100}}/)?{OTHERS}'|\bmake(?:\[\d{{1,2}}\])?: {OTHERS}: (?:No such file or directory|[Cc]ommand not found)|(?:^|\s)(?:setsid: failed to execute |execvp: |numactl: execution of .)\S{{1,80}}: No such file or directory",
        unless=r"\bslurm_script: line",
        sample="train.sh: line 12: conda: command not found",
        explain=SHELL,
        remedy=LOAD,
        versions="bash, dash, zsh, python",
        last_resort=True,
        passing=True,
    ),
    Signature(
        pattern=r"\bCould not find compiler set in environment variable CUDACXX|\bNo CMAKE_CUDA_COMPILER could be found|^ {1,8}Failed to find nvcc\.|\bCMAKE_CUDA_COMPILER not set, after EnableLanguage|\bCould NOT find CUDA(?:Toolkit|_toolkit)? \(missing: [^\n]{0,80}\bCUDA|\bCannot find CMake executable|\bunable to find a build program corresponding to",
        sample="  Could not find compiler set in environment variable CUDACXX:",
        explain="a package is built here, and CMake finds no CUDA compiler or no build program",
        remedy=f"{TOOLKIT} `CUDACXX` must be unset or name that nvcc. CMake or Ninja missing: `pip install cmake ninja`.",
        versions="cmake",
        last_resort=True,
    ),
    Signature(
        pattern=r"\berror: Failed to spawn: `(?P<program>[^`\n]{1,200})`",
        sample="error: Failed to spawn: `vllm`",
        explain="uv run found no program {program} in the project's environment",
        remedy="Add the package that brings it (`uv add NAME`, or `uv run --with NAME`), or name an extra that has it (`uv sync --extra NAME`).",
        versions="uv",
        last_resort=True,
    ),
    Signature(
        pattern=r"\bexec: \"(?P<program>(?!\S{0,160}(?:agent[-_]server|new[ug]idmap|slirp4netns|pasta|netavark|aardvark|fuse-overlayfs|podman|docker-credential|docker-init|conmon|mksquashfs|\bbash\b))[^\"\n]{1,160})\": executable file not found in \$PATH",
        unless=r"\bFATAL: ",
        sample='Error: OCI runtime exec failed: exec failed: unable to start container process: exec: "pytest": executable file not found in $PATH: unknown',
        explain="the program {program} is not installed in the container or on the host that should start it",
        remedy="Install it in the image, or name it with its full path in the container. `--gpus` and a program of the host (nvidia-smi, git): look in the image with `command -v`.",
        versions="runc, crun, docker, go",
        last_resort=True,
        passing=True,
    ),
    Signature(
        pattern=r"\bcrun: executable file `(?P<program>(?!\S{0,160}\bbash\b)[^`\n]{1,160})` not found",
        sample="Error: crun: executable file `my-trainer` not found in $PATH: No such file or directory: OCI runtime attempted to invoke a command that was not found",
        explain="the program {program} is not installed in the container",
        remedy="Install it in the image, or name it with its full path in the container: look with `podman run --rm IMAGE command -v NAME`.",
        versions="crun, podman",
        last_resort=True,
        passing=True,
    ),
    Signature(
        pattern=r"\b(?:mpirun|mpiexec|prterun) was unable to find the specified executable file",
        sample="mpirun was unable to find the specified executable file, and therefore did not launch the job.",
        explain="mpirun found no such program on the nodes of the job",
        remedy="Name the program with a full path that each node can read, and pass the environment on (`mpirun -x PATH -x LD_LIBRARY_PATH`).",
        versions="open mpi",
    ),
    Signature(
        pattern=r"\b\w{0,40}(?:Error|Exception): (?:[^\n]{0,40}\b)?launcher '?(?P<program>\w{2,20})'? (?:is )?not (?:installed|found)\b",
        sample="RuntimeError: launcher 'pdsh' not installed.",
        explain="the launcher reaches the other nodes with {program}, which is not installed on this node",
        remedy="Install `{program}` on the node that starts the run (in a container: in its image), load its module, or choose another launcher that is there (`deepspeed --launcher pdsh`, `openmpi`, `slurm`). Under Slurm, `srun torchrun …` needs none of them.",
        versions="deepspeed",
    ),
    Signature(
        pattern=r"\bFileNotFoundError: \[Errno 2\] No such file or directory: '(?P<program>[\w+.-]{1,60})'\s*$",
        near=r"\bin _execute_child\b",
        within=6,
        sample="FileNotFoundError: [Errno 2] No such file or directory: 'ompi_info'",
        explain="Python starts the program {program}, which is not installed on this node or not on its `PATH`",
        remedy=LOAD,
        versions="python",
        last_resort=True,
    ),
    Signature(
        pattern=r"Error: (?:[^\n]{0,60}\b)?(?:horovodrun|Horovod) (?:does not find|couldn't find|could not find) an installed MPI\b|\bexecvp error on file \S{1,200} \(No such file or directory\)|\bunable to launch the specified application as it could not find an executable\b|\b\w{0,30}(?:Error|Exception): (?:Cannot|Could not|Can't|Unable to) (?:find|locate) (?:the )?[`'\"]?(?P<program>pdsh|mpirun|mpiexec|srun|ssh|rsync|kubectl|socat|nc|ray|tmux|screen|git|git-lfs|ffmpeg|nvidia-smi|numactl|ninja|cmake)[`'\"]?(?: (?:executable|binary|command|program|in|on)\b|[.,]|\s*$)|\b\w{0,30}(?:Error|Exception): [`'\"]?(?P<other>pdsh|mpirun|mpiexec|srun|ssh|rsync|kubectl|socat|git-lfs|ffmpeg|nvidia-smi|numactl|ninja|cmake)[`'\"]?(?: (?:executable|binary|command|program))? (?:is |was |must be )?(?:not (?:installed|found|available|on|in)|required|installed)\b",
        sample="RuntimeError: Could not find mpirun in PATH",
        explain="a program that the launch needs is not installed on this node, or its module is not loaded",
        remedy=LOAD,
        versions="horovod, skypilot, any",
        last_resort=True,
    ),
    Signature(
        pattern=r"\berror: can't find Rust compiler\b",
        sample="error: can't find Rust compiler",
        explain="a package is built from source here, and Rust's compiler is not installed",
        remedy="Install the package as a wheel: a newer pip (`pip install --upgrade pip`) finds more of them, `--only-binary :all:` allows nothing else. Or install Rust (`module load rust`, rustup) where the package is built.",
        versions="setuptools-rust",
    ),
)
