"""POST /build and /build_status as clients of OpenHands 1.0 use them."""

import asyncio
import base64
import io
import tarfile
from pathlib import Path
from typing import Any

import httpx
import pytest

from fakes.engine import FakeEngine
from fakes.runtime import Server, asynchronous, serving
from skyrl_train.sandbox.derive import bases_of
from skyrl_train.sandbox.engine import BuildFailedError, BuildLateError

IMAGE = "localhost/runtime:oh_1"
RECIPE = b"FROM localhost/box\nRUN true\n"


def packed(*more: tuple[str, bytes], links: tuple[tuple[str, str], ...] = (), recipe: bytes = RECIPE) -> bytes:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w:gz") as archive:
        for name, content in (("./Dockerfile", recipe), *more):
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
        for name, target in links:
            entry = tarfile.TarInfo(name)
            entry.type, entry.linkname = tarfile.SYMTYPE, target
            archive.addfile(entry)
    return base64.b64encode(made.getvalue())


async def asked(server: Server, context: bytes | None = None, *, image: str = IMAGE, tags: tuple[str, ...] = ()) -> Any:
    """As the client does it: the context has a file name, the names have none."""
    form: list[tuple[str, Any]] = [("context", ("context.tar.gz", packed() if context is None else context))]
    form += [("target_image", (None, image)), *(("tags", (None, tag)) for tag in tags)]
    return await server.client.post("/build", files=form)


async def over(server: Server, build_id: str) -> dict[str, Any]:
    while True:
        answer: httpx.Response = await server.client.get("/build_status", params={"build_id": build_id})
        assert answer.status_code == 200
        if answer.json()["status"] != "IN_PROGRESS":
            return dict(answer.json())
        await asyncio.sleep(0.01)


@asynchronous
async def test_an_image_is_built_and_can_be_started(tmp_path: Path) -> None:
    async with serving(tmp_path) as server:
        answer = await asked(server, tags=("localhost/runtime:oh_2",))
        assert answer.status_code == 202
        build_id = answer.json()["build_id"]
        assert await over(server, build_id) == {"build_id": build_id, "status": "SUCCESS", "image": IMAGE}
        assert server.engine.recipes == [RECIPE.decode()]
        assert (await server.start("s1", image="localhost/runtime:oh_2"))["pod_status"] == "ready"
        assert [event["status"] for event in server.events("build ended")] == ["SUCCESS"]
        assert list((tmp_path / "builds").iterdir()) == []
        text = (await server.client.get("/metrics")).text
        assert 'skyrl_runtime_builds_total{outcome="built"} 1.0\n' in text


@asynchronous
async def test_who_asks_for_the_same_shares_the_build(tmp_path: Path) -> None:
    async with serving(tmp_path) as server:
        held = server.engine.hold["build_from"] = asyncio.Event()
        answers = await asyncio.gather(*(asked(server, packed()) for _ in range(5)))
        assert len({answer.json()["build_id"] for answer in answers}) == 1
        refused = await asked(server, packed(("./more", b"x")))
        assert (refused.status_code, "from another directory" in refused.text) == (409, True)
        held.set()
        build_id = answers[0].json()["build_id"]
        await over(server, build_id)
        assert (await asked(server)).json()["build_id"] == build_id
        assert len(server.engine.recipes) == 1
        del server.engine.images[IMAGE]
        again = (await asked(server)).json()["build_id"]
        assert again != build_id
        await over(server, again)
        assert len(server.engine.recipes) == 2


@pytest.mark.parametrize(
    ("error", "status", "said"),
    [
        (BuildFailedError("podman build ended with 1", "STEP 2/2\nE: no network"), "FAILURE", "podman build ended with 1\nSTEP 2/2\nE: no network"),
        (BuildLateError("no end within 5 s", "STEP 1"), "TIMEOUT", "no end within 5 s\nSTEP 1"),
    ],
)  # fmt: skip
def test_a_failure_comes_with_the_end_of_its_output(tmp_path: Path, error: Exception, status: str, said: str) -> None:
    @asynchronous
    async def test() -> None:
        async with serving(tmp_path) as server:
            server.engine.fail["build_from"] = [error]
            build_id = (await asked(server)).json()["build_id"]
            ended = await over(server, build_id)
            assert (ended["status"], ended["error"]) == (status, said)

    test()


@asynchronous
async def test_a_server_that_was_killed_in_a_build_leaves_a_failure(tmp_path: Path) -> None:
    engine = FakeEngine()
    async with serving(tmp_path, engine) as server:
        done = (await asked(server)).json()["build_id"]
        await over(server, done)
        engine.hold["build_from"] = asyncio.Event()
        build_id = (await asked(server, packed(("./b", b"")))).json()["build_id"]
        server.store.records.set = lambda *_: None  # type: ignore[method-assign]  # killed: nothing more is written
    engine.hold.clear()
    async with serving(tmp_path, engine) as server:
        assert (await over(server, done))["status"] == "SUCCESS"
        ended = await over(server, build_id)
        assert ended["status"] == "INTERNAL_ERROR"
        assert ended["error"] == "the runtime was killed during the build; start it again"
        assert (await asked(server, packed(("./b", b"")))).status_code == 202


@pytest.mark.parametrize(
    ("context", "image", "status", "said"),
    [
        (b"no base64!", IMAGE, 400, "context: not base64"),
        (b"QUJD", IMAGE, 400, "context: cannot be unpacked"),
        (packed()[:-6], IMAGE, 400, "context: "),
        (packed(recipe=b"") , "A B", 400, "target_image: 'A B' contains white space"),
        (packed(("../outside", b"x")), IMAGE, 400, "context: cannot be unpacked: the path '../outside'"),
        (packed(("/etc/outside", b"x")), IMAGE, 202, ""),
        (packed(links=(("./link", "/etc/passwd"),)), IMAGE, 400, "context: cannot be unpacked"),
    ],
)  # fmt: skip
def test_what_cannot_be_built_is_refused(tmp_path: Path, context: bytes, image: str, status: int, said: str) -> None:
    @asynchronous
    async def test() -> None:
        async with serving(tmp_path) as server:
            answer = await asked(server, context, image=image)
            assert answer.status_code == status, answer.text
            assert answer.json().get("detail", "").startswith(said)
            assert not Path("/etc/outside").exists()
            assert status == 202 or not server.engine.recipes

    test()


@asynchronous
async def test_what_is_no_form_is_refused(tmp_path: Path) -> None:
    async with serving(tmp_path) as server:
        post = server.client.post
        assert (await post("/build", json={})).status_code == 400
        assert (await post("/build", content=b"x")).status_code == 400
        only = {"target_image": (None, IMAGE)}
        assert (await post("/build", files=only)).json() == {
            "detail": "context: expected the directory to build in, as a packed archive in base64, found nothing"
        }
        empty = io.BytesIO()
        with tarfile.open(fileobj=empty, mode="w:gz"):
            pass
        answer = await asked(server, base64.b64encode(empty.getvalue()))
        assert answer.json() == {"detail": "context: has no Dockerfile or Containerfile"}
        assert (await server.client.get("/build_status", params={"build_id": "no"})).status_code == 404
        assert (await server.client.get("/build_status")).status_code == 404
        assert list((tmp_path / "builds").iterdir()) == []


def test_what_a_recipe_is_made_from() -> None:
    text = "# FROM no\nFROM --platform=x a/b:1 AS one\nfrom One as two\nFROM $BASE\n  FROM scratch\nRUN echo FROM\nFROM c/d\n"
    assert bases_of(text) == ("a/b:1", "c/d")


@asynchronous
async def test_a_name_that_a_later_build_took_is_built_again(tmp_path: Path) -> None:
    """Else the client gets the image of another directory under the name that it asked for."""
    async with serving(tmp_path) as server:
        other = packed(("file", b"other"))
        for context, image, tags in ((None, IMAGE, ()), (other, "localhost/other:1", (IMAGE,)), (None, IMAGE, ())):
            answer = await asked(server, context, image=image, tags=tags)
            await over(server, answer.json()["build_id"])
        assert len(server.engine.recipes) == 3


@asynchronous
async def test_names_that_are_no_text_differ(tmp_path: Path) -> None:
    async with serving(tmp_path) as server:
        for name in ("\udcff", "\udcfe"):
            answer = await asked(server, packed((name, b"")))
            await over(server, answer.json()["build_id"])
        assert len(server.engine.recipes) == 2


@asynchronous
async def test_builds_that_arrive_at_once_are_limited_too(tmp_path: Path) -> None:
    async with serving(tmp_path) as server:
        held = server.engine.hold["build_from"] = asyncio.Event()
        answers = await asyncio.gather(*(asked(server, image=f"localhost/box:{number}") for number in range(40)))
        statuses = sorted(answer.status_code for answer in answers)
        assert statuses == [202] * 16 + [429] * 24
        held.set()
        for answer in answers[:16]:
            await over(server, answer.json()["build_id"])


@asynchronous
async def test_a_form_of_many_parts_is_refused(tmp_path: Path) -> None:
    """Each part costs time: 600,000 of them, 32 MB, kept a processor busy for more than a minute."""
    part = b'--x\r\nContent-Disposition: form-data; name="tags"\r\n\r\n\r\n'
    async with serving(tmp_path) as server:
        headers = {"Content-Type": "multipart/form-data; boundary=x"}
        answer = await server.client.post("/build", content=part * 10_000 + b"--x--\r\n", headers=headers)
        assert (answer.status_code, answer.json()) == (400, {"detail": "the form has more than 64 parts"})
