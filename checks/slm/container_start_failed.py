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
