"""`skyrl-train show`: lists rollouts or prints a transcript."""

import argparse
import importlib
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from skyrl_train.cli.listed_rollouts import add_filters, file_of, filters_of, list_rollouts, page, unreadable
from skyrl_train.contracts.errors import UsageError
from skyrl_train.contracts.printable import printable
from skyrl_train.contracts.screen import print_note
from skyrl_train.view.filters import Filters

if TYPE_CHECKING:
    from skyrl_train.agent.journal import Unreadable
    from skyrl_train.contracts.agent.transcript import Transcript

NO_LIMIT = sys.maxsize
LISTED = 100


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "transcript",
        type=Path,
        help="a file of transcripts with one JSON object on each line, or a job directory",
    )
    parser.add_argument(
        "--rollout",
        metavar="ID",
        help="id of the rollout or task to print (default: the only rollout, or a list if there are several)",
    )
    parser.add_argument(
        "--tokenizer",
        metavar="DIR",
        help="the model's directory; also compares the tokens of each reply with those that its text gives (AGT016)",
    )
    parser.add_argument("--full", action="store_true", help="print results in full")
    parser.add_argument("--no-pager", action="store_true", help="print at once, also on a terminal")
    add_filters(parser)


def run(args: argparse.Namespace) -> int:
    """Prints or lists the rollouts in one pass over the file. Exit status 1 if a line is broken."""
    path: Path = args.transcript
    filters = filters_of(args)
    if path.is_dir() or filters is not None:
        if args.rollout is not None and filters is None:
            path = file_of(path, args.rollout)
        else:
            return list_rollouts(path, filters or Filters(), args)
    return _show(path, args)


def _show(path: Path, args: argparse.Namespace) -> int:
    from skyrl_train.agent.journal import Unreadable, read  # slow to import, and a list does not need it
    from skyrl_train.agent.show import RESULT_CHARS, render_transcript, reward_line

    chosen: Transcript | None = None
    listed: list[str] = []
    found = 0
    broken: list[Unreadable] = []
    try:
        for line in read(path):
            if isinstance(line, Unreadable):
                broken.append(line)
                continue
            if args.rollout is not None and args.rollout not in (line.rollout_id, line.task_id):
                listed = [*listed, printable(line.rollout_id)][:LISTED]
                continue
            found += 1
            chosen = chosen or line
            name = printable(line.rollout_id)
            listed = [
                *listed,
                f"{name}  {len(line.steps)} turn{'s' * (len(line.steps) != 1)}  {line.finish}  {reward_line(line)}",
            ][:LISTED]
    except OSError as error:
        raise UsageError(unreadable(path, error)) from None
    if chosen is None:
        raise UsageError(_why_none(args, listed, broken))
    several = found > 1
    if several and args.tokenizer:
        raise UsageError(f"{path}: {found} rollouts, but --tokenizer compares one; name it with --rollout ID")
    compared = _compared(chosen, _encoder(args.tokenizer)) if args.tokenizer else ""
    page(
        _list(listed, found)
        if several
        else render_transcript(chosen, result_chars=NO_LIMIT if args.full else RESULT_CHARS) + compared,
        pager=not args.no_pager,
    )
    for line in broken[:LISTED]:
        print_note(f"skyrl-train show: {path}, line {line.line}: {line.why}")
    return 1 if broken else 0


def _list(lines: list[str], found: int) -> str:
    more = f"… and {found - len(lines)} more\n" if found > len(lines) else ""
    return f"{found} rollouts; name one with --rollout ID\n" + "".join(f"{line}\n" for line in lines) + more


def _encoder(directory: str) -> Callable[[str], Sequence[int]]:
    path = Path(directory) / "tokenizer.json"
    try:
        made = importlib.import_module("tokenizers").Tokenizer.from_file(str(path))
    except ImportError:
        raise UsageError(
            "--tokenizer needs the package tokenizers, which is not installed here; run this in the training environment"
        ) from None
    except Exception as error:  # noqa: BLE001 -- tokenizers raises nothing narrower
        raise UsageError(f"{path}: {error}") from None
    return lambda text: list(made.encode(text, add_special_tokens=False).ids)


def _compared(transcript: "Transcript", encode: Callable[[str], Sequence[int]]) -> str:
    """Lines that compare the tokens of the engine, which training used, with those that the reply's text gives."""
    from skyrl_train.agent.tokens import retokenised

    lines = [
        f"tokens: reply {one.step + 1} differs at token {one.position}: the engine wrote "
        f"{'none' if one.written is None else one.written}, its text gives {one.encoded} (AGT016)\n"
        for one in retokenised(transcript, encode)
    ]
    return "".join(lines) or f"tokens: the text of all {len(transcript.steps)} replies gives the same tokens\n"


def _why_none(args: argparse.Namespace, others: list[str], broken: "list[Unreadable]") -> str:
    damage = f"; line {broken[0].line} cannot be read: {broken[0].why}" if broken else ""
    if args.rollout is not None and others:
        return f"{args.transcript}: no rollout {args.rollout}; the file has {', '.join(others[:10])}{damage}"
    return f"{args.transcript}: no transcript found{damage}"
