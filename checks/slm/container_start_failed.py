"""pyxis, enroot, Apptainer or Docker did not start the job's container.

## What it does
Finds the errors of Slurm's container plug-in pyxis and of enroot below it, of Apptainer, and of NVIDIA's container toolkit in
any engine. Names the part that failed: the import of the image, a directory, a mount, a hook for the GPU, the command.

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
        pattern=r"\benroot-\w{1,20}: failed to create user namespace: (?P<why>[A-Z][\w ]{3,60})",
        sample="slurmstepd: error: pyxis:     enroot-nsenter: failed to create user namespace: No space left on device",
        explain="this node lets enroot create no user namespace: {why}",
        remedy="Submit again with `--exclude=NODE` and tell the administrators: `sysctl user.max_user_namespaces user.max_mnt_namespaces` must be above 0, and on Debian and Ubuntu `kernel.unprivileged_userns_clone=1` and `kernel.apparmor_restrict_unprivileged_userns=0`.",
        versions="enroot",
        refines=("SLM010",),
    ),
    Signature(
        pattern=r"\bpyxis: .{0,300}(?P<why>[Nn]o space left on device|Disk quota exceeded)",
        sample="slurmstepd: error: pyxis:     Write failed because No space left on device",
        explain="enroot could not write the image on this node: {why}. pyxis unpacks it below its `runtime_path`, which is often a tmpfs in memory (/run)",
        remedy="Convert the image once where there is room: `ENROOT_TEMP_PATH=/scratch/$USER enroot import -o /scratch/$USER/image.sqsh docker://…`, and give `--container-image=/scratch/$USER/image.sqsh`. The site can move `runtime_path` (pyxis.conf) and ENROOT_TEMP_PATH, ENROOT_CACHE_PATH and ENROOT_DATA_PATH (enroot.conf) to a disk.",
        versions="pyxis, enroot",
        unless="user namespace",
        refines=("CKP003", "SLM010"),
    ),
    Signature(
        pattern=r"^tar: .{1,300}: (?P<why>No space left on device|Disk quota exceeded)|^Write failed because (?P<reason>No space left on device|Disk quota exceeded)",
        near=r"\[INFO\] (?:Extracting image (?:layers|content)|Creating squashfs filesystem|Converting whiteouts)",
        sample="tar: usr/lib/libcudnn.so.8: Cannot write: No space left on device",
        explain="enroot has no room to unpack the image",
        remedy="`ENROOT_TEMP_PATH=/scratch/$USER ENROOT_CACHE_PATH=/scratch/$USER/cache enroot import …` unpacks it where there is room; `enroot create` writes below ENROOT_DATA_PATH. By default some of them are on a tmpfs or in your home directory (`/etc/enroot/enroot.conf`).",
        versions="enroot",
        refines=("CKP003",),
    ),
    Signature(
        pattern=r"\bCan't find a SQUASHFS superblock on (?P<path>/\S{1,200})",
        sample="slurmstepd: error: pyxis:     Can't find a SQUASHFS superblock on /shared/pyxis/1000/385.0.squashfs",
        explain="{path} is not a complete image: several nodes write one file there, or an import was cut off",
        remedy="pyxis writes that file itself: its `runtime_path` must be local to each node (the site's pyxis.conf), or give --container-image a .sqsh file that was imported once. Your own file: remove it and run `enroot import` again.",
        versions="pyxis, squashfs-tools",
        refines=("SLM010",),
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
        pattern=r"\berror: pyxis: {1,8}(?!child \d|failed to import|could not (?:authorize|pull))\S|\bpyxis: couldn't \w|spank_pyxis\.so: \w{1,40}\(\) failed|\bFailed to invoke spank plugin stack\b",
        sample="slurmstepd: error: pyxis: couldn't start container",
        explain="pyxis did not start the job's container",
        remedy="The lines of pyxis around this one, and slurmd's log on the node, have the reason. Try `srun --container-image=ubuntu:22.04 hostname` on the same node: if that fails, it is the site's configuration; if not, it is your image or mounts.",
        versions="pyxis",
        last_resort=True,
    ),
    Signature(
        pattern=r"\[ERROR\] Not enough space left in (?P<path>/\S{0,200}) \((?P<need>\d{1,15}) KB needed\)",
        sample="[ERROR] Not enough space left in /run/enroot (24117248 KB needed)",
        explain="enroot has no room in {path} for the image, which needs {need} KB",
        remedy="Create the container where there is room: ENROOT_DATA_PATH, ENROOT_CACHE_PATH and ENROOT_TEMP_PATH (`/etc/enroot/enroot.conf`) name the directories.",
        versions="enroot",
        refines=("CKP003",),
    ),
    Signature(
        pattern=r"\[ERROR\] (?:URL (?P<url>https?://\S{1,300}) returned error code: (?P<code>\d{3}\b[\w ]{0,40})|Invalid image (?:format|reference): (?P<image>\S{1,200})|Could not acquire rootfs lock)",
        sample="[ERROR] URL https://registry-1.docker.io/v2/library/x/manifests/latest returned error code: 404 Not Found",
        explain="enroot did not get or open the image",
        remedy="404 or 401: the name is wrong, or the image is private (`~/.config/enroot/.credentials`). For a registry write `registry#org/name:tag`. A squashfs file that is cut off: remove it and run `enroot import` again.",
        versions="enroot",
        last_resort=True,
    ),
    Signature(
        pattern=r"\benroot-\w{1,20}: (?P<what>(?:failed to|unsupported) [^\n]{3,200})",
        sample="enroot-mount: failed to mount: /scratch/x at /raid/enroot/data/x/scratch: No such file or directory",
        explain="enroot could not start the container: {what}",
        remedy="The path of the message must exist on each node. `srun --container-image=ubuntu:22.04 hostname` on the same node shows whether any container starts there.",
        versions="enroot",
        last_resort=True,
    ),
    Signature(
        pattern=r"\bcould not select device driver \"\w{0,20}\" with capabilities: \[\[|\b(?:unknown or invalid runtime name|Unknown runtime specified):? nvidia\b|\bCommand not found: nvidia-container-cli\b|\bfailed to discover GPU vendor from CDI\b",
        sample='docker: Error response from daemon: could not select device driver "" with capabilities: [[gpu]].',
        explain="the container engine of this node cannot pass GPUs on: NVIDIA's Container Toolkit is not installed, or not set up for it",
        remedy="An administrator installs it: `nvidia-container-toolkit`, then `nvidia-ctk runtime configure --runtime=docker` and a restart of Docker. Podman and newer Docker: `nvidia-ctk cdi generate --output=/etc/cdi/nvidia.yaml` and `--device nvidia.com/gpu=all`.",
        versions="docker, enroot",
        refines=("SLM010",),
    ),
    Signature(
        pattern=r"\bunresolvable CDI devices? (?P<device>[\w./=:-]{1,120})",
        sample="Error: setting up CDI devices: unresolvable CDI devices nvidia.com/gpu=all",
        explain="the container engine knows no device {device}: the node has no CDI specification, or an older one",
        remedy="`nvidia-ctk cdi list` prints the devices that it knows. Write the specification anew after each change of the driver or of MIG: `nvidia-ctk cdi generate --output=/etc/cdi/nvidia.yaml` (an administrator), and name one of its devices.",
        versions="podman, docker, containerd",
    ),
    Signature(
        pattern=r"\bnvidia-container-cli: (?P<what>(?:mount|ldcache|detection|container|permission|input|initialization) error: [^\n]{3,200})",
        sample="nvidia-container-cli: ldcache error: open failed: /run/nvidia/driver/sbin/ldconfig.real: no such file or directory: unknown.",
        explain="the container did not get its GPU: {what}",
        remedy="Start a small image in the same way on the same node and on another one. Fails everywhere: the container toolkit is older than the driver or the kernel (cgroup v2 needs 1.8 or newer), or its configuration (`/etc/nvidia-container-runtime/config.toml`) does not fit; an administrator updates it. Rootless: `no-cgroups = true` there.",
        versions="libnvidia-container",
        unless=r"(?i:library version mismatch)",
        last_resort=True,
    ),
    Signature(
        pattern=r"\bFATAL: {1,8}container creation failed: (?![^\n]{0,300}(?i:no space left|disk quota exceeded))(?P<what>[^\n]{3,300})",
        sample="FATAL:   container creation failed: mount hook function failure: mount /scratch/tmp->/scratch/tmp error: while mounting /scratch/tmp: mount source /scratch/tmp doesn't exist",
        explain="Apptainer could not create the container: {what}",
        remedy="Each path of `--bind`, `APPTAINER_BIND` and `SINGULARITY_BIND` must exist on every node of the job (`srun ls -d PATH`). An image that cannot be mounted: build or copy it again (`apptainer inspect IMAGE.sif` reads it), or unpack it (`apptainer build --sandbox DIR IMAGE.sif`). `apptainer --debug` prints each mount.",
        versions="apptainer, singularity",
        last_resort=True,
    ),
    Signature(
        pattern=r"\bFATAL: {1,8}(?P<what>(?:while extracting /|while loading container|image format not recognized|[Ff]ailed to create container process|could not use GPU|mount [^\n]{1,200} error: can't mount image|[^\n]{0,60}\bno loop devices available|stat /\S{1,200}: no such file|exec /\S{1,200} failed)[^\n]{0,300})|\bERROR {0,2}: (?:Failed to create user namespace: |Could not write info to setgroups: |No setuid installation found)(?P<why>[^\n]{0,200})|^ERROR {2}: (?P<starter>\S[^\n]{3,200})|\bcould not open image [^\n]{1,200}: image format not recognized|\bwhile searching for mksquashfs\b",
        sample="FATAL:   while loading container: unknown image format/type: /scratch/u/train.sif",
        unless=r"(?i:no space left|disk quota exceeded|library version mismatch)",
        explain="Apptainer could not start the container on this node",
        remedy="The line has the reason. An image: build or copy it again (`apptainer inspect IMAGE.sif` reads it). A user namespace or loop device: this node does not allow it; use another node, or ask the administrators for `sysctl user.max_user_namespaces` above 0 or for Apptainer's setuid package. A program: `apptainer exec IMAGE ls PATH`.",
        versions="apptainer, singularity",
        last_resort=True,
    ),
    Signature(
        pattern=r"^FATAL: {3}(?P<why>(?:permission denied|operation not permitted|no such file or directory|invalid argument|exec format error|input/output error|resource temporarily unavailable|no child processes|device or resource busy|kernel too old|(?i:configuration disallows|couldn't (?:determine|get|find|create|set)|could not use (?!fakeroot)|unable to (?:use|configure|set ?up|create|start|mount)|failed to (?:create|start|mount|set)) [^\n]{3,200}|[Cc]hild exit with status \d{1,3}|failed to send data to master|while \w{3,20}ing [^\n]{3,200}))\s*$",
        sample="FATAL:   permission denied",
        unless=r"(?i:no space left|disk quota exceeded|library version mismatch|while performing build|while pulling|while making image)",
        explain="Apptainer could not start the container: {why}",
        remedy="`apptainer --debug exec …` names the step. Permission denied: the image, a bind or the working directory is not readable for you on this node, or the site does not let you use the image (`apptainer.conf`: limit container paths). Try a small image from a local disk, then your binds one by one.",
        versions="apptainer, singularity",
        last_resort=True,
    ),
    Signature(
        pattern=r"^\[ERROR\] Command not found: (?P<command>mksquashfs|unsquashfs|squashfuse|fuse-overlayfs|enroot-\w{2,20}|parallel|jq|curl|pigz|zstd|ldconfig)\b",
        sample="[ERROR] Command not found: mksquashfs",
        explain="enroot needs the program {command}, which this node does not have",
        remedy="Import the image on a node that has it and copy the .sqsh file, or an administrator installs it (squashfs-tools, jq, curl, parallel).",
        versions="enroot",
        refines=("ENV023",),
    ),
    Signature(
        pattern=r"\berror running (?:prestart|createRuntime|createContainer|startContainer) hook\b[^\n]{0,300}|\bcrun: error executing hook `(?P<hook>[^`\n]{1,200})`",
        sample="Error: crun: error executing hook `/usr/bin/nvidia-container-toolkit` (exit code: 1): OCI runtime error",
        explain="a hook of the container engine failed: mostly NVIDIA's, which gives the container its GPU",
        remedy="The line, or those of nvidia-container-cli below it, has the reason. `nvidia-smi` on the node must work without a container; then `nvidia-container-cli -k -d /dev/stderr info` shows what the hook misses.",
        versions="runc, crun",
        last_resort=True,
    ),
    Signature(
        pattern=r"\[ERROR\] No such file or directory: (?P<path>/\S{1,300}\.(?:sqsh|squashfs))",
        sample="[ERROR] No such file or directory: /scratch/u/train.sqsh",
        explain="this node does not have the image {path}",
        remedy="Import or copy the image to a file system that each node of the job mounts, and name that path.",
        versions="enroot",
    ),
    Signature(
        pattern=r"\b(?:srun|sbatch|salloc): (?:error: )?(?:unrecognized|unknown) option '?--container-\w",
        sample="srun: unrecognized option '--container-image=ubuntu:22.04'",
        explain="this Slurm has no pyxis, so it does not know the options for containers",
        remedy="Ask the administrators whether pyxis is installed (`srun --help | grep container`), or start the container yourself: `srun apptainer exec --nv IMAGE.sif …`, or `enroot start`.",
        versions="slurm",
        refines=("CFG030",),
    ),
    Signature(
        pattern=r"\berror while creating mount source path '(?P<path>[^'\n]{1,200})'|\bbind source path does not exist: (?P<source>/\S{0,200})|^Error: statfs (?P<host>/\S{1,200}): no such file or directory|\berror mounting \"(?P<mount>[^\"\n]{1,200})\" to rootfs at [^\n]{1,300}: no such file",
        sample='docker: Error response from daemon: invalid mount config for type "bind": bind source path does not exist: /data.',
        explain="a directory that the container should mount does not exist on this node, or its engine may not reach it",
        remedy="`ls -ld PATH` on the node that starts the container: create it, mount its file system, or correct the path of `-v` or `--mount`. Docker as root cannot read directories of NFS that squash root.",
        versions="docker, podman, runc",
        last_resort=True,
    ),
)
