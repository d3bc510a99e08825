"""The program that looks into archives of images, run as the doctor runs it."""

import gzip
import io
import json
import subprocess
import sys
import tarfile
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

import skyrl_doctor.children
from skyrl_doctor.core.errors import CouldNotLook
from skyrl_doctor.facts.images.archived import parse_archives
from skyrl_doctor.facts.images.stored import Node

CHILD = Path(skyrl_doctor.children.__file__ or "").with_name("archive_paths.py")
PATHS = ("/tests", "/testbed/run.sh")


def tar(entries: Sequence[tuple[str, bytes | str | None]], mode: str = "w") -> bytes:
    """Of files (bytes), links (text) and directories (None)."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode=mode) as made:  # type: ignore[call-overload]  # the mode is a test's
        for name, content in entries:
            info = tarfile.TarInfo(name)
            info.type = tarfile.DIRTYPE if content is None else tarfile.SYMTYPE if isinstance(content, str) else b"0"
            info.linkname = content if isinstance(content, str) else ""
            info.size = len(content) if isinstance(content, bytes) else 0
            made.addfile(info, io.BytesIO(content) if isinstance(content, bytes) else None)
    return out.getvalue()


def docker(*layers: bytes) -> bytes:
    names = [f"{number}/layer.tar" for number in range(len(layers))]
    manifest = json.dumps([{"Config": "x.json", "Layers": names}]).encode()
    return tar([*zip(names, layers, strict=True), ("manifest.json", manifest)])


def oci(*layers: bytes) -> bytes:
    blobs = [(f"blobs/sha256/{number}", layer) for number, layer in enumerate(layers)]
    manifest = json.dumps({"layers": [{"digest": f"sha256:{number}"} for number in range(len(layers))]}).encode()
    index = json.dumps({"manifests": [{"digest": "sha256:m"}]}).encode()
    return tar([*blobs, ("blobs/sha256/m", manifest), ("index.json", index)])


def gz(content: bytes) -> bytes:
    """The same bytes at any time: they are in the names of tests, which both workers of a run must give alike."""
    return gzip.compress(content, mtime=0)


def ask(at: Path, *archives: bytes, seconds: str = "30") -> str:
    files = [at / f"{number}.tar" for number in range(len(archives))]
    for file, content in zip(files, archives, strict=True):
        file.write_bytes(content)
    return told(at, [str(file) for file in files], seconds=seconds)


def told(at: Path, files: Sequence[str], *, seconds: str = "30") -> str:
    words = [sys.executable, "-B", str(CHILD), seconds, ",".join(PATHS), *files]
    done = subprocess.run(words, cwd=at, capture_output=True, text=True, timeout=300, check=True)
    assert done.stderr == ""
    return done.stdout


def kinds(at: Path, archive: bytes) -> dict[str, str | None]:
    """What lies at each path; a path of which nothing is told is left out."""
    return kinds_in(ask(at, archive), str(at / "0.tar"))


def kinds_in(answer: str, archive: str) -> dict[str, str | None]:
    (image,) = parse_archives(answer, {archive: "box"})
    assert image.unread == (f"{archive}: one of the paths is a symbolic link",)
    assert image.names == ("box",)
    return {path: node.kind if isinstance(node, Node) else None for path, node in image.nodes.items()}


BASE = tar([("./testbed/", None), ("./testbed/run.sh", b"x"), ("./tests/a.py", b"x")])
BOTH = {"/tests": "dir", "/testbed/run.sh": "file"}


@pytest.mark.parametrize("kept", [docker, oci])
def test_both_layouts_tell_what_is_there(tmp_path: Path, kept: Callable[..., bytes]) -> None:
    packed = tar([("testbed/run.sh", b"x"), ("tests", None)], "w:gz")
    assert kinds(tmp_path, kept(BASE)) == kinds(tmp_path, kept(tar([]), packed)) == BOTH


@pytest.mark.parametrize("kept", [docker, oci])
@pytest.mark.parametrize("layer", [bytes, gz])
def test_an_archive_and_its_layers_may_be_packed(
    tmp_path: Path, kept: Callable[..., bytes], layer: Callable[[bytes], bytes]
) -> None:
    hidden = tar([(".wh.tests", b"")])
    wanted = {"/tests": None, "/testbed/run.sh": "file"}
    assert kinds(tmp_path, kept(layer(BASE), layer(hidden))) == wanted
    assert kinds(tmp_path, gz(kept(layer(BASE), layer(hidden)))) == wanted


def test_an_oci_layout_may_be_a_directory(tmp_path: Path) -> None:
    with tarfile.open(fileobj=io.BytesIO(oci(BASE))) as archive:
        archive.extractall(tmp_path / "a.oci", filter="data")
    at = str(tmp_path / "a.oci")
    assert kinds_in(told(tmp_path, [at]), at) == BOTH


def test_a_layer_that_is_there_twice_is_a_link(tmp_path: Path) -> None:
    """As docker save before 25 and podman save write it."""
    manifest = json.dumps([{"Layers": ["a/layer.tar", "b/layer.tar"]}]).encode()
    hidden = tar([(".wh.tests", b"")])
    saved = tar([("b/layer.tar", "../a/layer.tar"), ("a/layer.tar", BASE), ("manifest.json", manifest)])
    other = tar([("b/layer.tar", hidden), ("a/layer.tar", "../b/layer.tar"), ("manifest.json", manifest)])
    assert kinds(tmp_path, saved) == kinds(tmp_path, gz(saved)) == BOTH
    assert kinds(tmp_path, other) == {"/tests": None, "/testbed/run.sh": None}


def test_without_the_program_it_says_what_is_wanted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    packed = b"\x28\xb5\x2f\xfd" + bytes(100)
    for archive in (packed, docker(packed)):
        assert "packed with zstd, but PATH has no zstd program" in ask(tmp_path, archive)


def test_a_later_layer_hides_and_brings_back(tmp_path: Path) -> None:
    gone = {"/tests": None, "/testbed/run.sh": None}
    hidden = tar([(".wh.tests", b""), ("testbed/.wh.run.sh", b"")])
    emptied = tar([("testbed/.wh..wh..opq", b""), (".wh.tests", b"")])
    removed = tar([(".wh.testbed", b""), (".wh.tests", b"")])
    assert kinds(tmp_path, docker(BASE, hidden)) == kinds(tmp_path, docker(BASE, emptied)) == gone
    assert kinds(tmp_path, docker(BASE, removed)) == gone
    assert kinds(tmp_path, docker(BASE, hidden, BASE)) == BOTH
    new = tar([("tests/b.py", b""), ("tests/.wh..wh..opq", b"")])
    assert kinds(tmp_path, docker(BASE, new)) == BOTH


def test_what_is_reached_through_a_link_is_not_told(tmp_path: Path) -> None:
    assert kinds(tmp_path, docker(tar([("testbed", "/work/repo")]))) == {"/tests": None}


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"no archive",
        tar([]),
        tar([("manifest.json", b"[]")]),
        docker(b"no layer"),
        gz(docker(BASE))[:60],
    ],
)
def test_a_damaged_archive_says_why(tmp_path: Path, content: bytes) -> None:
    (image,) = parse_archives(ask(tmp_path, content), {str(tmp_path / "0.tar"): "box"})
    assert image.nodes == {}
    assert ": None" not in image.unread[0]


def test_time_that_runs_out_leaves_the_rest_unseen(tmp_path: Path) -> None:
    assert json.loads(ask(tmp_path, docker(BASE), seconds="0")) == {"archives": []}


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "{}", '{"archives": 1}', '{"archives": [1]}', '{"archives": [{"archive": "x"}]}']
)
def test_an_odd_answer_is_no_answer(text: str) -> None:
    with pytest.raises(CouldNotLook):
        parse_archives(text, {"y": "box"})
