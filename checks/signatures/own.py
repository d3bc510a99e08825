"""What skyrl-train itself says of the end of a run."""

from checks.signatures.short import root, roots

SIGNATURES = {
    "TRN001": (
        root(
            r"TRN001: \d+ batches in a row without one usable rollout",
            "skyrl-train train: TRN001: 2 batches in a row without one usable rollout (trainer.empty_steps_allowed is 1): "
            "8 x error_initialization: SandboxError: the sandbox did not start",
            "every rollout of several batches failed, and the line says of what: mend that; nothing was trained on them",
            "skyrl-train",
            refines=("CKP003",),  # a full disk is the sandbox's there
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
    "RUN011": roots(
        "the sandbox runtime died while the trainer needed it; its own log says why, or Slurm does: "
        "`sacct -j JOB --format=State,ExitCode,MaxRSS`",
        (
            r"skyrl-train job: runtime: the runtime ended with [1-9]",
            "skyrl-train job: runtime: the runtime ended with 137",
            "skyrl-train",
        ),
        (
            r"skyrl-train job: trainer: the runtime job (?:ended: (?!done|the gate)|\d+ is )",
            "skyrl-train job: trainer: the runtime job ended: the runtime ended with 137",
            "skyrl-train",
        ),
        (
            r"the runtime at https?://\S{1,200} has not answered for \d+ s",
            "skyrl-train job: trainer: the runtime at http://node07:8000 has not answered for 18 s",
            "skyrl-train",
        ),
    ),
}
