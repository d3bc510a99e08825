"""OpenHands' own tests of its tools as judges of ours."""

import os
import random
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.suites.cases import Case
from benchmarks.suites.foreign import QUIET, foreign_tests
from skyrl_train.agent.inside.editor import Editor

EDITOR = (
    "tests/tools/file_editor/test_basic_operations.py",
    "tests/tools/file_editor/test_error_handling.py",
    "tests/tools/file_editor/test_file_validation.py",
)
_CUT = "docs/agent-tools.md: the model reads `result_chars` of it, also with a notice"
_IMAGE = "docs/agent-tools.md: An image is refused as a binary file"
DIFFERENT = {
    "test_view_operation_truncation": _CUT,
    "test_view_large_directory_with_truncation": _CUT,
    "test_view_large_file_with_truncation": _CUT,
    "test_view_image_file_returns_image_content": _IMAGE,
}


def editor(checkout: Path) -> Iterator[Case]:
    """OpenHands' tests of its file editor, of ours."""
    yield from foreign_tests(
        checkout, EDITOR, "benchmarks.suites.adapters.openhands_editor", DIFFERENT, choose="not pdf"
    )


TERMINAL = (
    "tests/tools/terminal/test_terminal_session.py",
    "tests/tools/terminal/test_terminal_tool.py",
    "tests/tools/terminal/test_terminal_reset.py",
    "tests/tools/terminal/test_terminal_exit_code_top_level.py",
    "tests/tools/terminal/test_literal_arg_guard.py",
    "tests/tools/terminal/test_escape_filter.py",
    "tests/tools/terminal/test_large_environment.py",
)
TERMINAL_DIFFERENT = {
    "test_session_truncates_large_command_output": _CUT,
    "test_session_truncates_multiline_output": _CUT,
    "test_long_output_exceed_history_limit": "docs/agent-tools.md: At most 8 million characters of an output are kept",
    "test_interactive_command": "docs/agent-tools.md: A here-document without its last line ends with the command",
    "test_multiple_multiline_commands": "docs/agent-tools.md: several lines are one script and not refused",
}


def terminal(checkout: Path) -> Iterator[Case]:
    """OpenHands' tests of its terminal, of ours."""
    adapter = "benchmarks.suites.adapters.openhands_terminal"
    yield from foreign_tests(checkout, TERMINAL, adapter, TERMINAL_DIFFERENT, choose="not debug_logs")


BASH = ("tests/agent_server/test_terminal_service.py", "tests/agent_server/test_bash_service.py")
# its files on disk and its threads, which a server without files does not have
_INNER = "not blocking_scan and not delete_events and not retention and not log_omits and not filters_and_paginates and not serialize"
BASH_DIFFERENT = {
    "test_bash_timeout_runs_sigterm_trap": "docs/agent-tools.md: sandboxd logs no commands and no time-outs"
}


def bash_service(checkout: Path) -> Iterator[Case]:
    """OpenHands' tests of its service of bash commands, of sandboxd."""
    yield from foreign_tests(checkout, BASH, "benchmarks.suites.adapters.openhands_bash", BASH_DIFFERENT, choose=_INNER)


SETS = 60
_TEXTS = (
    "",
    "a",
    "a\n",
    "line 1\nline 2\n",
    "line 1\n\n  line 1\n",
    "\n",
    " ",
    "x" * 30 + "\n",
    "é\n",
    "line 2\n",
    "  a  ",
)


def editor_sets(_: Path) -> Iterator[Case]:
    """Series of edits, drawn at random, of one file, by the installed SDK's editor and by ours."""
    os.environ.update(QUIET)
    from openhands.tools.file_editor.definition import FileEditorAction  # type: ignore[import-not-found]
    from openhands.tools.file_editor.impl import FileEditorExecutor  # type: ignore[import-not-found]

    theirs = FileEditorExecutor(workspace_root="/")
    for seed in range(SETS):
        draw = random.Random(seed)
        with tempfile.TemporaryDirectory() as folder:
            files = [Path(folder) / name for name in ("sdks", "ours")]
            text = "".join(draw.choice(_TEXTS) for _ in range(draw.randrange(4)))
            for file in files:
                file.write_text(_ended(text), encoding="utf-8")
            ours = Editor("/")
            for number in range(12):
                command, more = _edit(draw)
                answer = theirs(FileEditorAction(command=command, path=str(files[0]), **more))
                expected = "".join(part.text for part in answer.to_llm_content)
                found = ours.run(command, str(files[1]), **more).text
                name = f"set {seed}, edit {number}: {command} {more}"
                yield Case(name, found.replace("/ours", "/sdks"), expected)
                yield Case(f"{name}: file", files[1].read_bytes(), files[0].read_bytes())


def _ended(text: str) -> str:
    """With a newline at the end: an insertion after a last line without one differs on purpose."""
    return text if not text or text.endswith("\n") else text + "\n"


def _edit(draw: random.Random) -> tuple[str, dict[str, object]]:
    command = draw.choice(("view", "view", "str_replace", "str_replace", "str_replace", "insert", "undo_edit"))
    if command == "view":
        ranged = {"view_range": [draw.randrange(-1, 6), draw.randrange(-2, 8)]}
        return command, draw.choice(({}, ranged))
    if command == "str_replace":
        return command, {"old_str": draw.choice(_TEXTS), "new_str": _ended(draw.choice(_TEXTS))}
    if command == "insert":
        return command, {"insert_line": draw.randrange(5), "new_str": draw.choice(_TEXTS)}
    return command, {}
