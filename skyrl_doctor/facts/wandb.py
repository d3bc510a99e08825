"""Whether wandb can log in: the source of its key and what is wrong with it. The key itself is not stored."""

from skyrl_doctor.core.check import probe
from skyrl_doctor.core.errors import CouldNotLook, NotApplicable
from skyrl_doctor.core.record import record
from skyrl_doctor.facts.child import answer_of, unknown_if_malformed
from skyrl_doctor.facts.worker_environ import plan_variables
from skyrl_doctor.machine.base import Machine
from skyrl_doctor.plan.model import Plan

MODES = ("online", "offline", "shared", "disabled", "dryrun", "run")
KEYLESS = ("offline", "disabled", "dryrun")
LIMIT_S = 5.0
LOGGER_KEY = "trainer.logger"
LOGGERS = frozenset({"wandb", "tracking"})
"""verl's names of the wandb logger, current and old."""


@record
class Credential:
    """The variable or file with the key. `problem` is what is wrong with its form, or ""."""

    source: str
    problem: str = ""


@record(kw_only=True)
class WandbLogin:
    """`host` is "" if wandb would refuse the URL. `mode` is None if it is unset, which means online.

    `note` is why the netrc file has no key.
    """

    url: str
    host: str
    url_from: str = ""
    mode: str | None = None
    mode_from: str = ""
    credential: Credential | None = None
    note: str = ""


@unknown_if_malformed()
def parse_login(text: str) -> WandbLogin:
    """Parses the output of children/wandb_login.py. Raises CouldNotLook for other text."""
    answer = answer_of(text, "wandb_login probe")
    credentials = [Credential(source, problem) for source, problem in answer.rows("credentials", 2)]
    return WandbLogin(
        url=answer.text("url"),
        host=answer.text("host"),
        url_from=answer.text("url_from"),
        mode=answer.text("mode", None),
        mode_from=answer.text("mode_from"),
        credential=credentials[0] if credentials else None,
        note=answer.text("note"),
    )


@probe(limit_s=LIMIT_S + 1)
def wandb(machine: Machine, plan: Plan) -> WandbLogin:
    """Runs a child program that reads the key; its output does not contain the key."""
    loggers = plan.texts(LOGGER_KEY)
    if loggers is None:
        raise NotApplicable(
            "the configuration names no logger" if plan else "no configuration was given, so no logger is known"
        )
    if not LOGGERS & set(loggers):
        raise NotApplicable(f"{plan.name(LOGGER_KEY)} is {', '.join(loggers) or 'empty'}: wandb is not used")
    asked = machine.ask("wandb_login", limit_s=LIMIT_S, env=plan_variables(plan))
    if not asked.ok:
        raise CouldNotLook(asked.why)
    return parse_login(asked.out)
