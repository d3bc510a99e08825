"""The parts that touch nothing: no input breaks them, or is taken for something that it is not."""

import ast
import io
import json
import subprocess
import sys
import zipfile
from importlib.util import MAGIC_NUMBER
from pathlib import Path
from urllib.parse import parse_qsl, unquote

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skyrl_train.contracts.sandboxd_api import SESSION_KEY_VARIABLES
from skyrl_train.sandbox.sandboxd import request_fields
from skyrl_train.sandbox.sandboxd.bundle import write_zipapp, zipapp_bytes
from skyrl_train.sandbox.sandboxd.clipped_output import Clip
from skyrl_train.sandbox.sandboxd.events import Events, Search, command_event, output_event
from skyrl_train.sandbox.sandboxd.http import HttpError, decode, parse_query
from skyrl_train.sandbox.sandboxd.main import session_keys
from skyrl_train.sandbox.sandboxd.multipart import file_chunks, parameters
from skyrl_train.sandbox.sandboxd.responses import _pieces

ROOT = Path(__file__).parents[4]
STANDARD = set(sys.stdlib_module_names)


@given(st.lists(st.binary(max_size=40)), st.integers(2, 64))
def test_a_clip_keeps_the_beginning_and_the_end(chunks: list[bytes], limit: int) -> None:
    clip = Clip(limit)
    for chunk in chunks:
        clip.add(chunk)
    whole, half = b"".join(chunks), limit // 2
    if len(whole) <= 2 * half:
        assert (clip.left_out, clip.text()) == (0, whole.decode("utf-8", "replace"))
        return
    assert clip.left_out == len(whole) - 2 * half
    assert clip.text().startswith(whole[:half].decode("utf-8", "replace"))
    assert clip.text().endswith(whole[-half:].decode("utf-8", "replace"))
    assert f"{clip.left_out} bytes left out" in clip.text()


@given(st.text(st.characters(codec="ascii")))
def test_paths_are_decoded_as_the_standard_library_does(text: str) -> None:
    assert decode(text) == unquote(text, errors="surrogateescape")


@given(st.text(st.characters(codec="ascii")))
def test_queries_are_read_as_the_standard_library_does(text: str) -> None:
    assert parse_query(text) == dict(parse_qsl(text, keep_blank_values=True, errors="surrogateescape"))


def body_of(**given: object) -> tuple[bytes, str]:
    request = httpx.Request("POST", "http://x", **given)  # type: ignore[arg-type]
    return request.read(), request.headers["content-type"]


def read_in(data: bytes, size: int) -> "io.BufferedReader":
    class Pieces(io.BytesIO):
        def read(self, _: int | None = -1) -> bytes:
            return super().read(size)

    return Pieces(data)  # type: ignore[return-value]


@given(st.binary(max_size=300), st.binary(max_size=60), st.integers(1, 40))
def test_the_file_of_a_form_is_what_was_sent_however_it_arrives(content: bytes, other: bytes, size: int) -> None:
    body, kind = body_of(files=[("other", ("o", other)), ("file", ("f", content))], data={"destination_path": "/x"})
    chunks = file_chunks(read_in(body, size).read, kind)
    assert chunks is not None
    assert b"".join(chunks) == content


@given(st.binary(max_size=200), st.integers(1, 40))
def test_no_body_hangs_the_parser(body: bytes, size: int) -> None:
    for data in (
        body,
        b"--B\r\n" + body,
        b"--B\r\ncontent-disposition: form-data; name=file; filename=x\r\n\r\n" + body,
    ):
        try:
            chunks = file_chunks(read_in(data, size).read, "multipart/form-data; boundary=B")
            content = None if chunks is None else b"".join(chunks)
        except HttpError:
            continue
        assert content is None or b"\r\n--B" in data


@given(st.text())
def test_no_header_breaks_the_reader_of_parameters(text: str) -> None:
    assert isinstance(parameters(text), dict)


def test_quoted_parameters_hold_what_they_like() -> None:
    assert parameters(' name="fi\\"le; x"; FileName=a b') == {"name": 'fi"le; x', "filename": "a b"}


@given(st.text())
def test_a_path_that_is_taken_is_absolute_and_leads_down(path: str) -> None:
    try:
        taken = request_fields.absolute_path(path)
    except HttpError:
        return
    assert taken == path
    assert path.startswith("/")
    assert ".." not in path.split("/")
    assert "\0" not in path


@pytest.mark.parametrize(
    ("environ", "keys"),
    [
        ({}, []),
        ({"SESSION_API_KEY": ""}, []),
        ({"SESSION_API_KEY": "a"}, ["a"]),
        ({"OH_SESSION_API_KEYS_0": "", "SESSION_API_KEY": "a"}, ["a"]),
        ({"OH_SESSION_API_KEYS_0": "b", "SESSION_API_KEY": "a"}, ["b"]),
        ({"OH_SESSION_API_KEYS_1": "c", "OH_SESSION_API_KEYS_0": "b", "OH_SESSION_API_KEYS_X": "d"}, ["b", "c"]),
    ],
)
def test_session_keys(environ: dict[str, str], keys: list[str]) -> None:
    assert session_keys(environ) == keys
    assert SESSION_KEY_VARIABLES == ("OH_SESSION_API_KEYS_0", "SESSION_API_KEY")


def test_events_are_forgotten_by_their_bytes_and_the_newest_never() -> None:
    events = Events(kept_bytes=4000)
    for number in range(20):
        events.add(output_event(f"{number}", 0, "x" * 1000, ""))
    everything = events.search(Search())
    assert [event["command_id"] for event in everything["items"]] == ["18", "19"]  # type: ignore[attr-defined]
    command = events.add(command_event("c", None, 1))
    assert events.get(str(command["id"])) == command
    assert events.get("none") is None


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    )
)
def test_json_in_pieces_is_json(value: object) -> None:
    assert json.loads(b"".join(_pieces(value))) == value


def test_a_long_text_is_the_same_in_slices() -> None:
    text = 'é"\\\0\U0001f600' * 100_000
    assert json.loads(b"".join(_pieces({"a": [text]}))) == {"a": [text]}
    assert max(map(len, _pieces(text))) < 2 * 1024 * 1024


def test_the_archive_is_the_same_bytes_every_time_and_named_after_them(tmp_path: Path) -> None:
    first, second = write_zipapp(tmp_path / "a"), write_zipapp(tmp_path / "b")
    assert (first.name, first.read_bytes()) == (second.name, zipapp_bytes())
    assert write_zipapp(tmp_path / "a").stat().st_ino == first.stat().st_ino
    assert first.stat().st_mode & 0o777 == 0o444
    entries = zipfile.ZipFile(first).infolist()
    assert {entry.date_time for entry in entries} == {(1980, 1, 1, 0, 0, 0)}
    assert {"bundle.py", "__pycache__"}.isdisjoint(Path(entry.filename).name for entry in entries)


def shipped() -> list[tuple[str, ast.Module]]:
    """As Python 3.8 reads it."""
    archive = zipfile.ZipFile(io.BytesIO(zipapp_bytes()))
    return [
        (name, ast.parse(archive.read(name), feature_version=(3, 8)))
        for name in archive.namelist()
        if name.endswith(".py")
    ]


def test_what_is_shipped_is_python_3_8_and_imports_the_standard_library_alone() -> None:
    for name, tree in shipped():
        imports = [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
        modules = [alias.name for node in imports if isinstance(node, ast.Import) for alias in node.names]
        modules += [node.module or "" for node in imports if isinstance(node, ast.ImportFrom)]
        foreign = [module for module in modules if module.partition(".")[0] not in STANDARD]
        ours = {"skyrl_train.contracts", "skyrl_train.contracts.sandboxd_api"}  # shipped with it
        foreign = [module for module in foreign if not module.startswith("skyrl_train.sandbox.sandboxd")]
        assert set(foreign) - ours == set(), name


def test_starting_loads_none_of_the_slow_modules(tmp_path: Path) -> None:
    """Each of them takes longer to load than all of sandboxd."""
    program = "import sys; sys.path.insert(0, sys.argv[1]); import skyrl_train.sandbox.sandboxd.main, json; print(json.dumps(sorted(sys.modules)))"
    argv = [sys.executable, "-I", "-S", "-c", program, str(write_zipapp(tmp_path))]
    loaded = set(json.loads(subprocess.run(argv, capture_output=True, text=True, check=True, timeout=300).stdout))
    slow = {"asyncio", "http", "http.server", "email", "argparse", "tempfile", "uuid", "hashlib", "ssl", "typing", "pathlib", "logging", "urllib"}  # fmt: skip
    assert loaded & slow == set()


def test_the_compiled_forms_are_for_the_python_that_made_them_alone(tmp_path: Path) -> None:
    """What they were compiled from says which were used; another version has another magic number."""
    archive = write_zipapp(tmp_path)
    entries = {name: zipfile.ZipFile(archive).read(name) for name in zipfile.ZipFile(archive).namelist()}
    foreign = tmp_path / "foreign.pyz"
    magic = MAGIC_NUMBER.hex().encode()
    tell = b"\nprint(main.__code__.co_filename)\n"
    with zipfile.ZipFile(foreign, "w") as written, zipfile.ZipFile(tmp_path / "own.pyz", "w") as own:
        for name, content in entries.items():
            told = content.replace(b"\nraise ", tell + b"\nraise ") if name == "__main__.py" else content
            own.writestr(name, told)
            written.writestr(name, told.replace(magic, b"0" * len(magic)))
    ran = [
        subprocess.run([sys.executable, "-I", "-S", str(each), "--help"], capture_output=True, text=True, check=True)
        for each in (tmp_path / "own.pyz", foreign)
    ]
    main = "skyrl_train/sandbox/sandboxd/main.py"
    assert [each.stdout.splitlines()[0] for each in ran] == [main, f"{foreign}/{main}"]
