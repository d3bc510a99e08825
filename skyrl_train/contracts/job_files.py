"""Names of the files in the job directory through which the jobs of a launch find each other."""

LAUNCHES = ".skyrl_jobs"
"""The directory of all launches, below the directory in which they were made."""
CONFIG = "config.toml"
"""The configuration of the run."""
URL, KEY, READY = "runtime_url.txt", "runtime_api_key.txt", "runtime_ready.flag"
"""Written by the runtime; the flag is written last."""
COMPLETE = "training_complete.flag"
"""Written by the trainer when the training is complete."""
COUNTS = "rollout_counts.jsonl"
"""Written by the trainer: counts of its rollouts, one line for each step; see skyrl_train.contracts.agent.counts_file."""
VALIDATION = "validation.jsonl"
"""Written by the trainer: the pass rates of each validation, one line each."""
PRIME_CONFIG, PRIME_SCRIPT = "prime.toml", "prime.sh"
"""Of a prime-rl run: the configuration that `rl` reads, and the script that calls `rl`."""
SUMMARY = "summary.md"
"""The post-mortem. Only the watch writes it, at its end or later on request."""
JOB_SUMMARIES = "rollout_summaries.jsonl"
"""In the bundle of a job: a summary of each rollout, in place of the transcripts."""
NODES = "nodes"
"""The directory of the doctor's report of each node."""
RAY = "ray"
"""The directory through which the nodes set up the Ray cluster."""


def one_url(text: str) -> str | None:  # FIX(SLM004)
    """The URL in a text, or None if the text holds anything else.

    A shell function that logs to standard output mixes its log lines into the value that its caller stores.
    """
    lines = text.splitlines()
    if len(lines) != 1 or len(lines[0].split()) != 1 or not lines[0].startswith(("http://", "https://")):
        return None
    return lines[0].strip()
