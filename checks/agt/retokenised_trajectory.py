"""The trainer trains on other tokens than the engine generated.

## What it does
`skyrl-doctor diagnose` finds the messages of verl and others about it. `skyrl-doctor watch` compares the probabilities
of trainer and engine, by the figures that the framework prints:

- verl: a correlation (`training/rollout_actor_probs_pearson_corr`) below 0.98 for five steps in a row is a warning,
  below 0.9 for three steps an error. `training/rollout_probs_diff_mean` above 0.01 is a warning (verl's FAQ), as are
  `rollout_corr/kl` above 0.1, fewer than 0.3 effective samples and a mean weight outside 0.5 to 2.
- prime-rl: `Mismatch KL` above 0.1 for five steps is a warning, above 1 for two steps an error. A healthy run has less
  than 0.01. More than half of the rollouts `Cancelled` for five steps is a warning: they are too old.
- SkyRL: `policy/rollout_train_logprobs_abs_diff_mean` above 0.1 for five steps is a warning (healthy runs have about
  0.02), as are rollouts older than the limit (`async/staleness_violation_count`) in three steps.

## Why it breaks training
Text does not give back the tokens it came from. If a rollout is tokenised again for training, the trainer computes
probabilities of tokens that the model never chose, and the update is wrong without any error.

## How to fix
Keep the token ids of the engine and train on those. `skyrl-train` tokenises nothing twice
(`skyrl_train/contracts/agent/transcript.py`); `skyrl-train show --tokenizer DIR` compares the tokens of a rollout with those of its
text. If the tokens agree, look at precision and at the weight sync. If the rollouts are too old, lower the number of steps
that they may lag behind.

## Example
    Inconsistent training and inference tokenization detected (strict)
"""

from skyrl_doctor.core.signature import Signature

CAUSE = "text was tokenised again instead of keeping the engine's tokens"

SIGNATURES = (
    Signature(
        pattern=r"(?:[Rr]e-?tokeni[sz](?:ed|ation)|[Tt]okeni[sz]ation).{0,80}(?:mismatch|differs?|inconsistent|do(?:es)? not match)|[Tt]oken(?:s| ids?) (?:mismatch|differ).{0,80}(?:re-?encod|re-?tokeni)",
        sample="ValueError: re-tokenized response does not match the ids of the engine at position 41",
        explain=CAUSE,
        versions="SkyRL, verifiers",
    ),
    Signature(
        pattern=r"Inconsistent training and inference tokenization detected",
        sample="WARNING:2026-03-02 09:20:11,100:Inconsistent training and inference tokenization detected (strict)",
        explain=CAUSE,
        versions="verl",
    ),
    Signature(
        pattern=r"^assert \w{1,40}\[: ?len\((?P<prefix>\w{0,20}token_prefix)\)\] == (?P=prefix)\b|^\s*assert token_prefix_with_turn\b",
        sample="assert token_prefix_with_turn[: len(token_prefix)] == token_prefix, (",
        explain="the tokens of an earlier turn are not the start of the next turn's prompt: the chat template or the tokenizer changes text that was already written",
        remedy="Use a chat template that only appends: Qwen3's removes the reasoning of earlier turns. `skyrl-train show --tokenizer DIR` compares the tokens of a rollout with those of its text.",
        versions="prime-rl",
    ),
)
