"""The editor: what it answers is compared with the SDK's in the openhands lane; what it does to files is shown here."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skyrl_train.agent.inside.answer import ERROR_HEADER
from skyrl_train.agent.inside.editor import MAX_UNDO, Editor
from skyrl_train.agent.inside.files import MAX_BYTES


@pytest.fixture
def editor(tmp_path: Path) -> Editor:
    return Editor(str(tmp_path))


def edited(editor: Editor, file: Path, old: str, new: str) -> str:
    return editor.run("str_replace", str(file), old_str=old, new_str=new).text


def test_bytes_that_are_no_text_survive_an_edit(editor: Editor, tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_bytes(b"caf\xe9\r\nb\r\nc")
    text = edited(editor, file, "b\n", "B\nb\n")
    assert file.read_bytes() == b"caf\xe9\r\nB\r\nb\r\nc"
    assert "caf�" in text
    editor.run("insert", str(file), insert_line=3, new_str="x")
    assert file.read_bytes() == b"caf\xe9\r\nB\r\nb\r\nx\r\nc"
    editor.run("undo_edit", str(file))
    editor.run("undo_edit", str(file))
    assert file.read_bytes() == b"caf\xe9\r\nb\r\nc"


def test_a_last_line_without_a_newline_stays_a_line_of_its_own(editor: Editor, tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_text("a")
    editor.run("insert", str(file), insert_line=1, new_str="b")
    assert file.read_text() == "a\nb\n"


def test_mode_and_links_are_kept(editor: Editor, tmp_path: Path) -> None:
    script, link = tmp_path / "run.sh", tmp_path / "link"
    script.write_text("echo a")
    script.chmod(0o750)
    link.symlink_to("run.sh")
    edited(editor, link, "a", "b")
    assert (script.read_text(), script.stat().st_mode & 0o777, link.is_symlink()) == ("echo b", 0o750, True)
    old_mask = os.umask(0o027)
    try:
        editor.run("create", str(tmp_path / "new"), file_text="x")
    finally:
        os.umask(old_mask)
    assert (tmp_path / "new").stat().st_mode & 0o777 == 0o640
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link", "new", "run.sh"]


def test_what_cannot_be_edited_is_said_and_left(editor: Editor, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "binary").write_bytes(b"\x7fELF\0")
    with (tmp_path / "huge").open("wb") as file:
        file.truncate(MAX_BYTES + 1)
    said = {name: editor.run("view", str(tmp_path / name)).text for name in ("pipe", "binary", "huge", "none")}
    head = f"{ERROR_HEADER}File validation failed for {tmp_path}"
    assert said == {
        "pipe": f"{head}/pipe: It is neither a file nor a directory.",
        "binary": f"{head}/binary: File appears to be binary and this file type cannot be read or edited by this tool.",
        "huge": f"{head}/huge: File is too large (10.0MB). Maximum allowed size is 10MB.",
        "none": f"{ERROR_HEADER}Invalid `path` parameter: {tmp_path}/none. The path {tmp_path}/none does not exist."
        " Please provide a valid path.",
    }
    text = editor.run("create", str(tmp_path / "no/such/place"), file_text="x").text
    assert text.startswith(f"{ERROR_HEADER}Ran into [Errno 2] No such file or directory: ")


def test_the_text_to_replace_must_be_there_once(editor: Editor, tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_text("x = 1\nx = 1\n\nx = 1\n")
    no = f"{ERROR_HEADER}No replacement was performed"
    assert edited(editor, file, "x = 1", "y") == (
        f"{no}. Multiple occurrences of old_str `x = 1` in lines [1, 2, 4]. Please ensure it is unique."
    )
    assert edited(editor, file, "z", "y") == f"{no}, old_str `z` did not appear verbatim in {file}."
    assert edited(editor, file, "", "y") == (
        f"{no}. Multiple occurrences of old_str `` in lines [1, 2, 3, 4, 5]. Please ensure it is unique."
    )
    assert file.read_text() == "x = 1\nx = 1\n\nx = 1\n"


def test_an_empty_text_is_once_in_an_empty_file(editor: Editor, tmp_path: Path) -> None:
    file = tmp_path / "empty.txt"
    file.touch()
    assert edited(editor, file, "", "a\nb\n").startswith(f"The file {file} has been edited. ")
    assert file.read_text() == "a\nb\n"


def test_many_places_are_counted_in_one_pass(editor: Editor, tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_text("x\n" * 200_000)
    assert "in lines [1, 2, 3," in edited(editor, file, "x", "y")


def test_so_many_edits_can_be_taken_back(editor: Editor, tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_text("0")
    for number in range(MAX_UNDO + 2):
        edited(editor, file, str(number), str(number + 1))
    undone = [editor.run("undo_edit", str(file)).text for _ in range(MAX_UNDO)]
    assert file.read_text() == "2"
    assert all(text.startswith(f"Last edit to {file} undone") for text in undone)
    assert editor.run("undo_edit", str(file)).text == f"{ERROR_HEADER}No edit history found for {file}."


def test_an_edit_that_was_made_is_no_error_whatever_it_wrote(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("x\n")
    editor = Editor(str(tmp_path))
    answer = editor.run("insert", str(tmp_path / "a"), insert_line=1, new_str="\0").text
    assert (answer.startswith(ERROR_HEADER), (tmp_path / "a").read_bytes()) == (False, b"x\n\0\n")


@given(st.text(st.characters(exclude_characters="\0")), st.text(), st.integers(0, 6))
def test_whatever_the_text_it_comes_back(
    tmp_path_factory: pytest.TempPathFactory, text: str, new: str, at: int
) -> None:
    file = tmp_path_factory.mktemp("e") / "a"
    data = text.encode("utf-8", "replace")
    file.write_bytes(data)
    editor = Editor(str(file.parent))
    answer = editor.run("insert", str(file), insert_line=at, new_str=new).text
    if not answer.startswith(ERROR_HEADER):
        editor.run("undo_edit", str(file))
    assert file.read_bytes() == data
