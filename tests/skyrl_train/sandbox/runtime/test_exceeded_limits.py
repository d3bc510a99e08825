"""What a sandbox was held back from stands in its status, and in the cause of its end."""

from pathlib import Path

from fakes.engine import FakeEngine
from fakes.runtime import asynchronous, serving
from skyrl_train.sandbox.runtime.exceeded_limits import limits_in, oom_kills

LOG = "sandboxd: version 1\nhello\nsandboxd: limit: more than the 64 processes: all were ended\nlimit: a lie\n"
SAID = "more than the 64 processes: all were ended"


class LoggingEngine(FakeEngine):
    text = ""

    async def logs(self, name: str) -> str:
        return self.text if name in self.standing else ""


def test_only_sandboxds_own_lines_count() -> None:
    assert limits_in(LOG) == (SAID,)
    assert limits_in("") == ()


@asynchronous
async def test_the_status_says_it_once_and_the_sandbox_goes_on(tmp_path: Path) -> None:
    engine = LoggingEngine()
    async with serving(tmp_path, engine) as server:
        await server.start("s1")
        engine.text = LOG
        for _ in range(3):
            server.clock.time += 2
            session = await server.session("s1")
        assert (session["pod_status"], session["events"]) == ("ready", ["ready", f"limit: {SAID}"])
        assert [event["why"] for event in server.told("limit")] == [SAID]
        assert "skyrl_runtime_limits_total 1.0\n" in (await server.client.get("/metrics")).text


@asynchronous
async def test_a_sandbox_that_ended_by_it_says_so(tmp_path: Path) -> None:
    engine = LoggingEngine()
    async with serving(tmp_path, engine) as server:
        begun = await server.start("s1")
        engine.text = LOG
        engine.kill(begun["runtime_id"])
        await server.until(lambda: not server.store.current(begun["runtime_id"]).live)
        cause = f"the sandbox ended: killed by SIGKILL (exit status 137); {SAID}"
        assert (await server.session("s1"))["pod_logs"].splitlines()[0] == cause


def test_what_the_kernel_counted(tmp_path: Path) -> None:
    group = tmp_path / "cgroup" / "user" / "libpod-1"
    group.mkdir(parents=True)
    (tmp_path / "7").mkdir()
    (tmp_path / "7" / "cgroup").write_text("1:name=systemd:/x\n0::/user/libpod-1\n")
    ask = {"proc": str(tmp_path), "cgroups": str(tmp_path / "cgroup")}
    assert oom_kills(7, **ask) == ()
    (group / "memory.events").write_text("low 0\noom 2\noom_kill 2\n")
    (group / "pids.events").write_text("max 9\n")
    assert oom_kills(7, **ask) == (
        "out of memory: the kernel ended 2 processes",
        "as many processes as a sandbox may have: more were refused",
    )
    (group / "memory.events").write_text("garbage")
    (group / "pids.events").write_text("max 0\n")
    assert oom_kills(7, **ask) == ()
    (tmp_path / "7" / "cgroup").write_text("1:name=systemd:/x\n")
    assert oom_kills(7, **ask) == oom_kills(8, **ask) == ()
