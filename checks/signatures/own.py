"""What skyrl-train itself says of the end of a run."""

from checks.signatures.short import root, roots

SIGNATURES = {
    "TRN001": (
        root(
            r"TRN001: \d+ batches in a row without one usable rollout",
            "skyrl-train train: error: TRN001: 2 batches in a row without one usable rollout (trainer.empty_steps_allowed is 1): "
            "8 x error_initialization: SandboxError: the sandbox did not start",
            "every rollout of several batches failed, and the line says of what: mend that; nothing was trained on them",
            "skyrl-train",
            refines=("CKP003",),  # a full disk is the sandbox's there
        ),
        root(
            r"validation: no rollout could be scored: ",
            "skyrl-train train: error: validation: no rollout could be scored: 8 x error_runtime: the sandbox ended",
            "every rollout of a validation failed, and the line says of what: mend that",
            "skyrl-train",
        ),
    ),
    "SLM004": (
        root(
            r"\bSLM004: .{1,300} of an earlier launch\b",
            "skyrl-train launch: SLM004: /home/ada/run/job holds runtime_ready.flag of an earlier launch, which names its "
            "runtime; wanted a directory of this launch alone",
            "the directory names the runtime of an earlier launch, which is gone; each launch wants one of its own",
            "skyrl-train",
        ),
    ),
    "RUN002": (
        root(
            r"\berror: RUN002: ",
            "skyrl-train train: error: RUN002: Ray's workers have no SANDBOX_API_KEY, which the sandboxes' runtime needs",
            "the workers of Ray have not what the driver has; the line says which variable",
            "skyrl-train",
        ),
    ),
    "IMG008": (
        root(
            r"\bIMG008: the image is ",
            "IMG008: the image is CentOS Linux 7, with glibc 2.17; the released openhands-agent-server needs glibc 2.28 or newer",
            "the C library of the task's image is too old for the agent server",
            "skyrl-train",
        ),
    ),
    "TRN006": (
        root(
            r"TRN006: the phase `[^`]{1,40}` took longer than \d+",
            "skyrl-train train: TRN006: the phase `weight sync` took longer than 600 s (trainer.phase_timeout_s); the run "
            "is ended, where it hung is shown below",
            "a phase of the step hung; the stacks below the line show where",
            "skyrl-train",
        ),
    ),
    "GPU001": (
        root(
            r"\bskyrl-train [\w ]{1,20}: (?:error: )?GPU001: ",
            "skyrl-train train: error: GPU001: 2 slices are visible, and none of them is named",
            "the GPU's slices cannot be handed on as they are; the line says why",
            "skyrl-train",
        ),
    ),
    "POD008": (
        root(
            r"\bPOD008: this kernel mounts no overlay",
            "skyrl-train runtime: POD008: this kernel mounts no overlay for a user, and there is no fuse-overlayfs",
            "Podman has no way to put layers of an image over each other here; fuse-overlayfs is one",
            "skyrl-train",
        ),
    ),
    "RUN011": roots(
        "the sandbox runtime died while the trainer needed it; its own log says why, or Slurm does: "
        "`sacct -j JOB --format=State,ExitCode,MaxRSS`",
        (
            r"skyrl-train job: runtime: the runtime (?:(?:ended with|exited with status) [1-9]|was killed by signal \d)",
            "skyrl-train job: runtime: the runtime was killed by signal 9",
            "skyrl-train",
        ),
        (
            r"skyrl-train job: trainer: (?:stopped by signal \d+: )?the runtime job (?:ended(?: before it was ready)?: (?!done|the gate|stopped)|\d+ is )",
            "skyrl-train job: trainer: the runtime job ended: the runtime was killed by signal 9",
            "skyrl-train",
        ),
        (
            r"the runtime at https?://\S{1,200} has not answered for \d+ s",
            "skyrl-train job: trainer: the runtime at http://node07:8000 has not answered for 18 s",
            "skyrl-train",
        ),
    ),
}
