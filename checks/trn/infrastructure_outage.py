"""Infrastructure failed most rollouts, and the run waited for the sandbox runtime.

## What it does
`skyrl-train` counts how many of the last `sandbox.outage_window` rollouts ended because a sandbox did not start, was lost
or did not answer. At `sandbox.outage_rate` no new rollout begins. Those that run are awaited, then the sandbox runtime is
asked until it can be used, and the rollouts that failed are repeated. After `sandbox.outage_limit_s` the run ends with this
message. `skyrl-doctor diagnose` and `skyrl-doctor watch` find both lines. An outage that the run survived is counted in
`rollout_counts.jsonl`; `skyrl-train status`, the summary and the report name it. No check can see it before the job.

## Why it breaks training
A step of which most rollouts are lost is trained on what is left: groups without comparison, few tasks, and those that
need the shortest time. Nothing fails, and the rewards are not those of the tasks.

## How to fix
Read the runtime's log at the time of the first line. Common causes: the runtime job was ended or is out of memory, its
disk is full, a network between the nodes is down, the key changed. If the runtime answers and sandboxes still fail, its
images or its container store are damaged: run `skyrl-doctor preflight --role runtime` on its node. A run that has ended
resumes from its last checkpoint.

## Example
    skyrl-train train: TRN022: infrastructure failed 8 of the last 12 rollouts (error_runtime: execute: connection refused [unreachable]); no new rollout begins until the sandbox runtime can be used, for at most 900 s
"""

from skyrl_doctor.core.signature import Signature

SIGNATURES = (
    Signature(
        pattern=r"TRN022: infrastructure failed rollouts for (?P<seconds>\d+) s",
        sample=(
            "skyrl-train train: error: TRN022: infrastructure failed rollouts for 912 s (sandbox.outage_limit_s is 900): "
            "look: GET http://n:8000/list: connection refused [unreachable]. See the runtime's log; the run can be resumed from "
            "its last checkpoint"
        ),
        explain="the sandbox runtime could not be used for {seconds} s, so the run ended; the line names the last reason",
        versions="skyrl-train",
    ),
    Signature(
        pattern=r"TRN022: infrastructure failed (?P<failed>\d+) of the last (?P<of>\d+) rollouts",
        sample=(
            "skyrl-train train: TRN022: infrastructure failed 8 of the last 12 rollouts (error_runtime: execute: connection "
            "refused [unreachable]); no new rollout begins until the sandbox runtime can be used, for at most 900 s"
        ),
        explain="infrastructure failed {failed} of the last {of} rollouts; the run paused until the sandbox runtime could be used",
        versions="skyrl-train",
        fatal=False,
        last_resort=True,
    ),
)
