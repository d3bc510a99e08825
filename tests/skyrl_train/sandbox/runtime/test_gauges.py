"""Gauges: sessions, slots, and the limits of a sandbox."""

from pathlib import Path

import pytest

from fakes.runtime import asynchronous, serving
from skyrl_train.sandbox.runtime.gauges import limit_gauges
from skyrl_train.sandbox.runtime.limits import effective
from skyrl_train.sandbox.runtime.metrics import Metrics
from skyrl_train.sandbox.runtime.podman.host import Host
from skyrl_train.sandbox.runtime.settings import RuntimeSettings

SETTINGS = RuntimeSettings(slots=1, cpus=2, memory_mib=256, pids=64)


@asynchronous
async def test_slots_and_sessions(tmp_path: Path) -> None:
    async with serving(tmp_path) as server:
        await server.start("s1")
        text = (await server.client.get("/metrics")).text
        wanted = {"slots": 4, "slots_used": 1, "queue": 0, "removals_open": 0}
        states = {"ready": 1, **dict.fromkeys(("queued", "pulling", "building", "starting", "paused", "failed"), 0)}
        for name, value in {**wanted, **{f'sessions{{state="{state}"}}': n for state, n in states.items()}}.items():
            assert f"\nskyrl_runtime_{name} {value}.0\n" in text


@pytest.mark.parametrize(("cgroups", "holder"), [(True, "cgroup"), (False, "sandboxd")])
def test_limits_name_who_holds_them(cgroups: bool, holder: str) -> None:
    metrics = Metrics()
    metrics.add_gauges(lambda: limit_gauges(effective(SETTINGS, Host(limits=cgroups, open_files=1000))))
    text = metrics.text()
    assert f'skyrl_runtime_sandbox_limit{{held_by="{holder}",what="memory_mib"}} 256.0\n' in text
    assert text.count("# TYPE skyrl_runtime_sandbox_limit gauge\n") == 1
