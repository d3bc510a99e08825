"""The doctor's own settings: skyrl-doctor.toml in this directory, or in a parent up to the root of the repository.

    fail-on = "warning"
    format = "text"
    ignore = ["ENV005"]

    [waivers.GPU003]
    reason = "the other job is mine and ends at noon"
    owner = "cluster team"
    expiry = 2027-01-31

Options of the command line come before it. The report names the file and the checks that it ignores.
"""

import argparse
import os
import tomllib
from collections.abc import Mapping, Sequence
from typing import Any

from skyrl_doctor.core.errors import UsageError
from skyrl_doctor.report.formats import FORMATS
from skyrl_train.contracts import bounded

NAME = "skyrl-doctor.toml"
NONE = "none"
_CHOICES = {"fail-on": ("error", "warning"), "format": FORMATS}
_SWITCHES = ("verbose", "show-skips")
_TEXTS = ("verl-version",)
KEYS = (*_CHOICES, *_SWITCHES, *_TEXTS, "ignore", "waivers")


def apply(args: argparse.Namespace, words: Sequence[str]) -> None:
    """Adds the settings to the arguments of a command that examines a machine, where `words` do not set them."""
    args.settings_file = None
    path = find(_here()) if args.settings is None else args.settings
    if path is None or path == NONE:
        return
    values = read(path)
    args.settings_file = path
    given = {word.partition("=")[0].removeprefix("--") for word in words if word.startswith("-")}
    if given & {"-v", "-q", "quiet"}:
        given.add("verbose")
    for key, value in values.items():
        name = key.replace("-", "_")
        if key == "ignore":
            args.ignore = [*args.ignore, *value]
        elif key != "waivers" and key not in given and hasattr(args, name):
            setattr(args, name, value)


def _here() -> str:
    """The working directory; the root where it was removed."""
    try:
        return os.getcwd()
    except OSError:
        return os.sep


def find(directory: str) -> str | None:
    """The settings file of this directory, or of the repository around it."""
    tried = [directory]
    while not os.path.exists(os.path.join(tried[-1], ".git")):
        parent = os.path.dirname(tried[-1])
        if parent == tried[-1]:  # no repository: a parent may belong to somebody else
            tried = [directory]
            break
        tried.append(parent)
    found = (os.path.join(one, NAME) for one in tried)
    return next((path for path in found if os.path.isfile(path)), None)


def read(path: str) -> dict[str, Any]:
    """The settings of a file. Raises UsageError that names the key."""
    try:
        table = tomllib.loads(bounded.read_text(path))
    except (OSError, ValueError, RecursionError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else error
        raise UsageError(f"{path}: {reason}") from None
    for key, value in table.items():
        _check(path, key, value)
    return table


def _check(path: str, key: str, value: object) -> None:
    if key not in KEYS:
        import difflib  # only an unknown key needs it

        close = difflib.get_close_matches(key, KEYS, n=1)
        hint = f"did you mean {close[0]}?" if close else f"the keys are {', '.join(KEYS)}"
        raise UsageError(f"{path}: unknown key {key!r}; {hint}")
    if key in _CHOICES and value not in _CHOICES[key]:
        raise UsageError(f"{path}: {key} is {value!r}; expected one of {', '.join(_CHOICES[key])}")
    if key in _SWITCHES and not isinstance(value, bool):
        raise UsageError(f"{path}: {key} is {value!r}; expected true or false")
    if key in _TEXTS and not isinstance(value, str):
        raise UsageError(f"{path}: {key} is {value!r}; expected a string")
    if key == "ignore" and not (isinstance(value, list) and all(isinstance(one, str) for one in value)):
        raise UsageError(f"{path}: ignore is {value!r}; expected a list of ids, slugs or families")
    if key == "waivers" and not isinstance(value, Mapping | list):
        raise UsageError(f"{path}: waivers is {value!r}; expected tables such as [waivers.GPU003]")
