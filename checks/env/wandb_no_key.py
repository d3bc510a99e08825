"""The run logs to wandb, which cannot log in.

## What it does
Where the plan's loggers name wandb, looks for a key as wandb itself does: `WANDB_API_KEY` or
`WANDB_IDENTITY_TOKEN_FILE`, the netrc file's entry for the server, the settings files; and for a mode that needs none
(`WANDB_MODE=offline` or `disabled`, or what `wandb offline` wrote). A key's form is judged without showing the key.

## Why it breaks training
A job has no terminal to ask for the key. The logger is made when models are loaded already, and the run ends there.

## How to fix
Run `wandb login` once on the login node (it writes `~/.netrc`, which the job sees where the home directory is shared), or
export `WANDB_API_KEY` in the shell that submits, or set `WANDB_MODE=offline` and send the records later with `wandb sync`.
Keep the key out of the run's configuration: that is printed and kept with the job.

## Example
    wandb.errors.errors.UsageError: api_key not configured (no-tty). call wandb.login(key=[your_api_key])
"""

from collections.abc import Iterator

from skyrl_doctor.core.check import check
from skyrl_doctor.core.model import Finding, Remedy, RemedyKind, Role
from skyrl_doctor.core.signature import Signature
from skyrl_doctor.facts.wandb import KEYLESS, MODES, WandbLogin
from skyrl_doctor.plan.model import Plan

SIGNATURES = (
    Signature(
        pattern=r"\bapi_key not configured \(no-tty\)",
        sample="wandb.errors.errors.UsageError: api_key not configured (no-tty). call wandb.login(key=[your_api_key])",
        explain="W&B has no key in the process that logs",
        versions="wandb",
    ),
    Signature(
        pattern=r"\bNo API key configured",
        sample="wandb: ERROR No API key configured. Use `wandb login` to log in.",
        explain="W&B has no key in the process that logs",
        versions="wandb",
    ),
)


KEY = "trainer.logger"
LOG_IN = "log in with the first line, or log offline with the second"
OFFLINE_KEY = "trainer.wandb_offline"


@check("ENV005", roles=[Role.GPU, Role.LOGIN], fix="operator: the key belongs to the user alone")
def wandb_no_key(login: WandbLogin, plan: Plan) -> Iterator[Finding]:
    if login.mode is not None and login.mode not in MODES:
        seen = f"{login.mode_from} sets the mode {login.mode!r}"
        wanted = f"wanted one of {', '.join(MODES)}, which wandb takes in small letters alone"
        yield _finding(plan, f"{seen}; {wanted}", "set a mode that wandb knows", {"WANDB_MODE": "online"})
        return
    if not login.host:
        seen = f"{login.url_from} sets the server {login.url!r}"
        yield _finding(plan, f"{seen}; wanted a URL that starts with https:// or http://", "mend the server's URL", {})
        return
    if login.mode in KEYLESS or plan.flag(OFFLINE_KEY):
        return
    if login.credential is None:
        seen = (
            f"the run logs to wandb, and there is no key for {login.host}: WANDB_API_KEY is not set, and {login.note}"
        )
        yield _finding(plan, f"{seen}; wanted one of them, or WANDB_MODE=offline", LOG_IN, {})
    elif login.credential.problem:
        seen = f"the key for {login.host} from {login.credential.source} {login.credential.problem}"
        wanted = "wanted a whole key as https://wandb.ai/authorize shows it"
        yield _finding(plan, f"{seen}; {wanted}", LOG_IN, {})


def _finding(plan: Plan, message: str, summary: str, settings: dict[str, str]) -> Finding:
    commands = ("wandb login --relogin", "export WANDB_MODE=offline") if summary == LOG_IN else ()
    return Finding(
        message=message,
        location=plan.place(KEY),
        remedy=Remedy(kind=RemedyKind.FIX_ENV, summary=summary, commands=commands, settings=settings),
    )
