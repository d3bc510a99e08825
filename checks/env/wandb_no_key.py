"""The run logs to wandb, but wandb cannot log in.

## What it does
If the plan's loggers include wandb, looks for a key as wandb itself does: `WANDB_API_KEY` or
`WANDB_IDENTITY_TOKEN_FILE`, the netrc file's entry for the server, the settings files; and for a mode that needs no
key (`WANDB_MODE=offline` or `disabled`, or the setting that `wandb offline` wrote). The form of a key is checked
without printing it.

## Why it breaks training
A job has no terminal to ask for the key. The logger is created after the models have loaded, and the run ends there.

## How to fix
Run `wandb login` once on the login node (it writes `~/.netrc`, which the job can read if the home directory is
shared), or export `WANDB_API_KEY` in the shell that submits, or set `WANDB_MODE=offline` and send the records later
with `wandb sync`. Keep the key out of the run's configuration: that is printed and kept with the job.

## Example
    wandb.errors.errors.UsageError: api_key not configured (no-tty). call wandb.login(key=[your_api_key])
"""

from collections.abc import Iterator

from checks.vocabulary import LACK, WRONG
from skyrl_doctor.core.check import check
from skyrl_doctor.core.model import Finding, Remedy, RemedyKind, Role
from skyrl_doctor.core.signature import Signature
from skyrl_doctor.facts.wandb import KEYLESS, MODES, WandbLogin
from skyrl_doctor.plan.model import Plan

NO_KEY = "W&B has no key in the process that logs"
NO_VALID_KEY = "W&B has no key or a wrong one in the process that logs"

KEYS = ("trainer.logger",)

LOG_IN = "Run `wandb login`{slurm: on the login node|} (it writes `~/.netrc`), or export `WANDB_API_KEY` for the process that trains, or log without W&B's server: `export WANDB_MODE=offline`."

SIGNATURES = (
    Signature(
        pattern=r"\bapi_key not configured \(no-tty\)",
        sample="wandb.errors.errors.UsageError: api_key not configured (no-tty). call wandb.login(key=[your_api_key])",
        explain=NO_KEY,
        remedy=LOG_IN,
        versions="wandb",
    ),
    Signature(
        pattern=r"\bNo API key configured",
        sample="wandb: ERROR No API key configured. Use `wandb login` to log in.",
        explain=NO_KEY,
        remedy=LOG_IN,
        versions="wandb",
    ),
    Signature(
        pattern=r"\bapi_key not configured|\bAPI key must (?:be|have) (?:at least )?\d+",
        sample="ValueError: API key must be 40 characters long, yours was 12",
        explain=NO_VALID_KEY,
        remedy=LOG_IN,
        versions="wandb",
    ),
    Signature(
        pattern=r"wandb\S{0,40}(?:AuthenticationError|: ERROR .{0,80}(?:user is not logged in|[Ii]nvalid API key|API key verification failed|permission denied \(<Response \[40[13]))|returned error 401.{0,200}user is not logged in|\b401 Client Error: Unauthorized for url: https://api\.wandb\.ai/|\bupsertBucket.{0,200}(?:not logged in|permission denied)",
        sample="wandb: ERROR Error while calling W&B API: user is not logged in (<Response [401]>)",
        explain=NO_VALID_KEY,
        remedy=LOG_IN,
        versions="wandb",
    ),
    Signature(
        pattern=r"wandb\.errors.{0,80}(?:not logged in|[Ll]ogin required|API key|api_key)",
        sample="wandb.errors.CommError: It appears that you are not logged in. Run wandb login",
        explain=NO_VALID_KEY,
        remedy=LOG_IN,
        versions="wandb",
    ),
    Signature(
        pattern=r"\bWANDB_API_KEY\b.{0,40}(?:not set|unset|missing|required|must be set|not found|not defined|invalid)|\b(?:[Mm]issing|[Nn]o) (?:env\w* (?:var\w* )?)?WANDB_API_KEY\b",
        sample="ValueError: WANDB_API_KEY is not set",
        explain=NO_VALID_KEY,
        remedy=LOG_IN,
        versions="any",
    ),
    Signature(
        pattern=r"\bNameResolutionError: .{0,200}Failed to resolve '(?P<host>[\w.-]{0,80}wandb\.\w{2,10})'|\b\w{1,40}(?:Error|Timeout): HTTPSConnectionPool\(host='(?P<server>[\w.-]{0,80}wandb\.\w{2,10})', port=\d{1,5}\): Max retries exceeded",
        unless=r"\bwandb: |\bWARN(?:ING)?\b|retry loop",
        sample="urllib3.exceptions.NameResolutionError: <urllib3.connection.HTTPSConnection object at 0x7f>: Failed to resolve 'api.wandb.ai' ([Errno -3] Temporary failure in name resolution)",
        explain="this node does not reach W&B's server",
        remedy="Log without it: `export WANDB_MODE=offline` for the process that trains, and `wandb sync DIR` later from a machine with a network. With a proxy, set `HTTPS_PROXY` for the job.",
        versions="wandb, weave",
    ),
    Signature(
        pattern=r"wandb\.errors.{0,80}do not have permission to access the requested resource|\bentity \S{1,80} not found during upsertBucket|wandb\.errors.{0,40}(?:Run initialization has timed out|Unable to connect to server to verify API token|The API key you provided is either invalid or missing)",
        sample="wandb.errors.CommError: It appears that you do not have permission to access the requested resource. Please reach out to the project owner to grant you access.",
        explain="the W&B key of this process has no access to the entity or project",
        remedy="Compare the entity and the project with those of the account (`wandb login --relogin` shows it), or log offline: `export WANDB_MODE=offline`.",
        versions="wandb",
    ),
)

TOPIC = Signature(
    pattern=rf"(?i)(?:\bW&B\b|\bwandb\b|weights and biases).{{0,100}}(?:\bno api[ _]key|api[ _]key.{{0,40}}(?:{LACK}|{WRONG})|not logged in|log ?in (?:failed|required)|unauthori[sz]ed)",
    sample="RuntimeError: W&B login failed: no API key found in the environment",
    explain=NO_VALID_KEY,
    remedy=LOG_IN,
    versions="any",
)

KEY = "trainer.logger"
LOG_IN = "`wandb login --relogin`, or to log offline `export WANDB_MODE=offline`"
OFFLINE_KEY = "trainer.wandb_offline"


@check("ENV005", roles=[Role.GPU, Role.LOGIN], fix="operator: the key belongs to the user alone")
def wandb_no_key(login: WandbLogin, plan: Plan) -> Iterator[Finding]:
    if login.mode is not None and login.mode not in MODES:
        seen = f"{login.mode_from} sets the mode {login.mode!r}"
        expected = f"expected one of {', '.join(MODES)}, in lower case"
        yield _finding(plan, f"{seen}; {expected}", "set a mode that wandb knows", {"WANDB_MODE": "online"})
        return
    if not login.host:
        seen = f"{login.url_from} sets the server {login.url!r}"
        yield _finding(
            plan, f"{seen}; expected a URL that starts with https:// or http://", "correct the server's URL", {}
        )
        return
    if login.mode in KEYLESS or plan.flag(OFFLINE_KEY):
        return
    if login.credential is None:
        seen = f"wandb has no key for {login.host}: WANDB_API_KEY is not set, and {login.note}"
        yield _finding(plan, f"{seen}; run `wandb login`, or set WANDB_MODE=offline", LOG_IN, {})
    elif login.credential.problem:
        seen = f"the key for {login.host} from {login.credential.source} {login.credential.problem}"
        expected = "expected a complete key as https://wandb.ai/authorize shows it"
        yield _finding(plan, f"{seen}; {expected}", LOG_IN, {})


def _finding(plan: Plan, message: str, summary: str, settings: dict[str, str]) -> Finding:
    return Finding(
        message=message,
        location=plan.place(KEY),
        remedy=Remedy(kind=RemedyKind.FIX_ENV, summary=summary, settings=settings),
    )
