"""The agent's records do not survive the way to another process.

## What it does
Has the training interpreter send two of the agent's records through pickle and JSON and compare what comes back.

## Why it breaks training
Rollouts run in Ray workers, and their results cross processes. A record that holds a live object, or a package that is
too old for ours, fails at the end of the first rollout, when all its work is done.

## How to fix
Install this package and its dependencies into the training interpreter as its requirements say.

## Example
    TypeError: cannot pickle '_thread.RLock' object
"""

from collections.abc import Iterator

from skyrl_doctor.core.check import check
from skyrl_doctor.core.errors import NotApplicable
from skyrl_doctor.core.model import Finding, Remedy, RemedyKind
from skyrl_doctor.core.signature import Signature
from skyrl_doctor.facts.agent_packages import AgentPackages

CAUSE = "a live object was sent between processes or copied; results must be plain records"

SIGNATURES = (
    Signature(
        pattern=r"cannot pickle '[\w.]{1,80}' object|[Cc]an't pickle |Could not serialize the (?:argument|return value|actor class|function)|\bPicklingError\b|Failed to unpickle serialized exception|\bcannot be pickled\b|no default __reduce__ due to|support the deepcopy protocol\b|Can't get local (?:object|attribute) '|Can't get attribute '\w{1,80}' on <module|\bPickling (?:of|an?) .{1,80} (?:is|are) (?:disallowed|not (?:allowed|supported))",
        sample="TypeError: Could not serialize the argument <Conversation object> for a task or actor run_rollout",
        explain=CAUSE,
        versions="python, ray",
    ),
    Signature(
        pattern=r"cannot pickle '[\w.]*(?:RLock|lock|Lock|local|weakref|socket|coroutine|generator)' object|Can't pickle (?:local object|<)",
        sample="TypeError: cannot pickle '_thread.RLock' object",
        explain=CAUSE,
        versions="python",
    ),
)

TOPIC = Signature(
    pattern=r"(?i)\b(?:not|un)[- ]?(?:picklable|pickleable)\b|\bcannot be (?:pickled|deep-?copied)\b",
    sample="TypeError: the conversation is not picklable",
    explain=CAUSE,
    versions="any",
)


@check("AGT008", fix="skyrl_train/contracts/payloads.py")
def unpicklable_state(packages: AgentPackages) -> Iterator[Finding]:
    if packages.own_records == "missing":
        raise NotApplicable(f"skyrl_train is not installed for {packages.python}")
    if packages.own_records == "stay":
        raise NotApplicable(f"Ray is not installed for {packages.python}: nothing goes to another process there")
    if packages.own_records != "ok":
        remedy = Remedy(
            kind=RemedyKind.FIX_ENV,
            summary="install the package again, with its dependencies",
            commands=(f"{packages.python} -m pip install --upgrade 'skyrl-doctor[train]'",),
        )
        yield Finding(
            message=f"records of the agent do not come back from pickle or JSON under {packages.python}: "
            f"{packages.own_records}; wanted the same records",
            remedy=remedy,
        )
