"""Whether wandb could log in: where it would take its key from, and what is wrong with it. The key itself is not here."""

from skyrl_doctor.core.record import record
from skyrl_doctor.facts.child import answer_of

MODES = ("online", "offline", "shared", "disabled", "dryrun", "run")
KEYLESS = ("offline", "disabled", "dryrun")


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


def parse_login(text: str) -> WandbLogin:
    """What children/wandb_login.py printed; CouldNotLook where it is none of that."""
    answer = answer_of(text, "wandb_login probe")
    credentials = [Credential(source, problem) for source, problem in answer.rows("credentials", 2)]
    return WandbLogin(
        url=answer.text("url"),
        host=answer.text("host"),
        url_from=answer.text("url_from"),
        mode=answer.text("mode") if "mode" in answer else None,
        mode_from=answer.text("mode_from"),
        credential=credentials[0] if credentials else None,
        note=answer.text("note"),
    )
