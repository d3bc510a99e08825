"""Accounts and qos that a partition does not allow. Seen on a real Slurm 22.05 without accounting: with EnforcePartLimits
ALL or ANY `sbatch --test-only` refuses an account outside the list; with NO it accepts it, and the job waits for ever. A
list of denied accounts and lists of qos count only where there is a database of accounts.
"""

import pytest

from skyrl_train.launch.account_rules import Controller, Objection, ask_controller, objections, parse_controller
from skyrl_train.launch.job_requests import Choice

SETTINGS = """\
Configuration data as of 2026-11-23T18:39:15
AccountingStorageBackupHost = (null)
AccountingStorageEnforce = none
AccountingStorageType   = accounting_storage/slurmdbd
EnforcePartLimits       = NO
SLURM_CONF              = /etc/slurm/slurm.conf
SLURM_VERSION           = 22.05.8
"""
OLD = parse_controller(SETTINGS)
NEW = parse_controller(SETTINGS.replace("22.05.8", "23.02.0"))
ENFORCING = parse_controller(SETTINGS.replace("= NO", "= ANY"))
BARE = parse_controller(SETTINGS.replace("accounting_storage/slurmdbd", "accounting_storage/none"))
SILENT = parse_controller("")
OUTSIDE = "slurm.account = 'us' may not use partition p, which allows them,lab"
DENIED = "slurm.account = 'us' may not use partition p, which denies it"
NO_QOS = "slurm.qos = 'low' may not use partition p, which allows high"
ACCOUNTS, DENIES, QOS = "AllowAccounts=them,lab", "AllowAccounts=ALL DenyAccounts=us", "AllowQos=high"
ACCOUNT, LOW = Choice("slurm.account", "us"), Choice("slurm.qos", "low")
BELOW, UNTOLD = "an account below an allowed one may use it too", "Slurm did not print its settings"


def told(line: str, controller: Controller) -> list[Objection]:
    rules = dict(word.split("=") for word in f"PartitionName=p {line}".split())
    return list(objections(rules, ACCOUNT, LOW, lambda: controller))


def test_the_settings_of_slurm() -> None:
    assert Controller(version=(22, 5), has_accounts=True) == OLD
    assert Controller(version=(23, 2), has_accounts=True) == NEW
    assert Controller(version=(22, 5), enforces=True, has_accounts=True) == ENFORCING
    assert Controller(version=(22, 5)) == BARE
    assert parse_controller(SETTINGS.replace("accounting_storage/none", "(null)")).has_accounts
    assert parse_controller("AccountingStorageType = (null)\nSLURM_VERSION = 25.11.0-rc1\n") == Controller(
        version=(25, 11)
    )
    assert Controller() == SILENT


def test_a_controller_that_does_not_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    assert ask_controller() == Controller()


@pytest.mark.parametrize(
    ("line", "controller", "expected"),
    [
        (ACCOUNTS, OLD, [Objection(text=OUTSIDE)]),
        (ACCOUNTS, BARE, [Objection(text=OUTSIDE)]),
        (ACCOUNTS, NEW, [Objection(text=OUTSIDE, doubt=BELOW)]),
        (ACCOUNTS, SILENT, [Objection(text=OUTSIDE, doubt=UNTOLD)]),
        (ACCOUNTS, ENFORCING, []),
        (DENIES, OLD, [Objection(text=DENIED)]),
        (DENIES, NEW, [Objection(text=DENIED)]),
        (DENIES, BARE, []),
        (DENIES, ENFORCING, []),
        ("AllowAccounts=us DenyAccounts=us", OLD, []),
        ("AllowAccounts=US", OLD, []),
        ("AllowAccounts=ALL DenyAccounts=US", OLD, [Objection(text=DENIED)]),
        ("AllowQos=Low", OLD, []),
        (QOS, OLD, [Objection(text=NO_QOS)]),
        (QOS, NEW, [Objection(text=NO_QOS)]),
        (QOS, BARE, []),
        (f"{ACCOUNTS} {QOS}", OLD, [Objection(text=OUTSIDE), Objection(text=NO_QOS)]),
    ],
)
def test_what_the_rules_say(line: str, controller: Controller, expected: list[Objection]) -> None:
    assert told(line, controller) == expected


def test_an_account_in_capitals() -> None:
    """Slurm makes it lower case, in a job and in the rules of a partition: seen on a real 22.05."""
    rules = {"PartitionName": "p", "AllowAccounts": "us"}
    assert list(objections(rules, Choice("slurm.account", "US"), None, lambda: OLD)) == []
    assert [one.text for one in objections(rules, Choice("slurm.account", "ML"), None, lambda: OLD)] == [
        "slurm.account = 'ML' may not use partition p, which allows us"
    ]


def test_slurm_is_asked_only_if_the_rules_object() -> None:
    def ask() -> Controller:
        raise AssertionError

    rules = {"PartitionName": "p", "AllowAccounts": "us", "AllowQos": "ALL", "DenyQos": "high"}
    assert list(objections(rules, ACCOUNT, LOW, ask)) == list(objections(rules, None, None, ask)) == []
