"""The runtime does not take the key that the trainer has, or takes any.

## What it does
Asks a running runtime for a session that nobody has: with the key of the job directory or of the environment, and with
a wrong one. A good runtime answers 404 to the first and 401 to the second. Looks who may read the key file.

## Why it breaks training
Every start of a sandbox is refused with 401, and with it every rollout. The first users switched the keys off instead:
then anybody on the cluster's network runs commands as you, and agent servers since 1.38 listen where nobody reaches them
(RUN008).

## How to fix
Both jobs must read the one file that the runtime writes, `runtime_api_key.txt` in the job directory, mode 0600. Never
`--disable-auth`.

## Example
    httpx.HTTPStatusError: Client error '401 Unauthorized' for url 'http://node07:8000/start'
"""

from collections.abc import Iterator

from skyrl_doctor.core.check import check
from skyrl_doctor.core.errors import CouldNotLook
from skyrl_doctor.core.model import Finding, Remedy, RemedyKind, Severity
from skyrl_doctor.facts.runtime import RuntimeAnswers, RuntimePlace
from skyrl_train.contracts.job_files import KEY
from skyrl_train.contracts.sandbox.wire import RUNTIME_KEY_HEADER
from skyrl_train.node.ray_env import RUNTIME_KEYS

_REFUSED = (401, 403)
_OTHERS = 0o077
_ONE_FILE = "give both jobs the one key file that the runtime wrote, runtime_api_key.txt of the job directory"


@check("RUN001", fix="skyrl_train/sandbox/runtime/guard.py")
def api_key_mismatch(answers: RuntimeAnswers) -> Iterator[Finding]:
    place, said = answers.place, answers.with_key
    yield from _open_file(place)
    if said.status is None:
        raise CouldNotLook(f"{place.url} (from {place.said_by}): {said.why}")
    if said.status in _REFUSED:
        yield _fault(
            f"{place.url} refuses {place.key_shown} with {said.status}; wanted the key that it was started with",
            commands=_export(place),
        )
    elif answers.takes_any_key:
        yield _fault(
            f"{place.url} takes any key: a wrong one was answered with {answers.with_wrong_key.status}; wanted 401",
            summary="switch its authentication on; who reaches it runs commands as you",
            severity=Severity.WARNING,
        )
    elif answers.with_wrong_key.status is None:
        raise CouldNotLook(f"{place.url} with a wrong key: {answers.with_wrong_key.why}")


def _export(place: RuntimePlace) -> tuple[str, ...]:
    """Where another launch, or another person, runs the runtime: its key comes from there."""
    if place.key_file is not None:
        return ()
    name = place.key_from.partition(" ")[2] or RUNTIME_KEYS[-1]
    return (f'export {name}="$(cat JOB_DIR_OF_THE_RUNTIME/{KEY})"',)


def _open_file(place: RuntimePlace) -> Iterator[Finding]:
    file = place.key_file
    if file is not None and file.mode & _OTHERS:
        path = place.key_from.partition(" ")[2]
        yield Finding(
            message=f"{path} has mode {file.mode:04o}, so others may read the key; wanted 0600",
            remedy=Remedy(kind=RemedyKind.FIX_ENV, summary="close it", commands=(f"chmod 600 {path}",), safe=True),
            severity=Severity.WARNING,
        )


def _fault(
    message: str, *, summary: str = _ONE_FILE, severity: Severity = Severity.ERROR, commands: tuple[str, ...] = ()
) -> Finding:
    return Finding(
        message=message,
        evidence=(f"GET /sessions/doctor-probe with {RUNTIME_KEY_HEADER}",),
        remedy=Remedy(kind=RemedyKind.FIX_ENV, summary=summary, commands=commands),
        severity=severity,
    )
