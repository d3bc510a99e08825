"""The agent's records cannot be sent to another process.

## What it does
Lets the training interpreter send two of the agent's records through pickle and JSON, and compares the results.

## Why it breaks training
Rollouts run in Ray workers, so their results are sent between processes. A record that holds a live object, or a
package that is too old, fails at the end of the first rollout, when all its work is done.

## How to fix
Install this package with the dependencies that it requires into the training interpreter.

## Example
    TypeError: cannot pickle '_thread.RLock' object
"""

from collections.abc import Iterator

from skyrl_doctor.core.check import check
from skyrl_doctor.core.errors import NotApplicable
from skyrl_doctor.core.model import Finding, Remedy, RemedyKind
from skyrl_doctor.core.signature import Signature
from skyrl_doctor.facts.agent_packages import AgentPackages

CAUSE = "a live object was copied or sent to another process; results must be plain records"
FEEDER = r"multiprocessing/queues\.py\", line \d{1,5}, in _feed\b"
"""A queue prints what it cannot send and goes on: often an exception of another failure, which is reported elsewhere."""

SIGNATURES = (
    Signature(
        pattern=r"cannot pickle '[\w.]{1,80}' object|[Cc]an't pickle |Could not serialize the (?:argument|return value|actor class|function)|\bPicklingError\b|Failed to unpickle serialized exception|\bcannot be pickled\b|no default __reduce__ due to|support the deepcopy protocol\b|Can't get local (?:object|attribute) '|Can't get attribute '\w{1,80}' on <module|\bPickling (?:of|an?) .{1,80} (?:is|are) (?:disallowed|not (?:allowed|supported))",
        sample="TypeError: Could not serialize the argument <Conversation object> for a task or actor run_rollout",
        explain=CAUSE,
        versions="python, ray",
        unless_above=FEEDER,
    ),
    Signature(
        pattern=r"cannot pickle '[\w.]*(?:RLock|lock|Lock|local|weakref|socket|coroutine|generator)' object|Can't pickle (?:local object|<)",
        sample="TypeError: cannot pickle '_thread.RLock' object",
        explain=CAUSE,
        versions="python",
        unless_above=FEEDER,
    ),
    Signature(
        pattern=r"\bcannot pickle '[\w.]{1,80}' object|\bCan't pickle ",
        near=FEEDER,
        within=12,
        sample="TypeError: cannot pickle 'SSLContext' object",
        explain="an object that is not a plain record was put into a queue between processes; the receiver waits for it",
        versions="python",
        fatal=False,
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
        raise NotApplicable(f"Ray is not installed for {packages.python}, so no record goes to another process")
    if packages.own_records != "ok":
        remedy = Remedy(
            kind=RemedyKind.FIX_ENV,
            summary="reinstall skyrl-doctor with its dependencies; run this in a checkout of it",
            commands=(f"{packages.python} -m pip install --upgrade '.[train]'",),
        )
        yield Finding(
            message=f"the agent's records do not survive pickle or JSON under {packages.python}: {packages.own_records}; expected equal records",
            remedy=remedy,
        )
