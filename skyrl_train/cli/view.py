"""skyrl-train view: shows the rollouts of a job in a browser."""

import argparse

from skyrl_train.contracts.screen import print_line


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "job_dir",
        nargs="?",
        metavar="JOB_DIR",
        help="job directory, a directory of transcripts, or one file of them (default: the latest in .skyrl_jobs)",
    )
    parser.add_argument("--port", type=int, default=0, metavar="N", help="port on 127.0.0.1 (default: a free one)")
    parser.epilog = "The address holds a token; keep it to yourself. Ctrl-C ends the viewer."


def run(args: argparse.Namespace) -> int:
    import os

    from skyrl_train.contracts.errors import UsageError
    from skyrl_train.contracts.job_files import LAUNCHES
    from skyrl_train.contracts.similar_path import missing_rollouts
    from skyrl_train.launch import directory
    from skyrl_train.view.index import Index, cache_directory
    from skyrl_train.view.server import HOST, Viewer

    source = os.path.abspath(args.job_dir or directory.latest(LAUNCHES))
    if not os.path.exists(source):
        raise UsageError(missing_rollouts(source))
    if not 0 <= args.port <= 65535:
        raise UsageError(f"--port {args.port}: expected 0 to 65535")
    if not _has_transcripts(source):
        print_line(
            f"{source}: no transcripts found; expected files named step_N.jsonl. The page shows them when they come."
        )
    index = Index(source, cache_directory())
    try:
        viewer = Viewer(index, title=os.path.basename(source), port=args.port)
    except OSError as error:
        raise UsageError(f"{HOST}:{args.port} cannot be used: {error.strerror}") from None
    try:
        viewer.start()
        print_line(f"open {viewer.url}")
        print_line(
            f"from another machine: ssh -L {viewer.server_port}:{HOST}:{viewer.server_port} {os.uname().nodename}"
        )
        viewer.serve_forever()
    finally:
        viewer.stop()
    return 0


def _has_transcripts(source: str) -> bool:
    from skyrl_train.contracts.rollout_summaries import directory_of, files_in

    try:
        return bool(files_in(directory_of(source)))
    except OSError:
        return False
