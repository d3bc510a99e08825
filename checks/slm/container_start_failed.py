"""pyxis or enroot did not start the job's container.

## What it does
Finds the errors of Slurm's container plug-in pyxis and of enroot below it, and names the part that failed: the import of the
image, a directory that cannot be written, a hook for the GPU, the command in the image.

## Why it breaks training
The task ends before the first line of the job's script. `srun` only reports exit code 1.

## How to fix
A squashfs file needs a leading `/` or `./`, otherwise it is taken for a name in a registry. A private registry needs
`~/.config/enroot/.credentials`. Directories such as `/run/enroot` are the site's to configure.

## Example
    slurmstepd: error: pyxis: couldn't start container
"""

from skyrl_doctor.core.signature import Signature

SIGNATURES = (
    Signature(
        pattern=r"pyxis: .{0,40}(?:mkdir|create directory|couldn't mkdir):? ?(?:cannot create directory )?'?(?P<path>/[^\s':]{1,200})",
        sample="slurmstepd: error: pyxis:     mkdir: cannot create directory '/run/enroot': Permission denied",
        explain="enroot cannot create {path} on this node",
        remedy="The site configures this directory (ENROOT_RUNTIME_PATH, ENROOT_DATA_PATH or ENROOT_CACHE_PATH in /etc/enroot/enroot.conf): ask the administrators for one that users may write.",
        versions="pyxis, enroot",
    ),
    Signature(
        pattern=r"nvidia-container-cli: requirement error: .{0,60}cuda ?(?:>=|&gt;=) ?(?P<cuda>[\d.]+)",
        sample="slurmstepd: error: pyxis:     nvidia-container-cli: requirement error: unsatisfied condition: cuda>=12.8, please update your driver to a newer version, or use an earlier cuda container",
        explain="the image needs a driver for CUDA {cuda}, and the node's driver is older",
        remedy="Use an image for an older CUDA (`nvidia-smi` prints what the driver supports), or nodes with a newer driver. `NVIDIA_DISABLE_REQUIRE=1` turns the check off; then CUDA itself may refuse.",
        versions="libnvidia-container",
        refines=("SLM010",),
    ),
    Signature(
        pattern=r"nvidia-container-cli: .{0,60}file lookup failed: (?P<path>/\S{1,300}): permission denied",
        sample="slurmstepd: error: pyxis:   nvidia-container-cli: container error: file lookup failed: /proc/812/root/scratch/enroot/data/user-7/pyxis_train/etc/debian_version: permission denied",
        explain="nvidia-container-cli may not read the container's files: {path}",
        remedy="The directory of the container belongs to another user, or lies on a file system that denies it (`ls -ld` on each part of the path). A named container (`--container-name`) may be of another user or have an unexpanded `$` in its name: use a new name. Otherwise ask the administrators for a local ENROOT_DATA_PATH.",
        versions="libnvidia-container",
        refines=("SLM010",),
    ),
    Signature(
        pattern=r"nvidia-container-cli: .{0,60}load library failed: libnvidia-ml\.so|nvidia-container-cli: initialization error: (?:nvml error: driver not loaded|driver)",
        sample="slurmstepd: error: pyxis:     nvidia-container-cli: initialization error: load library failed: libnvidia-ml.so.1: cannot open shared object file: no such file or directory",
        explain="the node has no working NVIDIA driver for the container",
        remedy="Request a GPU (`--gres=gpu:N`): a CPU node has no driver. On a GPU node, `srun nvidia-smi` without a container shows the same: report the node, and submit again with `--exclude=NODE`.",
        versions="libnvidia-container",
        refines=("SLM010",),
    ),
    Signature(
        pattern=r"(?:hooks\.d/(?P<hook>98-nvidia\.sh) exited with return code|pyxis: .{0,40}nvidia-container-cli: )",
        sample="slurmstepd: error: pyxis:     [ERROR] /etc/enroot/hooks.d/98-nvidia.sh exited with return code 1",
        explain="the container did not get its GPU: enroot's hook for the NVIDIA driver failed",
        remedy="Run `srun --exclude=NODE` on another node. If it fails there too, run `nvidia-smi` with srun and without a container: the driver or nvidia-container-cli of the node is at fault, for the administrators.",
        versions="enroot",
    ),
    Signature(
        pattern=r"enroot-\w{1,20}: failed to execute: (?P<command>\S{1,200}): No such file",
        sample="slurmstepd: error: pyxis:     enroot-switchroot: failed to execute: /bin/bash: No such file or directory",
        explain="the image has no {command}, or a mount hides it",
        remedy="Look at --container-mounts: a mount over / or /bin hides the image's files. If the image has no shell at all, use `--no-container-entrypoint` and a command that it has.",
        versions="enroot",
    ),
    Signature(
        pattern=r"pyxis: (?:child \d{1,10} failed with error code|failed to import docker image|could not (?:authorize|pull))|pyxis: .{0,40}\[ERROR\] (?:URL |Could not process|Could not authenticate|Authentication)",
        sample="slurmstepd: error: pyxis: failed to import docker image",
        explain="enroot could not import the image or create the container: a wrong name or login, the registry, or a directory",
        remedy="A squashfs file needs a leading `/` or `./` in --container-image. For a registry write `registry#org/name:tag`; a private one needs `~/.config/enroot/.credentials`. `enroot import docker://…` on the node prints the whole error.",
        versions="pyxis",
        last_resort=True,
    ),
    Signature(
        pattern=r"\berror: pyxis: (?!child \d|failed to import|could not (?:authorize|pull))\S|spank_pyxis\.so: \w{1,40}\(\) failed",
        sample="slurmstepd: error: pyxis: couldn't start container",
        explain="pyxis did not start the job's container",
        remedy="The lines of pyxis around this one, and slurmd's log on the node, have the reason. Try `srun --container-image=ubuntu:22.04 hostname` on the same node: if that fails, it is the site's configuration; if not, it is your image or mounts.",
        versions="pyxis",
        last_resort=True,
    ),
)
