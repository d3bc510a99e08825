"""What is seen of sandboxes from outside."""

from pathlib import Path

from fakes.runtime import asynchronous, serving

SILENT = "the agent server has not answered for 120 s: the sandbox was ended"


@asynchronous
async def test_a_sandbox_that_does_not_answer_is_ended_in_words(tmp_path: Path) -> None:
    async with serving(tmp_path) as server:
        await server.start("s1")
        server.engine.healthy = False
        for _ in range(3):
            await server.runtime.inspector.inspect()
            server.clock.time += 60
        session = await server.session("s1")
        assert (session["pod_status"], session["pod_logs"].split("\n")[0]) == ("failed", SILENT)
        await server.until(lambda: not server.engine.standing)


@asynchronous
async def test_an_answer_ends_the_silence_and_a_late_look_is_none(tmp_path: Path) -> None:
    async with serving(tmp_path) as server:
        await server.start("s1")
        for healthy in (False, True, False, False):
            server.engine.healthy = healthy
            await server.runtime.inspector.inspect()
            server.clock.time += 500
        assert (await server.session("s1"))["pod_status"] == "ready"


@asynchronous
async def test_a_paused_sandbox_need_not_answer(tmp_path: Path) -> None:
    async with serving(tmp_path) as server:
        begun = await server.start("s1")
        await server.do("pause", begun["runtime_id"])
        for _ in range(4):
            await server.runtime.inspector.inspect()
            server.clock.time += 100
        assert (await server.session("s1"))["status"] == "paused"


@asynchronous
async def test_what_was_done_about_a_share_is_an_event(tmp_path: Path) -> None:
    async with serving(tmp_path) as server:
        begun = await server.start("s1")
        server.engine.exceeded = {begun["runtime_id"]: "99 instances of inotify"}
        await server.runtime.inspector.inspect()
        assert (await server.session("s1"))["events"][-1] == "limit: 99 instances of inotify"
