"""What a broken rule looks like: data, so that all of them can be told at once."""

from collections.abc import Mapping
from dataclasses import field

from skyrl_train.contracts.record import record


@record(kw_only=True)
class Violation:
    """One broken rule. `key` is the setting to change; `settings` a change that satisfies this rule.

    `fatal` says that the run will fail; otherwise it will run, and not as it was meant.
    """

    key: str
    message: str
    settings: Mapping[str, str] = field(default_factory=dict)
    fatal: bool = True
