"""Whether wandb could log in: where it would take its key from, and what is wrong with it. The key itself is not here."""

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
"""As verl names it; the second is its old name."""


@record
class Credential:
    """Where a key is: a variable or a file. `problem` is what is wrong with its form, "" where nothing is."""

    source: str
    problem: str = ""


@record(kw_only=True)
class WandbLogin:
    """`host` is "" where wandb would refuse the server's URL; `mode` None is unset: online.

    `note` tells why the netrc file gives no key.
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
    """What children/wandb_login.py printed; CouldNotLook where it is none of that."""
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
    """Asks a child whether wandb could log in: it sees the key, and nothing that leaves it does."""
    loggers = plan.texts(LOGGER_KEY)
    if loggers is None:
        raise NotApplicable("the plan names no logger" if plan else "no plan was given: no logger is known")
    if not LOGGERS & set(loggers):
        raise NotApplicable(f"{plan.name(LOGGER_KEY)} is {', '.join(loggers) or 'empty'}: wandb is not used")
    asked = machine.ask("wandb_login", limit_s=LIMIT_S, env=plan_variables(plan))
    if not asked.ok:
        raise CouldNotLook(asked.why)
    return parse_login(asked.out)
