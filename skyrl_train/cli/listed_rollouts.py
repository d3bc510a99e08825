"""Lists the rollouts of a job for `skyrl-train show`: one line each, with the viewer's filters, through a pager."""

import argparse
import contextlib
import os
import pydoc
import sys
from collections.abc import Iterator
from pathlib import Path

from skyrl_train.cli.rollout_table import Table
from skyrl_train.cli.rollout_values import refuse_unknown_values
from skyrl_train.contracts.errors import UsageError
from skyrl_train.contracts.job_files import JOB_SUMMARIES
from skyrl_train.contracts.printable import printable
from skyrl_train.contracts.rollout_summaries import directory_of, files_in, step_of
from skyrl_train.contracts.screen import limit, print_note
from skyrl_train.contracts.similar_path import missing_rollouts
from skyrl_train.view.filters import Filters
from skyrl_train.view.index import Index, cache_directory
from skyrl_train.view.search import count_before, matches, rows_before

MOST_LISTED = 2000
PAGED_LINES = 40
SMALL = 8 << 20
"""Bytes of transcripts that are read at once, without an index in the cache."""


def add_filters(parser: argparse.ArgumentParser) -> None:
    """Adds the filters of a list."""
    group = parser.add_argument_group("filters, which list rollouts, the newest first")
    group.add_argument("--failed", action="store_true", help="masked, without a reward, or with a reward below 1")
    group.add_argument("--reward-from", type=float, metavar="R", help="reward of at least R")
    group.add_argument("--reward-to", type=float, metavar="R", help="reward of at most R")
    group.add_argument("--end", default="", metavar="END", help="how it ended, such as max_iterations_reached")
    group.add_argument("--step", type=int, metavar="N", help="training step")
    group.add_argument("--task", default="", metavar="TEXT", help="text in the task's id")
    group.add_argument("--tool", default="", metavar="NAME", help="a tool that the rollout called")
    group.add_argument("--tests", default="", metavar="TEXT", help="text in the result of the tests, as a test's name")
    group.add_argument("--text", default="", metavar="TEXT", help="text in the prompt, a reply or a result")
    group.add_argument("--after", default="", metavar="ID", help="continue the list after this rollout")
    group.add_argument("--all", action="store_true", help=f"list all, not only the newest {MOST_LISTED}")


def filters_of(args: argparse.Namespace) -> Filters | None:
    """The filters of the arguments; None without any."""
    filters = Filters(
        failed=args.failed,
        least_reward=args.reward_from,
        most_reward=args.reward_to,
        end=args.end,
        step=args.step,
        task=args.task,
        tool=args.tool,
        tests=args.tests,
    )
    return filters if filters != Filters() or args.text or args.after or args.all else None


def list_rollouts(source: Path, filters: Filters, args: argparse.Namespace) -> int:
    """Prints a line for each rollout that the filters accept. Exit status 1 if a line of a file is invalid."""
    with _index(source, filters) as index:
        refuse_unknown_values(index, filters)
        condition, values = filters.sql()
        before = _row_of(index, args.after, source) if args.after else None
        most = sys.maxsize if args.all else MOST_LISTED
        table = Table(limit())
        more = False
        for row, matched in matches(index, condition, values, args.text, before):
            if matched and len(table) == most:
                more = True
                break
            if matched:
                table.add(row)
        left = 0 if args.text else count_before(index, condition, values, before) - len(table)
        (counted,) = index.rows("SELECT sum(broken) AS lines FROM file")
        broken, trouble = counted["lines"] or 0, index.trouble
    lines = list(table.lines())
    rollouts = f"{len(table)} rollout{'s' * (len(table) != 1)}"
    if more:
        rest = f"{left} more" if left else "more"
        lines.append(f"… and {rest}: `--after {table.last}` lists the next {most}, `--all` lists all")
        rollouts += f" of {left + len(table)}" if left else ", and more"
    lines.append(rollouts)
    if broken:
        lines.append(f"{broken} invalid {'line' if broken == 1 else 'lines'}")
    page("\n".join(lines) + "\n", pager=not args.no_pager)
    if trouble:
        print_note(f"skyrl-train show: {trouble}")
    return 1 if broken or trouble else 0


def file_of(directory: Path, rollout: str) -> Path:
    """The file of a directory that holds a rollout, or the newest rollout of a task. UsageError if none does."""
    with _index(directory, Filters()) as index:
        for condition in ("rollout = ?", "task = ?"):
            for row in rows_before(index, condition, [rollout], None, 1):
                (file,) = index.rows("SELECT path FROM file WHERE id = ?", (row["file"],))
                return Path(file["path"])
    raise UsageError(f"{directory}: no rollout {rollout}; list them with skyrl-train show {directory}")


def unreadable(source: Path, error: OSError) -> str:
    """Why a file or directory of transcripts cannot be read, and what to name instead."""
    if isinstance(error, FileNotFoundError):
        return missing_rollouts(str(source))
    if isinstance(error, PermissionError):
        return f"you may not read {source}"
    return f"{source} cannot be read: {error.strerror or error}"


def page(text: str, *, pager: bool) -> None:
    """Prints a text, on a terminal through the user's pager if it is long."""
    if pager and sys.stdout.isatty() and text.count("\n") > PAGED_LINES:
        pydoc.pager(printable(text))
    else:
        sys.stdout.write(text)


@contextlib.contextmanager
def _index(source: Path, filters: Filters) -> Iterator[Index]:
    """The viewer's index of a source, brought up to date. Few bytes, or one step, are read without it."""
    try:
        paths = files_in(directory_of(str(source)))
    except OSError as error:
        raise UsageError(unreadable(source, error)) from None
    if not paths:
        raise UsageError(_why_none(source))
    of_step = [path for path in paths if filters.step in (None, step_of(path))]
    if not of_step:
        raise UsageError(_no_step(source, filters.step, paths))
    alone = len(of_step) == 1 and not filters.tool and not filters.end  # those two are compared with all rollouts
    index = _opened(of_step[0], 0) if alone else _opened(str(source), _size(paths))
    try:
        for _ in index.update():
            pass
        yield index
    finally:
        index.close()


def _opened(source: str, size: int) -> Index:
    if size <= SMALL:
        return Index(source, None)
    try:
        return Index(source, cache_directory())
    except UsageError:  # the cache cannot be written
        return Index(source, None)


def _size(paths: list[str]) -> int:
    size = 0
    for path in paths:
        with contextlib.suppress(OSError):
            size += os.path.getsize(path)
    return size


def _why_none(source: Path) -> str:
    for directory in (source / "job", source):
        if (directory / JOB_SUMMARIES).is_file():
            return (
                f"{source}: a bundle holds a summary of each rollout ({directory / JOB_SUMMARIES}) but no transcripts; "
                f"`skyrl-doctor report {source}` shows the summaries"
            )
    return f"{source}: no transcripts found; expected files named step_N.jsonl"


def _no_step(source: Path, step: int | None, paths: list[str]) -> str:
    steps = [number for number in map(step_of, paths) if number is not None]
    here = f"its steps are {min(steps)} to {max(steps)}" if steps else "its files name no steps"
    return f"--step {step}: {source} has no rollouts of this step; {here}"


def _row_of(index: Index, rollout: str, source: Path) -> int:
    for row in index.rows("SELECT id FROM rollout WHERE rollout = ? ORDER BY id DESC LIMIT 1", (rollout,)):
        return int(row["id"])
    raise UsageError(f"--after {rollout}: {source} has no rollout of this id")
