"""Refuses values of filters that no rollout can have, such as a misspelt tool."""

import difflib

from skyrl_train.contracts.agent.finish import Finish
from skyrl_train.contracts.errors import UsageError
from skyrl_train.view.filters import Filters
from skyrl_train.view.index import Index

NAMED = 12


def refuse_unknown_values(index: Index, filters: Filters) -> None:
    """UsageError for an end or a tool that is not in the index."""
    if not index.rows("SELECT id FROM rollout LIMIT 1"):
        return
    if filters.end:
        ends = {row["finish"] for row in index.rows("SELECT DISTINCT finish FROM rollout LIMIT 2000")}
        _refuse("--end", filters.end, ends, known=ends | set(Finish), ignore_case=True)
    if filters.tool:
        lists = index.rows("SELECT DISTINCT tools FROM rollout LIMIT 20000")
        tools = {name for row in lists for name in row["tools"].split(",") if name}
        _refuse("--tool", filters.tool, tools, known=tools, ignore_case=False)


def _refuse(option: str, value: str, here: set[str], *, known: set[str], ignore_case: bool) -> None:
    by_case = {name.lower(): name for name in known}
    if value in known or (ignore_case and value.lower() in by_case):
        return
    close = [by_case[name] for name in by_case if name.startswith(value.lower())] or [
        by_case[name] for name in difflib.get_close_matches(value.lower(), by_case, n=1)
    ]
    hint = f"did you mean {close[0]}?" if close else f"the rollouts have {', '.join(sorted(here)[:NAMED]) or 'none'}"
    raise UsageError(f"{option} {value}: no rollout has this value; {hint}")
