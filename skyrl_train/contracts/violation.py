"""The record of a broken rule, so that all of them can be reported at once."""

from collections.abc import Mapping
from dataclasses import field

from skyrl_train.contracts.record import record


@record(kw_only=True)
class Violation:
    """One broken rule. `key` is the setting to change; `settings` a change that satisfies this rule.

    `fatal`: the run will fail. Otherwise it runs, but not as intended.
    """

    key: str
    message: str
    settings: Mapping[str, str] = field(default_factory=dict)
    fatal: bool = True
