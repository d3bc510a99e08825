"""What the files are called by which the jobs of a launch find each other, in the job's directory."""

URL, KEY, READY = "runtime_url.txt", "runtime_api_key.txt", "runtime_ready.flag"
"""Of the runtime; the flag is written last."""
COMPLETE = "training_complete.flag"
"""Of the trainer, when it came to its end."""
