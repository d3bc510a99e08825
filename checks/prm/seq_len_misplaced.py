"""`seq_len` is in the wrong table, or the trainer's is too short.

## What it does
In the schema of January 2026, finds `seq_len` at the top of the file. In the current schema, which allows that,
compares `trainer.model.seq_len` with `orchestrator.seq_len`.

## Why it breaks training
prime-rl rejects the file.

## How to fix
Move it into `[orchestrator]` (and `[trainer.model]`); in the current schema, make the trainer's at least as long.

## Example
    Trainer model seq_len (2048) must be >= orchestrator seq_len (4096)
"""

from collections.abc import Iterator

from checks.prm.shared import prime_only, refused
from skyrl_doctor.core.check import check
from skyrl_doctor.core.model import Finding
from skyrl_doctor.core.signature import Signature
from skyrl_doctor.plan.findings import config_finding
from skyrl_doctor.plan.model import Plan
from skyrl_train.config.dialect import SEED

CAUSE = "seq_len is in the wrong table for this version"

SIGNATURES = (
    Signature(
        pattern=r"(?:^|\] |[-|\"] ?)\W*(?:trainer\.|orchestrator\.)?seq_len\b\W*$",
        sample="seq_len",
        explain=CAUSE,
        versions="prime-rl",
        near=r"validation errors? for \w*(?:Config|Settings|RL)\w*",
        within=120,
    ),
    Signature(
        pattern=r"model seq_len .{0,40}must be >= orchestrator seq_len",
        sample="ValueError: Trainer model seq_len (1024) must be >= orchestrator seq_len (2048)",
        explain="the trainer's sequences are shorter than the orchestrator's",
        versions="prime-rl",
    ),
    Signature(
        pattern=refused(r"(?:trainer\.|orchestrator\.)?seq_len"),
        sample="seq_len: Extra inputs are not permitted",
        explain=CAUSE,
        versions="prime-rl",
    ),
)

TOP, TRAINER, ORCHESTRATOR = "seq_len", "trainer.model.seq_len", "orchestrator.seq_len"
DEFAULT = 2048


@check("PRM002", fix="operator: prime-rl reads a file that is the user's own")
def seq_len_misplaced(plan: Plan) -> Iterator[Finding]:
    own = prime_only(plan).own
    top = own.get(TOP)
    if plan.is_of(SEED):
        if top is not None and not plan.schema:  # else CFG004 knows whether this version takes it
            message = f"{top.assignment} is at the top of the file; expected it in [orchestrator]"
            yield config_finding(message, top.location, moves={TOP: ORCHESTRATOR}, summary="move the setting")
        return
    lengths = {key: own[key].value if key in own else top.value if top else DEFAULT for key in (TRAINER, ORCHESTRATOR)}
    trainer, orchestrator = lengths[TRAINER], lengths[ORCHESTRATOR]
    if isinstance(trainer, int) and isinstance(orchestrator, int) and trainer < orchestrator:
        place = next((own[key].location for key in (TRAINER, ORCHESTRATOR, TOP) if key in own), None)
        message = f"{TRAINER} is {trainer}, but {ORCHESTRATOR} is {orchestrator}; expected the trainer's to be at least as long"
        yield config_finding(message, place, {TRAINER: str(orchestrator)})
