"""Which of the last lines of a log say that the run failed."""

import pytest

from skyrl_doctor.logs.match.errors import Weight
from skyrl_doctor.logs.match.last_words import weigh_last_words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Terminated", Weight.ERROR),
        ("Aborted", Weight.ERROR),
        ("Killed: 9", Weight.ERROR),
        ("[1]+  Terminated              nohup python train.py", Weight.ERROR),
        ("run.sh: line 4: 2211 Terminated              python train.py", Weight.ERROR),
        ("zsh: terminated  python train.py", Weight.ERROR),
        ("trainer-1 exited with code 137", Weight.ERROR),
        ("Return code = -9", Weight.ERROR),
        ("run.sh: line 4: 2211 Terminated              python -m vllm.entrypoints.openai.api_server", None),
        ("exit status 1", Weight.LAST_WORDS),
        ("Process completed with exit code 3.", Weight.LAST_WORDS),
        ('a1b2c3 vllm "python3" 3 minutes ago   Exited (1) 2 minutes ago   own', Weight.LAST_WORDS),
        ("Training failed", Weight.LAST_WORDS),
        ("Server did not start within 600 seconds", Weight.LAST_WORDS),
        ("Giving up after 5 attempts", Weight.LAST_WORDS),
        ("Unable to open file /data/own.h5", Weight.LAST_WORDS),
        ("Final checkpoint saved with 6 shards", None),
        ("Training finished on 9 nodes", None),
        ("Finetuned on 15 datasets", None),
        ("Checkpoint saved with 11 shards", None),
        ("Iteration 100 | mean return 215.0", None),
        ("episode 100: return=215.3 len=30", None),
        ("Final evaluation: mean return 3.4 over 100 episodes", None),
        ("Returned 42 rows", None),
        ("finished processing batch, return code 2 blocks", None),
        ("server returned status 5 replicas ready", None),
        ("All done, no one died", None),
        ("epoch 3 val: timed out problems counted as wrong", None),
        ("wandb: 2 files could not be uploaded to the artifacts cache", None),
        ("unexpected keys in state dict were dropped: 0", None),
        ("Model saved. Invalid actions: 3", None),
        ("pass@1: 0.43, invalid 12", None),
        ("checkpoint not found in cache, uploading", None),
        ("exit code: 0", None),
        ("skyrl-train job: trainer: stopped by signal 15: cancelled with scancel", None),
        ("skyrl-train job: runtime: the trainer job ended: stopped by signal 15: cancelled with scancel", None),
        ("request finished with status 200", None),
        ("0 errors, 0 failed, 12 passed", None),
        ("error rate: 0.2", None),
        ("mean squared error 0.3", None),
        ("cache not found, using the default", None),
        ("INFO own: the first try failed", None),
        ("WARNING own: the first try failed", None),
        ("[Command finished with exit code 1]", None),
        ("ValueError: odd", None),
        ("epoch 3 done", None),
    ],
)
def test_the_weight_of_a_last_line(text: str, expected: Weight | None) -> None:
    assert weigh_last_words(text) is expected
