"""What our tools answer, compared with the SDK's own tools on the same files and commands."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from fakes.terminals import Typist, in_a_terminal
from skyrl_train.agent.inside.editor import Editor

pytestmark = pytest.mark.openhands

LINES = "".join(f"line {number}\n" for number in range(1, 31))
EDITS: list[tuple[str, dict[str, Any]]] = [
    ("view", {}),
    ("view", {"view_range": [3, 5]}),
    ("view", {"view_range": [28, -1]}),
    ("view", {"view_range": [28, 99]}),
    ("view", {"view_range": [99, 100]}),
    ("view", {"view_range": [5, 3]}),
    ("view", {"view_range": [1]}),
    ("str_replace", {"old_str": "line 12\n", "new_str": "twelve\nand more\n"}),
    ("str_replace", {"old_str": "line 1", "new_str": "x"}),
    ("str_replace", {"old_str": "none", "new_str": "x"}),
    ("str_replace", {"old_str": "  line 30  ", "new_str": "  thirty  "}),
    ("str_replace", {"old_str": "line 2\n", "new_str": "line 2\n"}),
    ("insert", {"insert_line": 0, "new_str": "first"}),
    ("insert", {"insert_line": 7, "new_str": "a\nb\n"}),
    ("insert", {"insert_line": 34, "new_str": "end"}),
    ("insert", {"insert_line": 99, "new_str": "x"}),
    ("create", {"file_text": "x"}),
    ("undo_edit", {}),
    ("undo_edit", {}),
    ("undo_edit", {}),
    ("undo_edit", {}),
    ("undo_edit", {}),
    ("undo_edit", {}),
]


def sdk_editor(**arguments: Any) -> str:
    from openhands.tools.file_editor.definition import FileEditorAction
    from openhands.tools.file_editor.impl import FileEditorExecutor

    global _SDK_EDITOR
    _SDK_EDITOR = _SDK_EDITOR or FileEditorExecutor(workspace_root="/")
    return as_shown(_SDK_EDITOR(FileEditorAction(**arguments)))


_SDK_EDITOR: Any = None


def as_shown(observation: Any) -> str:
    return "".join(part.text for part in observation.to_llm_content)


def test_the_editor_answers_as_the_sdk_does(tmp_path: Path) -> None:
    (tmp_path / "ours").mkdir()
    (tmp_path / "sdks").mkdir()
    ours, theirs = tmp_path / "ours" / "a.txt", tmp_path / "sdks" / "a.txt"
    for file in (ours, theirs):
        file.write_text(LINES)
    editor = Editor("/")
    for command, more in EDITS:
        expected = sdk_editor(command=command, path=str(theirs), **more).replace("/sdks", "/ours")
        assert editor.run(command, str(ours), **more).text == expected
        assert ours.read_text() == theirs.read_text()


def test_the_editor_answers_about_paths_as_the_sdk_does(tmp_path: Path) -> None:
    for path in ("b/c/d.py", "b/.hidden", "z.py", ".git/x"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("x\n")
    new = str(tmp_path / "new.py")
    editor = Editor("/")
    for command, path, more in (
        ("view", str(tmp_path), {}),
        ("view", str(tmp_path / "b"), {}),
        ("view", str(tmp_path), {"view_range": [1, 2]}),
        ("view", str(tmp_path / "none"), {}),
        ("view", "etc", {}),
        ("view", "no/such", {}),
        ("create", str(tmp_path / "b"), {"file_text": "x"}),
        ("str_replace", str(tmp_path / "b"), {"old_str": "x", "new_str": "y"}),
        ("undo_edit", str(tmp_path / "z.py"), {}),
    ):
        expected = sdk_editor(command=command, path=path, **more)
        assert editor.run(command, path, **more).text == expected
    created = sdk_editor(command="create", path=new, file_text="a\n")
    Path(new).unlink()
    assert editor.run("create", new, file_text="a\n").text == created


@contextmanager
def sdk_terminal(directory: Path) -> Iterator[Callable[..., str]]:
    from openhands.tools.terminal.definition import TerminalAction
    from openhands.tools.terminal.impl import TerminalExecutor

    (directory / "testbed").mkdir(parents=True)
    executor = TerminalExecutor(working_dir=str(directory / "testbed"), terminal_type="subprocess")
    try:
        yield lambda command, **more: comparable(as_shown(executor(TerminalAction(command=command, **more))))
    finally:
        executor.close()


def as_the_sdk_answers(directory: Path, talk: Callable[[Callable[..., str]], object], ours: object) -> object:
    """What the SDK's terminal answers; on a busy machine its prompts come late, and it takes one answer for another.

    So it is asked anew, in a terminal of its own, until it says what ours says, or often enough to believe it.
    """
    for attempt in range(SDK_ATTEMPTS):
        with sdk_terminal(directory / str(attempt)) as terminal:
            theirs = talk(terminal)
        if theirs == ours:
            break
    return theirs


SDK_ATTEMPTS = 8
COMMANDS: list[tuple[str, dict[str, Any]]] = [
    ("", {}),
    ("y", {"is_input": True}),
    ("echo one; echo two >&2", {}),
    ("export A=1; cd /tmp", {}),
    ("echo $A; pwd; false", {}),
    ("sleep 30", {"timeout": 1.0}),
    ("ls", {}),
    ("", {"timeout": 1.0}),
    ("C-c", {"is_input": True}),
    ("read x; echo got $x", {"timeout": 1.0}),
    ("word", {"is_input": True}),
    ("(exit 7)", {}),
]


def comparable(text: str) -> str:
    """Without what differs from place to place, the echo of a key, and the last line that the SDK repeats."""
    text = re.sub(r"\x1b\[\?2004[hl]\n?", "", text)  # its shell's line editor
    text = re.sub(r"\n\[Python interpreter: [^\n]*\]", "", text)
    text = re.sub(r"(working directory: )\S+/testbed\]", r"\1HERE]", text)
    return re.sub(r"(?m)^(?:\^C|word)\n?", "", text).lstrip("\n")


def test_the_terminal_answers_as_the_sdk_does(tmp_path: Path) -> None:
    async def work(typed: Typist) -> list[str]:
        return [comparable((await typed.result(command, **more)).text) for command, more in COMMANDS]

    def talk(terminal: Callable[..., str]) -> list[str]:
        return [terminal(command, **more) for command, more in COMMANDS]

    (tmp_path / "seed").mkdir()
    ours = in_a_terminal(tmp_path / "seed", work)
    assert ours == as_the_sdk_answers(tmp_path / "sdk", talk, ours)


def test_the_terminal_starts_afresh_as_the_sdk_does(tmp_path: Path) -> None:
    async def work(typed: Typist) -> str:
        await typed.result("export A=1; cd /")
        return comparable((await typed.result("echo fresh$A", reset=True)).text)

    def talk(terminal: Callable[..., str]) -> str:
        terminal("export A=1; cd /")
        return terminal("echo fresh$A", reset=True)

    (tmp_path / "seed").mkdir()
    ours = in_a_terminal(tmp_path / "seed", work)
    assert "fresh\n" in ours
    assert ours == as_the_sdk_answers(tmp_path / "sdk", talk, ours)
