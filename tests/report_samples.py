"""A report in which every status, severity and remedy part occurs, for the tests of the reporters."""

import dataclasses

from skyrl_doctor.core.model import Finding, Location, Outcome, Remedy, RemedyKind, Severity, Status
from skyrl_doctor.report.model import Report

MIG = Finding(
    message="CUDA_VISIBLE_DEVICES names the device by its MIG UUID, but vLLM expects an index",
    evidence=("CUDA_VISIBLE_DEVICES=MIG-aaaaaaaa-0000-0000-0000-000000000001",),
    location=Location("run.toml", 12, "trainer.gpus"),
    remedy=Remedy(
        kind=RemedyKind.FIX_ENV,
        summary="name it by its index",
        commands=("export CUDA_VISIBLE_DEVICES=0",),
        settings={"CUDA_VISIBLE_DEVICES": "0"},
        safe=True,
    ),
)
SLOW = Finding(message="the cache is on nfs4; use a local disk", severity=Severity.WARNING)
NOTE = Finding(message="node gpu-node-17 failed once before", severity=Severity.INFO)
TAKEN = Finding(message="another process holds 9.8 GiB of GPU 0")

OUTCOMES = (
    Outcome(id="ENV001", slug="triton-python-h", status=Status.PASS, duration_s=0.001),
    Outcome(id="ENV002", slug="triton-cache-on-network-fs", status=Status.FAIL, findings=(SLOW,)),
    Outcome(id="GPU001", slug="mig-uuid", status=Status.FAIL, findings=(NOTE, MIG), duration_s=0.25),
    Outcome(
        id="GPU003",
        slug="gpu-memory-taken",
        status=Status.SKIP,
        findings=(TAKEN,),
        reason="waived by cluster team until 2027-01-31: the other job is ours",
    ),
    Outcome(
        id="POD001", slug="pause-process-dead", status=Status.SKIP, reason="runtime-node check; this is a GPU node"
    ),
    Outcome(id="POD002", slug="storage-stale", status=Status.SKIP, reason="runtime-node check; this is a GPU node"),
    Outcome(id="SLM001", slug="walltime-mismatch", status=Status.UNKNOWN, reason="squeue: no answer within 5 s"),
)

MIXED = Report(
    outcomes=OUTCOMES,
    roles=("gpu",),
    targets=("run.toml",),
    dialect="run-config",
    duration_s=0.5,
    version="0.1.0",
    host="gpu-node-17",
    notes=('CFG001: waiver by "ops" (reason: a test) expired on 2026-01-31 and is ignored',),
    finished_at=1795000000.0,
)


def only(*outcomes: Outcome, **changes: object) -> Report:
    """The same examination with these outcomes alone."""
    return dataclasses.replace(MIXED, outcomes=outcomes, notes=(), **changes)


def failing(message: str, **parts: object) -> Report:
    """A report of one finding, foreign text and all."""
    finding = dataclasses.replace(Finding(message=message), **parts)
    return only(Outcome(id="ENV001", slug="triton-python-h", status=Status.FAIL, findings=(finding,)))
