"""`skyrl-train evaluate`: pass@1 and pass@k of a model on tasks, with the rollouts of training."""

import argparse
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

from skyrl_train.contracts.amount import amount
from skyrl_train.contracts.errors import TrainError, UsageError
from skyrl_train.contracts.screen import fitted, limit, print_line, print_lines, print_note

if TYPE_CHECKING:  # a command's module imports nothing heavy before it runs
    from skyrl_train.config.run import RunConfig
    from skyrl_train.contracts.agent.transcript import Transcript
    from skyrl_train.evaluation.completions import CompletionsServer, Served
    from skyrl_train.rl.engine import Tokenizer
    from skyrl_train.sandbox.client.runtime import RuntimeClient

INCOMPLETE = 1
MOST_SAMPLES = 1000


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", help="URL of a vLLM server, directory of a model, or checkpoint (…/global_step_N)")
    parser.add_argument("tasks", nargs="+", help="files of tasks, JSON lines or parquet")
    parser.add_argument(
        "--config", required=True, metavar="FILE", help="TOML of the run: sampling, limits and sandboxes"
    )
    parser.add_argument(
        "--out",
        required=True,
        metavar="DIR",
        type=Path,
        help="directory of rollouts and report; if it has some, the rest is run",
    )
    parser.add_argument("--samples", type=int, default=1, metavar="N", help="rollouts of each task (default: 1)")
    parser.add_argument(
        "--k", type=int, action="append", metavar="K", help="report pass@K; may be repeated (default: 1 and N)"
    )
    parser.add_argument(
        "--temperature", type=float, metavar="T", help="sampling temperature (default: rollout.temperature)"
    )
    parser.add_argument("--seed", type=int, default=0, help="seed of the sampling (default: 0)")
    parser.add_argument(
        "--job-dir", metavar="DIR", help="job directory of a running runtime (`skyrl-train runtime serve`)"
    )
    parser.add_argument(
        "--runtime-url", metavar="URL", help="address of a running runtime; its key comes from the environment"
    )
    parser.add_argument(
        "--tokenizer", metavar="DIR", help="directory of the tokenizer (default: the model's directory)"
    )
    parser.add_argument("--served-name", metavar="NAME", help="name of the model at the server, if it serves several")
    parser.add_argument(
        "--start-limit",
        type=float,
        default=1800,
        metavar="S",
        help="time limit of the model server's start in seconds (default: 1800)",
    )
    parser.add_argument("--format", choices=("text", "json"), default="text")


def run(args: argparse.Namespace) -> int:
    from skyrl_train.launch.needs import refuse_without_packages
    from skyrl_train.launch.role import Role

    if not 1 <= args.samples <= MOST_SAMPLES:
        raise UsageError(f"--samples is {args.samples}; expected 1 to {MOST_SAMPLES}")
    ks = sorted({*(args.k or (1, args.samples))})
    if ks[0] < 1 or ks[-1] > args.samples:
        raise UsageError(f"--k is {ks[-1] if ks[0] >= 1 else ks[0]}; expected 1 to --samples ({args.samples})")
    refuse_without_packages(Role.RUNTIME)
    try:
        return _run(args, ks)
    except UsageError:
        raise
    except TrainError as error:
        print_note(f"skyrl-train evaluate: {error}")
        return INCOMPLETE


def _run(args: argparse.Namespace, ks: Sequence[int]) -> int:
    from skyrl_train.cli.asynchronous import run_async

    config, rows = _config(args), _rows(args)
    with _server(args, config) as (url, directory):
        return run_async(_evaluated(args, ks, config, rows, url, directory))


async def _evaluated(
    args: argparse.Namespace,
    ks: Sequence[int],
    config: "RunConfig",
    rows: Sequence[Mapping[str, Any]],
    url: str,
    directory: str,
) -> int:
    from skyrl_train.evaluation.completions import KEY_VARIABLE, CompletionsServer
    from skyrl_train.evaluation.evaluate import Evaluation, evaluate, outstanding, report_of
    from skyrl_train.evaluation.kept import Kept
    from skyrl_train.rl.tokenizer import load_tokenizer
    from skyrl_train.sandbox.client.runtime import SandboxRequest
    from skyrl_train.sandbox.client.tools import opener

    run_id = os.urandom(4).hex()
    async with (
        CompletionsServer(url, key=os.environ.get(KEY_VARIABLE, "")) as server,
        _runtime(args, config) as runtime,
    ):
        found = await server.model(args.served_name)
        tokenizer = load_tokenizer(args.tokenizer or directory or found.root)
        kept = Kept(args.out, _subject(args, config, directory, found))
        evaluation = Evaluation(
            rows=rows,
            samples=args.samples,
            config=config,
            model_of=_models(args, config, server, tokenizer),
            sandboxes_of=lambda row: opener(
                runtime,
                lambda task: SandboxRequest(
                    image=str(row["extra_info"]["image"]), session_id=f"skyrl-eval-{run_id}-{task.rollout_id}"
                ),
            ),
            ended=_progress(len(rows) * args.samples, lambda: len(kept.done)),
        )
        if kept.done:
            print_note(
                f"{args.out}: {amount(len(kept.done), 'rollout')} kept; {len(outstanding(evaluation, kept.done))} to run"
            )
        await evaluate(evaluation, kept)
    report = report_of(evaluation, kept.done, ks)
    path = kept.write_report(report)
    print_report(report, path, args.format)
    return INCOMPLETE if report["without_result"] or report["missing"] else 0


def _config(args: argparse.Namespace) -> "RunConfig":
    import tomllib

    from skyrl_train.config.load import ConfigError, read

    try:
        return read(args.config)
    except (OSError, ConfigError, tomllib.TOMLDecodeError, ValueError) as error:
        raise UsageError(f"{args.config} cannot be used: {error}") from error


def _rows(args: argparse.Namespace) -> list[Mapping[str, Any]]:
    from skyrl_train.tasks.training_rows import rows_in

    rows: list[Mapping[str, Any]] = [
        {**row, "raw_prompt": row["prompt"]} for path in args.tasks for row in rows_in(path)
    ]
    if not rows:
        raise UsageError(f"{args.tasks[0]} has no task")
    return rows


def _server(args: argparse.Namespace, config: "RunConfig") -> "AbstractContextManager[tuple[str, str]]":
    """The URL of the model server, and the model's directory if it is known."""
    from contextlib import contextmanager

    from skyrl_train.evaluation.served import model_directory, served

    if args.model.startswith(("http://", "https://")):
        return nullcontext((args.model, ""))
    directory = model_directory(args.model, args.out, limit_s=args.start_limit)
    args.out.mkdir(parents=True, exist_ok=True)

    @contextmanager
    def running() -> Any:
        with served(directory, config, args.out, limit_s=args.start_limit, environ=os.environ) as url:
            yield url, directory

    return running()


def _runtime(args: argparse.Namespace, config: "RunConfig") -> "RuntimeClient":
    from skyrl_train.contracts.job_files import KEY
    from skyrl_train.launch import directory
    from skyrl_train.node.ray_env import runtime_key_variable
    from skyrl_train.sandbox.client import runtime
    from skyrl_train.sandbox.client.runtime import RuntimeClient
    from skyrl_train.sandbox.runtime.keys import read_key

    url = args.runtime_url or (directory.runtime_url(args.job_dir) if args.job_dir else config.sandbox.runtime_url)
    if not url:
        where = f"{args.job_dir} has no ready runtime" if args.job_dir else "no runtime is named"
        raise UsageError(
            f"{where}; start `skyrl-train runtime serve --job-dir DIR` and pass --job-dir DIR, or --runtime-url"
        )
    path = os.path.join(args.job_dir, KEY) if args.job_dir else ""
    key = (
        read_key(path)
        if path and os.path.exists(path)
        else os.environ.get(runtime_key_variable(os.environ), "").strip()
    )
    return RuntimeClient(url, key, limits=runtime.Limits(start_s=config.sandbox.ready_timeout_s))


def _models(
    args: argparse.Namespace, config: "RunConfig", server: "CompletionsServer", tokenizer: "Tokenizer"
) -> Callable[[str, int, int], Any]:
    from skyrl_train.rl.engine import EngineModel
    from skyrl_train.rl.seeds import reply_seed

    def model_of(name: str, row: int, sample: int) -> EngineModel:
        return EngineModel(
            server,
            tokenizer,
            request_id=name,
            sampling=_sampling(args, config),
            stop=config.rollout.stop,
            seed_of=lambda call: reply_seed(args.seed, step=0, row=row, sample=sample, call=call),
        )

    return model_of


def _sampling(args: argparse.Namespace, config: "RunConfig") -> dict[str, Any]:
    rollout = config.rollout
    temperature = rollout.temperature if args.temperature is None else args.temperature
    return {"temperature": temperature, "top_p": rollout.top_p, "top_k": rollout.top_k}


def _subject(args: argparse.Namespace, config: "RunConfig", directory: str, found: "Served") -> dict[str, object]:
    """What two runs of this command must have in common to be one evaluation. Addresses may differ."""
    import hashlib
    from dataclasses import asdict

    from skyrl_train.contracts import bounded
    from skyrl_train.rl.shared import limits_of

    def digest(path: str) -> str:
        made = hashlib.sha256()
        with bounded.open_file(Path(path)) as file:
            while chunk := file.read(1 << 20):
                made.update(chunk)
        return made.hexdigest()

    return {
        "model": os.path.abspath(args.model) if directory else found.root or found.name,
        "tasks": [digest(path) for path in args.tasks],
        "samples": args.samples,
        "seed": args.seed,
        "sampling": {**_sampling(args, config), "stop": list(config.rollout.stop)},
        "limits": asdict(limits_of(config)),
        "tools": list(config.agent.tools),
        "hide_tests": config.sandbox.hide_tests,
    }


def _progress(total: int, done: Callable[[], int]) -> "Callable[[Transcript], None]":
    def ended(transcript: "Transcript") -> None:
        from skyrl_train.agent.show import reward_line

        detail = f" {transcript.detail}" if transcript.masked and transcript.detail else ""
        print_note(f"{done()} of {total}: {transcript.task_id} {transcript.finish}, {reward_line(transcript)}{detail}")

    return ended


def print_report(report: Mapping[str, Any], path: Path, style: str) -> None:
    import json

    if style == "json":
        sys.stdout.write(json.dumps(report, indent=2) + "\n")
        return
    lines = [_line("all", report)]
    if len(report["repositories"]) > 1:
        lines += [_line(name, rates) for name, rates in report["repositories"].items()]
    lines.append(f"ends: {', '.join(f'{count} x {end}' for end, count in report['ends'].items())}")
    if report["without_result"]:
        rollouts = amount(report["rollouts"], "rollout")
        lines.append(
            f"infrastructure failed {report['without_result']} of {rollouts}; run the same command again to repeat them"
        )
    print_lines(fitted(lines, limit()))
    print_line(f"report: {path}")


def _line(name: str, rates: Mapping[str, Any]) -> str:
    parts = [
        f"pass@{k} {one['rate']:.3f} (95 %: {one['wilson_95'][0]:.3f} to {one['wilson_95'][1]:.3f})"
        for k, one in rates["pass"].items()
    ]
    return f"{name}: {', '.join(parts) or 'no result'} · {amount(rates['tasks'], 'task')}, {amount(rates['rollouts'], 'rollout')}"
