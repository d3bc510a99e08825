"""What the failures CKP look like in logs, where no check stands beside them yet."""

from skyrl_doctor.core.signature import Signature

SIGNATURES = {
    "CKP001": (
        Signature(
            pattern=r"[Cc]heckpoint tracker file does not exist|^Training from scratch",
            sample="Checkpoint tracker file does not exist: /ckpt/run/latest_checkpointed_iteration.txt",
            explain="the run did not find the checkpoint that it was to go on from, and started anew",
            versions="verl",
            near=r"global_step_\d+|SLURM_RESTART_COUNT\W{1,3}[1-9]|[Rr]esum(?:ing|ed) (?:from|training|run)|resume_from_path\W{1,4}/",
            within=100000,
            fatal=False,
        ),
        Signature(
            pattern=r"resume ckpt must specify the global_steps|\b[Cc]heckpoint does not exist: ",
            sample="AssertionError: resume ckpt must specify the global_steps",
            explain="resume_from_path does not name a global_step_N that is there",
            versions="verl",
        ),
    ),
    "CKP002": (
        Signature(
            pattern=r"No such file or directory.{0,300}(?:model|optim|extra_state)_world_size_\d+_rank_\d+\.pt",
            sample="FileNotFoundError: [Errno 2] No such file or directory: '/ckpt/global_step_20/actor/model_world_size_2_rank_0.pt'",
            explain="the checkpoint was written by another number of GPUs",
            versions="verl",
        ),
    ),
    "CKP003": (
        Signature(
            pattern=r"\b[Nn]o space left on device\b|\bDisk quota exceeded\b|PytorchStreamWriter failed writing",
            sample="OSError: [Errno 28] No space left on device: '/ckpt/global_step_40'",
            explain="the disk is full; keep fewer checkpoints or write them elsewhere",
            versions="any",
        ),
    ),
}
