"""The driver runs under `uv run`, and Ray starts every worker the same way.

## What it does
Looks for `uv run` in the plan's launcher and among the parent processes of the doctor. Then checks whether
`RAY_ENABLE_UV_RUN_RUNTIME_ENV` leaves Ray's hook on: unset, `1` and `true` mean on, every other value means off.
A run that sets `runtime_env.py_executable` to `uv run` asks for it, and has no finding.

## Why it breaks training
Ray 2.47 and later start each worker through the same `uv run` command in a copy of the working directory. Every
worker builds its environment again. That takes minutes without output, loses packages that were added by hand, and
fails if `pyproject.toml` is outside the working directory. verl passes no working directory, so `ray.init()` raises
if the hook was turned on by hand; recent verl turns it off if the variable is unset.

## How to fix
Set `RAY_ENABLE_UV_RUN_RUNTIME_ENV=0` (`skyrl-doctor env` does), or start the driver with the environment's own
interpreter: `.venv/bin/python` instead of `uv run python`.

## Example
    (pid=3120) Installed 187 packages in 95.31s
    TypeError: path_or_uri must be a string, got NoneType.
"""

import posixpath
from collections.abc import Iterator, Sequence

from skyrl_doctor.core.check import check
from skyrl_doctor.core.errors import NotApplicable
from skyrl_doctor.core.model import Finding, Location, Remedy, RemedyKind, Role, Severity
from skyrl_doctor.facts.ancestors import Ancestors
from skyrl_doctor.facts.environ import Environ
from skyrl_doctor.facts.host import Roles
from skyrl_doctor.plan.model import Plan
from skyrl_train.node.ray import HOOK, UV_HOOK, UV_SWITCH, is_true, is_uv_run, uv_hook_is_on

KEY = "python.launcher"
PY_EXECUTABLE = "runtime_env.py_executable"
_SHOWN_ARGUMENTS = 6
_OWN_NAMES = ("skyrl-doctor", "skyrl_doctor")


@check("ENV003", roles=[Role.GPU, Role.LOGIN], fix="skyrl_train/node/ray.py")
def uv_run_replicated_to_workers(
    ancestors: Ancestors | None, environ: Environ, plan: Plan, roles: Roles
) -> Iterator[Finding]:
    if all(dialect.startswith("prime") for dialect in plan.dialect.split("+")):
        raise NotApplicable("prime-rl starts no Ray")
    if not uv_hook_is_on(environ):
        return
    if _is_asked_for(plan):
        return
    launcher = plan.find(KEY)
    if launcher is not None and is_uv_run(str(launcher.value).split()):
        yield _finding(f"`{launcher.value}` starts the driver", environ, _severity(environ, plan), plan.place(KEY))
        return
    if ancestors is None or Role.GPU not in roles:
        return  # what is submitted from here starts under slurmstepd, not under this shell
    above = next((process for process in ancestors.processes if is_uv_run(process.argv)), None)
    if above is None:
        return
    who = f"parent process {above.pid} of the doctor is `{_shown(above.argv)}`"
    is_ours = _starts_the_doctor(above.argv)
    if is_ours:
        who += " (it started the doctor; this matters only if the trainer starts the same way)"
    yield _finding(who, environ, Severity.INFO if is_ours else _severity(environ, plan), None)


def _is_asked_for(plan: Plan) -> bool:
    """Whether the run itself tells Ray to start workers with `uv run`, as verl's example of uv does."""
    given = (str(value.value).split() for key, value in plan.own.items() if key.endswith(PY_EXECUTABLE))
    return any(posixpath.basename(words[0]) == "uv" and "run" in words[1:] for words in given if words)


def _severity(environ: Environ, plan: Plan) -> Severity:
    """On by hand, the hook ends verl's start for certain: verl gives no working directory."""
    by_hand = is_true(environ.get(UV_SWITCH, "")) or UV_HOOK in environ.get(HOOK, "")
    return Severity.ERROR if by_hand and plan else Severity.WARNING


def _finding(who: str, environ: Environ, severity: Severity, location: Location | None) -> Finding:
    hook_by_name = UV_HOOK in environ.get(HOOK, "")
    value = environ.get(UV_SWITCH)
    switch = f"{UV_SWITCH} is unset" if value is None else f"{UV_SWITCH}={value}"
    if hook_by_name:
        switch = f"{HOOK}={environ[HOOK]} names the hook"
    commands = (f"export {UV_SWITCH}=0", *((f"unset {HOOK}",) if hook_by_name else ()))
    return Finding(
        message=f"{who}, and {switch}, so Ray runs `uv run` for every worker; expected {UV_SWITCH}=0",
        severity=severity,
        location=location,
        remedy=Remedy(
            kind=RemedyKind.FIX_ENV,
            summary="let workers use the driver's interpreter",
            commands=commands,
            settings={UV_SWITCH: "0"},
            safe=True,
        ),
    )


def _starts_the_doctor(argv: Sequence[str]) -> bool:
    """`uv run skyrl-doctor preflight`: no trainer comes of it, other than of `… gate -- CMD`."""
    return "gate" not in argv and any(posixpath.basename(argument) in _OWN_NAMES for argument in argv[2:])


def _shown(argv: Sequence[str]) -> str:
    more = " …" if len(argv) > _SHOWN_ARGUMENTS else ""
    return " ".join(argv[:_SHOWN_ARGUMENTS]) + more
