"""The examples in the help of each command and in the manual: the words of the command line, and what they do."""

EXAMPLES: dict[str, tuple[tuple[str, str], ...]] = {
    "launch": (
        ("launch run.toml --dry-run", "print both batch scripts and what a launch would refuse; submit nothing"),
        ("launch run.toml", "submit the sandbox runtime and the trainer"),
        ("launch run.toml --local", "run both on this machine, without Slurm"),
    ),
    "job": (("job trainer JOB_DIR", "called by the batch scripts of a launch"),),
    "train": (("train JOB_DIR", "train as the trainer job does"),),
    "status": (
        ("status", "show the latest launch"),
        ("status .skyrl_jobs/20260131_120000_launch", "show this one"),
    ),
    "stop": (("stop", "stop both jobs of the latest launch"),),
    "sweep": (("sweep 1234", "remove what this finished job left in /tmp"),),
    "runtime": (("runtime serve --job-dir DIR", "serve sandboxes with rootless Podman"),),
    "images": (
        ("images list run.toml", "list the images that the tasks need, and which are here"),
        ("images pull run.toml --jobs 4", "pull the missing ones"),
    ),
    "data": (
        ("data convert tasks.jsonl train.parquet", "convert rows of R2E-Gym or SWE-bench"),
        ("data inspect train.parquet", "show what the rows hold"),
        ("data validate train.parquet", "list the rows that cannot be used"),
        ("data oracle tasks.jsonl --data train.parquet", "score gold patches of a sample: 1 is right"),
    ),
    "checkpoints": (
        ("checkpoints list JOB_DIR", "list all checkpoints"),
        ("checkpoints verify JOB_DIR", "find what would break a resume"),
        ("checkpoints prune JOB_DIR --keep 2", "list what would be removed; --apply removes it"),
        ("checkpoints merge JOB_DIR --to model", "make a model directory of the newest checkpoint"),
    ),
    "show": (
        ("show transcripts.jsonl", "list the rollouts of a file, or print its only one"),
        ("show transcripts.jsonl --rollout ID --full", "print one rollout in full"),
        ("show JOB_DIR --failed --step 12", "list the failed rollouts of a step"),
    ),
    "evaluate": (
        (
            "evaluate http://localhost:8000 tasks.jsonl --config run.toml --out results",
            "measure pass@1 of a served model",
        ),
        ("evaluate global_step_40 tasks.jsonl --config run.toml --out results --samples 8", "of a checkpoint"),
    ),
    "weights": (
        ("weights http://localhost:8000 global_step_40", "does the server run this checkpoint?"),
        ("weights http://localhost:8000 weights/step_40 weights/step_20", "which of the two?"),
    ),
    "view": (
        ("view JOB_DIR", "print the address of a page with the rollouts of a job"),
        ("view JOB_DIR --port 8123", "serve it at this port, for a tunnel to the node"),
    ),
    "demo": (("demo", "run three small tasks; no GPU, no model"),),
    "config": (
        ("config explain rollout.n", "print what a key means and which checks read it"),
        ("config defaults", "print a run.toml with every key and its default"),
        ("config schema", "print the JSON Schema, for an editor"),
    ),
    "init": (
        ("init", "ask three questions and write run.toml"),
        ("init --from train.sh", "translate a verl script into run.toml"),
    ),
    "completion": (("completion bash", "print the script that completes commands and options in bash"),),
    "manual": (("manual DIR", "write the man pages into DIR/man1"),),
}
