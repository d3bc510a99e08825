"""A model server does not run the trainer's weights.

## What it does
In each weight sync `skyrl-train` compares the parameters that were loaded with those of the model, and after it, before
the next rollouts, the log-probabilities of a fixed text: the trainer's and those of each model server
(`skyrl_train/rl/weight_proof.py`). `skyrl-doctor diagnose` and
`skyrl-doctor watch` find the message with which such a run ends. `skyrl-doctor watch` also warns where
`weights/probe_difference` is above 0.02 for three steps, or where a run stops proving its weights. No check can see it
before the job.

Plain verl, prime-rl and SkyRL do not compare weights. For their runs, compare a vLLM server with the checkpoint that it
should run, and with an earlier one, while no step is in progress: `skyrl-train weights http://NODE:PORT STEP_40 STEP_20`
(docs/training.md, "Of another trainer's server").

## Why it breaks training
The rollouts come from an old, a partial or another model. Nothing fails: the reward does not rise, or falls after some
hundred steps, and the GPU time is lost.

## How to fix
"Still runs the weights of step N": the sync did not happen, or it sent an adapter
without content. "Does not run the trainer's weights": names or shapes of some tensors do not fit the server's model, or
a quantisation differs. Compare the server's versions with a pair that is known to work (docs/training.md), merge the
adapter (`actor_rollout_ref.model.lora.merge=True` in verl), and look for warnings of the weight loader above the
message. `trainer.prove_weights = false` turns the comparison off.

## Example
    skyrl-train train: error: TRN021: model server 0 still runs the weights of step 3 after the sync of step 4: its log-probabilities of a fixed text are exactly those of before, and the trainer's changed. The sync did not happen, or its adapter is empty
"""

from skyrl_doctor.core.signature import Signature

SIGNATURES = (
    Signature(
        pattern=r"TRN021: model server \d+ (?:still )?runs the weights of step \d+",
        sample=(
            "skyrl-train train: error: TRN021: model server 0 still runs the weights of step 3 after the sync of step 4: its "
            "log-probabilities of a fixed text are exactly those of before, and the trainer's changed. The sync did not "
            "happen, or its adapter is empty"
        ),
        explain="a model server kept the weights of an earlier step; the line names the server and the steps",
        versions="skyrl-train",
    ),
    Signature(
        pattern=r"TRN021: model server: a weight sync left \d+ parameters",
        sample=(
            "RuntimeError: TRN021: model server: a weight sync left 9 parameters as they were: "
            "model.layers.1.input_layernorm.weight, model.layers.1.mlp.down_proj.weight, model.layers.1.mlp.gate_up_proj.weight, "
            "…. The trainer did not send them, or by names that the server does not know"
        ),
        explain="a weight sync reached only a part of the model; the line names parameters that it left out",
        versions="skyrl-train",
    ),
    Signature(
        pattern=r"TRN021: (?:a model server|model server \d+|the probe) ",
        sample=(
            "skyrl-train train: error: TRN021: model server 1 does not run the trainer's weights after the sync of step 1: "
            "the log-probabilities of a fixed text differ by 2.104 nats on average, where 0.150 is the limit. The weights "
            "arrived in part, or those of another model or adapter did"
        ),
        explain="a model server runs other weights than the trainer; the line names the server and the step",
        versions="skyrl-train",
    ),
)
