"""skyrl-train init: writes a commented run.toml, from another framework's configuration or from three answers."""

import argparse
import os
import sys
from typing import TYPE_CHECKING, Any

from skyrl_train.contracts.screen import fitted, limit, print_line, print_lines

if TYPE_CHECKING:
    from skyrl_train.config.translate import Read, Translated

OTHER_LAYOUT = "prime-rl"
"""Its trainer and its server have GPUs of their own, so its defaults do not suit a run that shares them."""
OF_THE_LAYOUT = ("rollout.tensor_parallel_size", "rollout.gpu_memory_utilization")
COUNTS = ("slurm.nodes", "slurm.gpus_per_node", "rollout.n", "data.train_batch_rollouts")
"""They are carried over even where they are defaults."""
LIMIT_S = 60.0
TRIES = 3
TASKS_KEY = "data.train_files"
MODEL_KEY, MODEL = "model.path", "Qwen/Qwen2.5-Coder-0.5B-Instruct"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "output", nargs="?", default="run.toml", metavar="FILE", help="file to write (default: run.toml)"
    )
    parser.add_argument(
        "--from",
        dest="sources",
        action="append",
        default=[],
        metavar="TARGET",
        help="a verl or SkyRL script, or a TOML of prime-rl, to translate; may be repeated for files of one run",
    )
    parser.add_argument("--model", metavar="NAME|DIR", help="the model (default: ask)")
    parser.add_argument("--tasks", metavar="FILE", help="the training tasks, .parquet or .jsonl (default: ask)")
    parser.add_argument(
        "--gpus", type=int, metavar="N", help="GPUs of the trainer on all its nodes together (default: ask)"
    )
    parser.add_argument("--force", action="store_true", help="overwrite FILE")
    parser.epilog = "Exit status: 0 written, 2 bad input. What changes the run is printed first, then what could not be carried over; the file has both as comments."


def run(args: argparse.Namespace) -> int:
    from skyrl_train.config.translate import Translated
    from skyrl_train.contracts.errors import UsageError
    from skyrl_train.contracts.files import target_of_own_link, write_whole

    if args.gpus is not None and args.gpus < 1:
        raise UsageError(f"--gpus is {args.gpus}; give a whole number from 1")
    _refuse_missing(args.sources, args.tasks)
    if os.path.lexists(args.output) and not args.force:
        raise UsageError(f"{args.output} exists; pass --force to overwrite it, or another FILE")
    made = _translated(args) if args.sources else Translated(_answers(args))
    try:
        write_whole(target_of_own_link(args.output), _text(args, made))
    except OSError as error:
        raise UsageError(f"cannot write {args.output}: {error.strerror}") from None
    lists = (("changes the run", made.changes), ("not carried over", made.left))
    print_lines(fitted((f"{name}: {line}" for name, lines in lists for line in lines), limit()))
    number = len(made.changes)
    changes = f", {number} {'change' if number == 1 else 'changes'} of the run" if made.changes else ""
    left = f", {len(made.left)} not carried over" if made.left else ""
    print_lines(fitted([f"{args.output} written: {len(made.values)} settings{changes}{left}"], limit()))
    if not made.values.get(TASKS_KEY):
        print_lines(fitted([f"first: set {TASKS_KEY} in {args.output}, the file of training tasks"], limit()))
    print_line(f"next: skyrl-doctor preflight --structure-only {args.output}")
    return 0


def _refuse_missing(sources: list[str], tasks: str | None) -> None:
    """What the user named is looked for first: an existing FILE is no news if the source is mistyped."""
    from skyrl_train.contracts.errors import UsageError

    missing = next((source for source in sources if not os.path.exists(source)), None)
    if missing is not None:
        raise UsageError(f"target {missing}: no such file or directory")
    if tasks is not None and "://" not in tasks and not os.path.isfile(os.path.expanduser(tasks)):
        raise UsageError(f"--tasks {tasks}: no such file; write it with `skyrl-train data convert`")


def _text(args: argparse.Namespace, made: "Translated") -> str:
    """The file: what makes it another run stands first, the rest of what is missing last."""
    from skyrl_train.config.template import written

    notes = ["Written by `skyrl-train init`. `skyrl-train config explain KEY` explains a key."]
    if args.sources:
        notes.append(f"Translated from {' '.join(args.sources)}.")
    if made.changes:
        notes += ["", "This run differs from its source:", *made.changes]
    last = ("Not carried over:", *made.left) if made.left else ()
    return written(made.values, tuple(notes), last)


def _translated(args: argparse.Namespace) -> "Translated":
    """The settings of another framework's configuration, as the doctor reads it."""
    from skyrl_train.config.other_names import has_our_agent, with_our_names
    from skyrl_train.config.translate import AGENT, Read, Translated, translate

    found = _read_by_doctor(args.sources)
    read, others = (tuple(map(_read, found[name])) for name in ("settings", "others"))
    if found["dialect"].startswith(OTHER_LAYOUT):
        others += tuple(one for one in read if one.place and one.setting in OF_THE_LAYOUT)
        read = tuple(one for one in read if one.setting not in OF_THE_LAYOUT and (one.place or one.setting in COUNTS))
    read, others = with_our_names(found["dialect"], read, others)
    unread = tuple(f"{_place(one)}: could not be read: {one['message']}" for one in found["unread"])
    given = _given(args)
    _refuse_without_model(read, given, unread)
    given |= _whole_nodes(args.gpus, {one.setting: one.value for one in read})
    options = (Read(key, key, value, place="option") for key, value in given.items())
    made = translate((*(one for one in read if one.setting not in given), *options), others)
    values = {**made.values, **given}
    settled = tuple(f"{one.name} = " for one in read if one.setting in given)
    problems = (text for text in found["problems"] if not text.startswith(settled))
    said = (*made.left, *unread)
    unsaid = (text for text in problems if not any(line.endswith(f": {text}") for line in said))
    left = made.left + tuple(f"could not be translated: {text}" for text in unsaid)
    agent = () if has_our_agent(found["dialect"]) else (AGENT,)
    return Translated(values, (*unread, *agent, *made.changes), left)


def _refuse_without_model(read: "tuple[Read, ...]", given: dict[str, object], unread: tuple[str, ...]) -> None:
    """A run of another model is not the run of the source."""
    from skyrl_train.contracts.errors import UsageError

    found = next((one for one in read if one.setting == MODEL_KEY and one.place), None)
    if MODEL_KEY in given or (found is not None and not found.unknown):
        return
    if found is not None:
        raise UsageError(f"{found.place}: {found.name} = {found.value}: {found.unknown}; pass --model NAME|DIR")
    why = f": {unread[0]}. If that is a file with the settings, pass it with --from; else" if unread else ";"
    raise UsageError(f"the source names no model{why} pass --model NAME|DIR")


def _whole_nodes(gpus: int | None, source: dict[str, object]) -> dict[str, object]:
    """--gpus GPUs in all: on one node, or on as many nodes of the source's size as hold just these."""
    from skyrl_train.contracts.errors import UsageError

    each = source.get("slurm.gpus_per_node")
    if gpus is None:
        return {}
    if not isinstance(each, int) or not 0 < each < gpus:
        return {"slurm.nodes": 1, "slurm.gpus_per_node": gpus}
    if gpus % each:
        raise UsageError(
            f"--gpus is {gpus}, which fills no whole nodes; the source has {each} GPUs on a node: pass a multiple of {each}, or fewer"
        )
    return {"slurm.nodes": gpus // each, "slurm.gpus_per_node": each}


def _read_by_doctor(sources: list[str]) -> dict[str, Any]:
    import json

    from skyrl_train.contracts.errors import UsageError
    from skyrl_train.process import run as run_program

    argv = [sys.executable, "-m", "skyrl_doctor", "read", "--format", "json", *sources]
    done = run_program(argv, limit_s=LIMIT_S)
    if not done.ok:
        raise UsageError(
            done.error_text.strip().removeprefix("skyrl-doctor read: ") or f"the doctor cannot read {sources}"
        )
    found: dict[str, Any] = json.loads(done.text)
    return found


def _read(one: dict[str, Any]) -> "Read":
    from skyrl_train.config.translate import Read

    place = _place(one) if one["written"] else ""
    return Read(one["setting"], one["name"], one["value"], one["unknown"], place, one.get("is_default", False))


def _place(one: dict[str, Any]) -> str:
    return str(one["file"]) if one["line"] is None else f"{one['file']}:{one['line']}"


def _given(args: argparse.Namespace) -> dict[str, object]:
    given = {
        MODEL_KEY: args.model,
        TASKS_KEY: args.tasks and [args.tasks],
        "slurm.gpus_per_node": args.gpus,
    }
    return {key: value for key, value in given.items() if value is not None}


def _answers(args: argparse.Namespace) -> dict[str, object]:
    """The three values that a run needs: from the options, else asked for on a terminal."""
    from skyrl_train.contracts.errors import UsageError

    missing = [name for name in ("model", "tasks", "gpus") if getattr(args, name) is None]
    if missing and not sys.stdin.isatty():
        raise UsageError(f"no terminal to ask on; pass --from TARGET, or {', '.join(f'--{name}' for name in missing)}")
    if args.model is None:
        args.model = _ask("Which model (a directory, or a name in the local hub cache)?", MODEL)
    if args.tasks is None:
        args.tasks = _ask("Which file holds the training tasks (.parquet or .jsonl)?", "train.parquet")
    if args.gpus is None:
        args.gpus = _ask_number("How many GPUs does the trainer use?", "1")
    return _given(args)


def _ask(question: str, default: str) -> str:
    print_line(f"{question} [{default}]")
    return sys.stdin.readline().strip() or default


def _ask_number(question: str, default: str) -> int:
    """Asks again after an answer that is no number."""
    from skyrl_train.contracts.errors import UsageError

    for _ in range(TRIES):
        answer = _ask(question, default)
        if answer.isdecimal() and int(answer):
            return int(answer)
        print_line(f"{answer!r} is not a number of GPUs; give a whole number from 1")
    raise UsageError(f"no number of GPUs in {TRIES} answers; pass --gpus N")
