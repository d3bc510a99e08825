"""Asks an image for its Pythons and its distribution, once: a container of it runs a few words of shell."""

import asyncio
import contextlib
import secrets

from skyrl_train.contracts.sandbox.glibc import System, system_of
from skyrl_train.sandbox.image_pythons import PROBE, read_probe
from skyrl_train.sandbox.inject import Python
from skyrl_train.sandbox.runtime.engine import ContainerSpec, EngineError, EngineUnsureError
from skyrl_train.sandbox.runtime.podman.api import Absent, Api
from skyrl_train.sandbox.runtime.podman.host import Host
from skyrl_train.sandbox.runtime.podman.process_end import until_ended
from skyrl_train.sandbox.runtime.podman.spec import log_text, payload

_LIMIT_S = 30.0
_LABEL = "skyrl.look"
_REMOVALS, _AGAIN_S = 10, 0.2


async def looked_into(api: Api, reference: str, identity: str) -> tuple[tuple[Python, ...], System | None]:
    """None of them where the image has no shell; the mounted one is taken then."""
    name = f"skyrl-look-{identity[:12]}-{secrets.token_hex(4)}"
    spec = ContainerSpec(
        name=name,
        image=reference,
        command=("/bin/sh", "-c", PROBE),
        environment={},
        working_dir="/",
        mounts=(),
        labels={_LABEL: reference},
        cpus=1,
        memory_mib=512,
        pids=64,
    )
    try:
        await api.ask("post", "/containers/create", body=payload(spec, Host()))
        await api.ask("post", f"/containers/{name}/start")
        pid = int((await api.ask("get", f"/containers/{name}/json"))["State"]["Pid"])
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_LIMIT_S):
                await until_ended(pid)
        printed = await api.ask("get", f"/containers/{name}/logs", stdout=True, stderr=False)
    except EngineUnsureError:
        raise
    except EngineError:
        return (), None
    finally:
        await _remove(api, name)
    text = log_text(printed) if isinstance(printed, bytes) else ""
    return read_probe(text), system_of(text)


async def _remove(api: Api, name: str) -> None:
    """It has just ended, and Podman may be cleaning up behind it."""
    for _ in range(_REMOVALS):
        try:
            await api.ask("delete", f"/containers/{name}", force=True, timeout=0, v=True)
        except Absent:
            return
        except (EngineError, EngineUnsureError):
            await asyncio.sleep(_AGAIN_S)
        else:
            return


async def remove_looks(api: Api) -> None:
    """Those of a server that was killed meanwhile."""
    for found in await api.ask("get", "/containers/json", all=True, filters={"label": [_LABEL]}) or ():
        await _remove(api, str(found["Id"]))
