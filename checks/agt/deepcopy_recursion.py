"""A copy helper calls itself without end.

## What it does
`skyrl-doctor diagnose` and `watch` find Python's recursion errors in the logs. No check can see it before the job.

## Why it breaks training
Such helpers are written around objects that `copy.deepcopy` cannot copy, such as locks and clients. On an object that
refers back to itself the helper never ends, and the rollout or the worker dies.

## How to fix
Copy plain records only: text, numbers, lists and dictionaries. `skyrl-train` sends nothing else between processes
(`skyrl_train/contracts/payloads.py`), see AGT008.

## Example
    RecursionError: maximum recursion depth exceeded
"""

from skyrl_doctor.core.signature import Signature

CAUSE = "a copy helper calls itself without end; copy only plain records"

SIGNATURES = (
    Signature(
        pattern=r"Cannot recover from stack overflow|Fatal Python error: (?:_Py_CheckRecursiveCall|Stack overflow)",
        sample="Fatal Python error: _Py_CheckRecursiveCall: Cannot recover from stack overflow.",
        explain=CAUSE,
        versions="python",
    ),
    Signature(
        pattern=r"RecursionError: maximum recursion depth exceeded",
        sample="RecursionError: maximum recursion depth exceeded",
        explain=CAUSE,
        near=r"(?i:copy)|pickle|__(?:reduce|getstate)|TaskRunner|AgentLoop",
        within=60,
        versions="python",
    ),
)
