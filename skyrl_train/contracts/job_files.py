"""What the files are called by which the jobs of a launch find each other, in the job's directory."""

LAUNCHES = ".skyrl_jobs"
"""The directory of all launches, below the directory in which they were made."""
URL, KEY, READY = "runtime_url.txt", "runtime_api_key.txt", "runtime_ready.flag"
"""Of the runtime; the flag is written last."""
COMPLETE = "training_complete.flag"
"""Of the trainer, when it came to its end."""
COUNTS = "rollout_counts.jsonl"
"""Of the trainer: what its rollouts were like, a line a step; see skyrl_train.contracts.agent.counts_file."""
PRIME_CONFIG, PRIME_SCRIPT = "prime.toml", "prime.sh"
"""Of a prime-rl run: what `rl` reads, and what calls it."""
SUMMARY = "summary.md"
"""The post-mortem. The watch alone writes it: at its end, or asked to afterwards."""
NODES = "nodes"
"""The directory of what the doctor found on each of them."""
RAY = "ray"
"""The directory in which these nodes tell each other of the Ray cluster."""


def one_url(text: str) -> str | None:  # FIX(SLM004)
    """The URL of a file or a variable; None where it holds anything else. A shell function that logs to its standard
    output writes its log lines into whatever takes its answer."""
    lines = text.splitlines()
    if len(lines) != 1 or len(lines[0].split()) != 1 or not lines[0].startswith(("http://", "https://")):
        return None
    return lines[0].strip()
