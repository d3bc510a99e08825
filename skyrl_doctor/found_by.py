"""How a failure without a check is found, and the page of any failure of the catalogue."""

import importlib

from skyrl_doctor.catalogue import Entry, When
from skyrl_doctor.core.check import Check

_FINDERS = {When.WATCH: "skyrl-doctor watch", When.LOG: "skyrl-doctor diagnose"}


def finders(entry: Entry) -> tuple[str, ...]:
    """The commands that find it without a check. None for one that shows before the job: that one needs a check."""
    return () if When.PREFLIGHT in entry.when else tuple(_FINDERS[when] for when in entry.when if when in _FINDERS)


def found_by(entry: Entry) -> str:
    """The same as a sentence."""
    found = finders(entry)
    return f"Found by {' and '.join(found)}." if found else "Not built yet."


def page(entry: Entry | None, check: Check | None) -> str:
    """The docstring of the failure's file."""
    if check is not None:
        return check.page
    return (importlib.import_module(entry.module).__doc__ or "").strip() if entry else ""
