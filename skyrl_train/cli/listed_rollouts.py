"""Lists the rollouts of a job for `skyrl-train show`: one line each, with the viewer's filters, through a pager."""

import argparse
import pydoc
import sys
from collections.abc import Iterator
from pathlib import Path

from skyrl_train.contracts.errors import UsageError
from skyrl_train.contracts.printable import one_line, printable
from skyrl_train.contracts.rollout_summaries import Place, Summary, directory_of, files_in, read, step_of, stored_line
from skyrl_train.contracts.screen import limit
from skyrl_train.view.filters import Filters
from skyrl_train.view.transcripts import holds

MOST_LISTED = 2000
WHY_LETTERS = 80
PAGED_LINES = 40


def add_filters(parser: argparse.ArgumentParser) -> None:
    """Adds the filters of a list."""
    group = parser.add_argument_group("filters, which list rollouts in one line each")
    group.add_argument("--failed", action="store_true", help="masked, without a reward, or with a reward below 1")
    group.add_argument("--reward-from", type=float, metavar="R", help="reward of at least R")
    group.add_argument("--reward-to", type=float, metavar="R", help="reward of at most R")
    group.add_argument("--end", default="", metavar="END", help="how it ended, such as max_iterations_reached")
    group.add_argument("--step", type=int, metavar="N", help="training step")
    group.add_argument("--task", default="", metavar="TEXT", help="text in the task's id")
    group.add_argument("--tool", default="", metavar="NAME", help="a tool that the rollout called")
    group.add_argument("--tests", default="", metavar="TEXT", help="text in the result of the tests, as a test's name")
    group.add_argument("--text", default="", metavar="TEXT", help="text in the prompt, a reply or a result")


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
    return filters if filters != Filters() or args.text else None


def list_rollouts(source: Path, filters: Filters, *, text: str, pager: bool) -> int:
    """Prints a line for each rollout that the filters accept. Exit status 1 if a line of a file is invalid."""
    lines: list[str] = []
    found = broken = 0
    for step, _, _, one in _accepted(source, filters, text):
        if one is None:
            broken += 1
            continue
        found += 1
        if found <= MOST_LISTED:
            lines.append(_cut(one_line(_line(step, one)), limit()))
    more = [f"… and {found - MOST_LISTED} more"] if found > MOST_LISTED else []
    counted = f"{found} rollouts" if found != 1 else "1 rollout"
    invalid = [f"{broken} invalid {'line' if broken == 1 else 'lines'}"] if broken else []
    page("\n".join((*lines, *more, counted, *invalid)) + "\n", pager=pager)
    return 1 if broken else 0


def file_of(directory: Path, rollout: str) -> Path:
    """The file of a directory that holds a rollout. UsageError if none does."""
    for _, path, _, one in _accepted(directory, Filters(), ""):
        if one is not None and rollout in (one.rollout, one.task):
            return Path(path)
    raise UsageError(f"{directory}: no rollout {rollout}; list them with skyrl-train show {directory}")


def _cut(line: str, width: int | None) -> str:
    """The line as it fits a terminal; whole for a file or a pipe."""
    return line if width is None or len(line) <= width else f"{line[: width - 1]}…"


def unreadable(source: Path, error: OSError) -> str:
    """Why a file or directory of transcripts cannot be read, and what to name instead."""
    if isinstance(error, FileNotFoundError):
        return f"{source} does not exist; name a job directory or a file of transcripts"
    if isinstance(error, PermissionError):
        return f"you may not read {source}"
    return f"{source} cannot be read: {error.strerror or error}"


def page(text: str, *, pager: bool) -> None:
    """Prints a text, on a terminal through the user's pager if it is long."""
    if pager and sys.stdout.isatty() and text.count("\n") > PAGED_LINES:
        pydoc.pager(printable(text))
    else:
        sys.stdout.write(text)


def _accepted(source: Path, filters: Filters, text: str) -> Iterator[tuple[int | None, str, Place, Summary | None]]:
    """The accepted rollouts, and None for each invalid line."""
    try:
        paths = files_in(directory_of(str(source)))
        if not paths:
            raise UsageError(f"{source}: no transcripts found; expected files named step_N.jsonl")
        every = ((step_of(path), path, place, one) for path in paths for place, one in read(path))
        for step, path, place, one in every:
            if one is None or (filters.accepts(step, one) and (not text or holds(stored_line(path, place), text))):
                yield step, path, place, one
    except OSError as error:
        raise UsageError(unreadable(source, error)) from None


def _line(step: int | None, one: Summary) -> str:
    reward = "masked" if one.masked else "none" if one.reward is None else f"{one.reward:g}"
    why = (one.detail or one.why)[:WHY_LETTERS]
    where = "" if step is None else f"step {step}  "
    return f"{where}{one.rollout}  {one.task}  {reward}  {one.finish}  {one.turns} turns  {one.duration_s:.0f} s  {why}".rstrip()
