"""What the viewer asks: the state, the steps, rollouts by filter, groups of one prompt, one rollout. All are JSON objects."""

import sqlite3
import time
from collections.abc import Callable, Mapping
from typing import Any

from skyrl_train.contracts.printable import printable
from skyrl_train.view import transcripts
from skyrl_train.view.filters import Filters
from skyrl_train.view.index import Index
from skyrl_train.view.search import COLUMNS, Lines, matches, rows_before

PAGE = 100
GROUPS = 60
MOST_OF_GROUP = 64
SEARCH_S = 0.7
"""Seconds that one answer searches texts; the next one goes on."""
JsonObject = dict[str, Any]


class NotFoundError(Exception):
    """There is no such rollout, or no such question."""


class Answers:
    def __init__(self, index: Index, now: Callable[[], float] = time.monotonic) -> None:
        self._index, self._now = index, now

    def state(self) -> JsonObject:
        """How much was read, and the values that the filters may have."""
        (row,) = self._index.rows("SELECT count(*) AS rollouts, max(step) AS step FROM rollout")
        (broken,) = self._index.rows("SELECT sum(broken) AS lines FROM file")
        ends = self._index.rows("SELECT finish, count(*) AS number FROM rollout GROUP BY finish ORDER BY number DESC")
        lists = self._index.rows("SELECT DISTINCT tools FROM rollout LIMIT 2000")
        return {
            "rollouts": row["rollouts"],
            "step": row["step"],
            "broken": broken["lines"] or 0,
            "trouble": printable(self._index.trouble),
            "ends": [[printable(one["finish"]), one["number"]] for one in ends[:40]],
            "tools": sorted({printable(name) for one in lists for name in one["tools"].split(",") if name})[:100],
        }

    def steps(self) -> JsonObject:
        """The means of each step, for the plots."""
        rows = self._index.rows(
            "SELECT step, count(*) AS rollouts, avg(reward) AS reward, avg(reward >= 1) AS solved, avg(masked) AS masked, "
            "avg(turns) AS turns, avg(written) AS written, avg(read) AS read, avg(reply_s) AS reply_s, "
            "avg(command_s) AS command_s, max(duration_s) AS longest_s, avg(call_errors) AS call_errors "
            "FROM rollout WHERE step IS NOT NULL GROUP BY step ORDER BY step LIMIT 20000"
        )
        return {"steps": [dict(row) for row in rows]}

    def rollouts(self, filters: Filters, *, text: str = "", before: int | None = None) -> JsonObject:
        """A page of rollouts, the newest first, and where the next page begins."""
        condition, values = filters.sql()
        if text:
            return self._search(condition, values, text, before)
        rows = rows_before(self._index, condition, values, before, PAGE + 1)
        (count,) = self._index.rows(f"SELECT count(*) AS number FROM rollout WHERE {condition}", values)
        return {
            "rows": [_row(row) for row in rows[:PAGE]],
            "next": rows[PAGE - 1]["id"] if len(rows) > PAGE else None,
            "count": count["number"],
        }

    def groups(self, filters: Filters, *, start: int = 0) -> JsonObject:
        """Rollouts of the same prompt in the same step, the newest step first."""
        condition, values = filters.sql()
        rows = self._index.rows(
            f"SELECT step, task FROM rollout WHERE {condition} GROUP BY step, task ORDER BY step DESC, task "
            "LIMIT ? OFFSET ?",
            (*values, GROUPS + 1, start),
        )
        groups = [self.group(row["step"], row["task"]) for row in rows[:GROUPS]]
        return {"groups": groups, "next": start + GROUPS if len(rows) > GROUPS else None}

    def group(self, step: int | None, task: str) -> JsonObject:
        """All rollouts of one prompt in a step."""
        rows = self._index.rows(
            f"SELECT {COLUMNS} FROM rollout WHERE step IS ? AND task = ? ORDER BY id LIMIT {MOST_OF_GROUP}",
            (step, task),
        )
        return {"step": step, "task": printable(task), "rollouts": [_row(row) for row in rows]}

    def rollout(self, name: str) -> JsonObject:
        """A rollout by its name, with its turns, and its neighbours in the list."""
        row, line = self._stored(name)
        older = self._index.rows("SELECT rollout FROM rollout WHERE id < ? ORDER BY id DESC LIMIT 1", (row["id"],))
        newer = self._index.rows("SELECT rollout FROM rollout WHERE id > ? ORDER BY id LIMIT 1", (row["id"],))
        return {
            **_row(row),
            **_transcript(line),
            "older": older[0]["rollout"] if older else None,
            "newer": newer[0]["rollout"] if newer else None,
        }

    def part(self, name: str, turn: int, what: str, start: int) -> JsonObject:
        """A piece of a long text."""
        try:
            return transcripts.part(self._stored(name)[1], turn, what, start)
        except ValueError as error:
            raise NotFoundError(str(error)) from None

    def _stored(self, name: str) -> tuple[sqlite3.Row, bytes]:
        rows = self._index.rows(
            f"SELECT {COLUMNS}, start, length, file FROM rollout WHERE rollout = ? ORDER BY id DESC LIMIT 1", (name,)
        )
        if not rows:
            raise NotFoundError("no rollout has this name")
        try:
            with Lines(self._index) as lines:
                return rows[0], lines.of(rows[0])
        except OSError as error:
            raise NotFoundError(f"{error.filename}: {error.strerror}") from None

    def _search(self, condition: str, values: list[object], text: str, before: int | None) -> JsonObject:
        """Searches the texts themselves for a while."""
        until, found, searched = self._now() + SEARCH_S, list[JsonObject](), 0
        for row, matched in matches(self._index, condition, values, text, before):
            before, searched = row["id"], searched + 1
            if matched:
                found.append(_row(row))
            if len(found) >= PAGE or self._now() >= until:
                return {"rows": found, "next": before, "searched": searched}
        return {"rows": found, "next": None, "searched": searched}


def _transcript(line: bytes) -> JsonObject:
    try:
        return transcripts.rollout(line)
    except ValueError as error:
        raise NotFoundError(str(error)) from None


def _row(row: sqlite3.Row) -> JsonObject:
    kept = {name: value for name, value in dict(row).items() if name not in ("id", "start", "length", "file", "tools")}
    texts = {name: printable(kept[name]) for name in ("task", "finish", "detail", "why")}
    return {**kept, **texts, "masked": bool(kept["masked"]), "tools": [one for one in row["tools"].split(",") if one]}


def filters_of(words: Mapping[str, str]) -> Filters:
    """The filters of a query. ValueError for a number that is none."""
    return Filters(
        failed=words.get("failed") == "1",
        least_reward=_number(words.get("least")),
        most_reward=_number(words.get("most")),
        end=words.get("end", ""),
        step=whole(words.get("step")),
        task=words.get("task", ""),
        tool=words.get("tool", ""),
        tests=words.get("tests", ""),
    )


def whole(text: str | None) -> int | None:
    """A whole number of at most 12 digits, None for an empty text. ValueError for anything else."""
    if not text:
        return None
    if not text.isascii() or not text.isdigit() or len(text) > 12:
        raise ValueError(f"{text[:20]!r} is not a number")
    return int(text)


def _number(text: str | None) -> float | None:
    return float(text[:40]) if text else None
