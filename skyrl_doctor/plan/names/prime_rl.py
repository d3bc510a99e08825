"""The stored tables of prime-rl: names, defaults and renames, each with its source and date."""

import functools
import json
import os
from collections.abc import Mapping
from typing import Any

DATA = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "defaults")


@functools.cache
def table(name: str) -> Mapping[str, Any]:
    """A shipped JSON table of names, defaults or renames, with its source and date."""
    with open(os.path.join(DATA, name), encoding="utf-8") as file:
        found: Mapping[str, Any] = json.load(file)
    return found
