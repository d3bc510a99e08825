"""Accounts and qos that a partition does not allow, where `sbatch --test-only` does not know it."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from skyrl_train.launch import slurm
from skyrl_train.launch.job_requests import Choice

_LINE = re.compile(r"^(\w+)\s*= (.*)$", re.MULTILINE)
_VERSION = re.compile(r"(\d+)\.(\d+)")
_INHERITS_SINCE = (23, 2)
"""From this version on a list of accounts stands for the accounts below them too, which only the database knows."""
LIMIT_S = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Controller:
    """How slurmctld judges accounts and qos. Unknown until it answers."""

    version: tuple[int, int] | None = None
    enforces: bool = False
    """It refuses a job that its partition cannot run, and `sbatch --test-only` says so."""
    has_accounts: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Objection:
    """Why a partition does not run a job. `doubt`: why it might all the same."""

    text: str
    doubt: str = ""


def parse_controller(output: str) -> Controller:
    """Parses `scontrol show config`."""
    facts = {name: value.strip() for name, value in _LINE.findall(output)}
    version = _VERSION.match(facts.get("SLURM_VERSION", ""))
    return Controller(
        version=(int(version[1]), int(version[2])) if version else None,
        enforces=facts.get("EnforcePartLimits", "NO") != "NO",
        has_accounts=facts.get("AccountingStorageType", "").removeprefix("accounting_storage/")
        not in ("", "none", "(null)"),
    )


def ask_controller() -> Controller:
    try:
        return parse_controller(slurm.controller_settings(limit_s=LIMIT_S))
    except slurm.SlurmError:
        return Controller()


def objections(
    rules: Mapping[str, str], account: Choice | None, qos: Choice | None, ask: Callable[[], Controller]
) -> Iterator[Objection]:
    """What the rules of a partition say of the job's account and qos. Slurm is asked only if they object.

    Names are compared without case, as Slurm makes an account's lower case.
    """
    for chosen, kind in ((account, "Accounts"), (qos, "Qos")):
        allowed, denied = rules.get(f"Allow{kind}", "ALL"), rules.get(f"Deny{kind}", "")
        is_outside = chosen is not None and allowed != "ALL" and not _is_among(chosen, allowed)
        if chosen is None or not (is_outside or (allowed == "ALL" and _is_among(chosen, denied))):
            continue  # Slurm does not read the second list where there is a first one
        why = f"which allows {allowed}" if is_outside else "which denies it"
        made = _objection(
            f"{chosen} may not use partition {rules['PartitionName']}, {why}",
            ask(),
            may_inherit=is_outside and chosen is account,
        )
        if made:
            yield made


def _is_among(chosen: Choice, names: str) -> bool:
    return chosen.value.lower() in names.lower().split(",")


def _objection(text: str, controller: Controller, *, may_inherit: bool) -> Objection | None:
    """None where Slurm refuses the job by itself, or has no accounts to judge by: only a list of accounts counts then too."""
    if controller.version is None:
        return Objection(text=text, doubt="Slurm did not print its settings")
    if controller.enforces or not (may_inherit or controller.has_accounts):
        return None
    inherits = may_inherit and controller.version >= _INHERITS_SINCE
    return Objection(text=text, doubt="an account below an allowed one may use it too" if inherits else "")
