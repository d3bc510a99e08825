"""Files up and down, by both forms of the routes (RUN009)."""

import hashlib
import os
import resource
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from sandboxd_process import Sandboxd

MIB = 1024 * 1024


def upload(sandboxd: Sandboxd, path: str, content: bytes, **more: object) -> tuple[int, object]:
    answer = sandboxd.client.post("/api/file/upload", params={"path": path}, files={"file": ("x", content)}, **more)  # type: ignore[arg-type]
    return answer.status_code, answer.json()


def download(sandboxd: Sandboxd, path: str) -> tuple[int, bytes]:
    answer = sandboxd.client.get("/api/file/download", params={"path": path})
    return answer.status_code, answer.content


@pytest.mark.parametrize("content", [b"", b"a", b"\r\n--\r\n", bytes(range(256)) * 3000])
@pytest.mark.parametrize("name", ["plain", "with space", "é", "a?b&c=d%2e+", "deep/down/here", "\udcff"])
def test_what_goes_up_comes_down(sandboxd: Sandboxd, tmp_path: Path, name: str, content: bytes) -> None:
    path = f"{tmp_path}/{name}"
    raw = "".join(f"%{byte:02x}" for byte in os.fsencode(path))
    up = sandboxd.client.post(f"/api/file/upload?path={raw}", files={"file": ("x", content)})
    assert (up.status_code, up.json()) == (200, {"success": True, "file_size": len(content)})
    assert Path(path).read_bytes() == content
    down = sandboxd.client.get(f"/api/file/download?path={raw}")
    assert (down.status_code, down.content) == (200, content)
    assert down.headers["content-type"] == "application/octet-stream"
    assert [entry for entry in os.listdir(Path(path).parent) if entry.startswith(".")] == []


def test_clients_of_1_8_2_write_the_path_into_the_route(sandboxd: Sandboxd, tmp_path: Path) -> None:
    up = sandboxd.client.post(
        f"/api/file/upload/{tmp_path}/old",
        files={"file": ("old", b"old")},
        data={"destination_path": f"{tmp_path}/old"},
    )
    assert (up.status_code, up.json()) == (200, {"success": True, "file_size": 3})
    down = sandboxd.client.get(f"/api/file/download/{tmp_path}/old")
    assert (down.status_code, down.content) == (200, b"old")
    assert sandboxd.client.get("/api/file/download/relative/path").status_code == 400


REFUSED_UPLOADS = [
    ("relative", 400, "Path must be absolute"),
    ("", 400, "Path must be absolute"),
    ("/a/../../etc/x", 400, "Path must not contain '..'"),
    ("/a/..", 400, "Path must not contain '..'"),
    ("/a\0b", 400, "Path must not contain NUL"),
    ("/", 400, "Path is a directory"),
    ("/dev/null", 400, "Path is not a file"),
    ("/dev/null/x", 400, "A parent of the path is not a directory"),
]


@pytest.mark.parametrize(("path", "status", "detail"), REFUSED_UPLOADS)
def test_where_nothing_can_be_put_the_answer_says_why(sandboxd: Sandboxd, path: str, status: int, detail: str) -> None:
    assert upload(sandboxd, path, b"x") == (status, {"detail": detail})


@pytest.mark.parametrize(
    ("path", "status", "detail"),
    [
        ("relative", 400, "Path must be absolute"),
        ("/etc/../etc/passwd", 400, "Path must not contain '..'"),
        ("/no/such/file", 404, "File not found"),
        ("/etc/passwd/x", 404, "File not found"),
        ("/tmp", 400, "Path is not a file"),
        ("/dev/zero", 400, "Path is not a file"),
    ],
)
def test_what_cannot_be_fetched_the_answer_says_why(sandboxd: Sandboxd, path: str, status: int, detail: str) -> None:
    answer = sandboxd.client.get("/api/file/download", params={"path": path})
    assert (answer.status_code, answer.json()) == (status, {"detail": detail})


def test_a_pipe_holds_nobody_up(sandboxd: Sandboxd, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert download(sandboxd, f"{tmp_path}/pipe")[0] == 400
    assert upload(sandboxd, f"{tmp_path}/pipe", b"x")[0] == 400


def test_files_that_say_that_they_are_empty_come_down(sandboxd: Sandboxd) -> None:
    status, content = download(sandboxd, "/proc/version")
    assert (status, content) == (200, Path("/proc/version").read_bytes())


def test_rights_and_links_are_kept(sandboxd: Sandboxd, tmp_path: Path) -> None:
    (tmp_path / "script").write_text("old")
    (tmp_path / "script").chmod(0o751)
    (tmp_path / "link").symlink_to("script")
    assert upload(sandboxd, f"{tmp_path}/link", b"new")[0] == 200
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "script").read_text() == "new"
    assert stat.S_IMODE((tmp_path / "script").stat().st_mode) == 0o751


def test_an_upload_that_breaks_off_leaves_what_was_there(sandboxd: Sandboxd, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("old")
    boundary = b'--B\r\ncontent-disposition: form-data; name="file"; filename="x"\r\n\r\n'
    answer = sandboxd.client.post(
        "/api/file/upload",
        params={"path": f"{tmp_path}/file"},
        content=boundary + b"half of it",
        headers={"content-type": "multipart/form-data; boundary=B"},
    )
    assert answer.status_code == 400
    assert answer.json() == {"detail": "There was an error parsing the body: the last boundary is missing"}
    assert [(entry.name, entry.read_text()) for entry in tmp_path.iterdir()] == [("file", "old")]


@pytest.mark.parametrize(
    ("content", "kind", "status"),
    [
        (b"", "", 422),
        (b"{}", "application/json", 422),
        (b"", "multipart/form-data; boundary=B", 422),
        (b"x", "multipart/form-data", 400),
        (b"--B--\r\n", "multipart/form-data; boundary=B", 422),
        (
            b'--B\r\ncontent-disposition: form-data; name="file"\r\n\r\nx\r\n--B--',
            "multipart/form-data; boundary=B",
            422,
        ),
        (b"--B\r\n" + b"a" * 20_000, "multipart/form-data; boundary=B", 400),
    ],
)
def test_bodies_that_hold_no_file_are_refused(
    sandboxd: Sandboxd, tmp_path: Path, content: bytes, kind: str, status: int
) -> None:
    headers = {"content-type": kind} if kind else {}
    answer = sandboxd.client.post(
        "/api/file/upload", params={"path": f"{tmp_path}/x"}, content=content, headers=headers
    )
    assert (answer.status_code, list(answer.json())) == (status, ["detail"])
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_is_told_apart_and_nothing_half_done_stays(fresh: Sandboxd, tmp_path: Path) -> None:
    """A limit on the size of files stands for the disk."""
    (tmp_path / "place").mkdir()
    resource.prlimit(fresh.process.pid, resource.RLIMIT_FSIZE, (MIB, MIB))
    status, answer = upload(fresh, f"{tmp_path}/place/x", b"x" * 2 * MIB)
    assert (status, answer) == (507, {"detail": "Failed to upload file: [Errno 27] File too large"})
    assert list((tmp_path / "place").iterdir()) == []


def test_directories_are_made_with_their_parents(sandboxd: Sandboxd, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for path, wanted in [
        (f"{tmp_path}/a/b", (200, {"success": True})),
        (f"{tmp_path}/a/b", (200, {"success": True})),
        (f"{tmp_path}/file", (400, {"detail": "Path exists and is not a directory"})),
        (f"{tmp_path}/file/x", (400, {"detail": "Path exists and is not a directory"})),
        ("a", (400, {"detail": "Path must be absolute"})),
        ("/a/../b", (400, {"detail": "Path must not contain '..'"})),
    ]:
        answer = sandboxd.client.post("/api/file/create_directory", params={"path": path})
        assert (answer.status_code, answer.json()) == wanted
    assert (tmp_path / "a/b").is_dir()


def test_a_large_file_passes_in_flat_memory(fresh: Sandboxd, tmp_path: Path) -> None:
    """Up in chunks of unknown total length, and down in pieces."""
    upload(fresh, f"{tmp_path}/first", b"x" * MIB)
    before = fresh.status("VmHWM")
    piece, count, boundary = os.urandom(MIB), 64, "B" * 20

    def body() -> Iterator[bytes]:
        yield f'--{boundary}\r\ncontent-disposition: form-data; name="file"; filename="x"\r\n\r\n'.encode()
        for _ in range(count):
            yield piece
        yield f"\r\n--{boundary}--\r\n".encode()

    up = fresh.client.post(
        "/api/file/upload",
        params={"path": f"{tmp_path}/large"},
        content=body(),
        headers={"content-type": f"multipart/form-data; boundary={boundary}"},
    )
    assert up.json() == {"success": True, "file_size": count * MIB}
    digest = hashlib.sha256()
    with fresh.client.stream("GET", "/api/file/download", params={"path": f"{tmp_path}/large"}) as down:
        for chunk in down.iter_raw():
            digest.update(chunk)
    assert digest.digest() == hashlib.sha256(piece * count).digest()
    assert fresh.status("VmHWM") - before < 4 * 1024
