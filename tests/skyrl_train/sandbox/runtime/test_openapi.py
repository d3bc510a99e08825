"""The document describes every route, with the rules that read its requests."""

from pathlib import Path

from fakes.runtime import asynchronous, serving
from skyrl_train.sandbox.runtime.openapi import DOCUMENT
from skyrl_train.sandbox.runtime.requests import CHANGE, PREWARM
from skyrl_train.sandbox.start_request import START


@asynchronous
async def test_every_route_is_described(tmp_path: Path) -> None:
    async with serving(tmp_path) as server:
        assert (await server.client.get("/openapi.json")).json()["paths"].keys() == DOCUMENT["paths"].keys()
        for path, verbs in DOCUMENT["paths"].items():
            for verb in verbs:
                found = await server.client.request(verb, path.replace("{", "").replace("}", ""))
                assert found.status_code != 405


def test_bodies_are_described_by_the_rules_that_read_them() -> None:
    def body(path: str) -> object:
        return DOCUMENT["paths"][path]["post"]["requestBody"]["content"]["application/json"]["schema"]

    assert [body(path) for path in ("/start", "/stop", "/pause", "/resume", "/prewarm")] == [
        START.schema, CHANGE.schema, CHANGE.schema, CHANGE.schema, PREWARM.schema,
    ]  # fmt: skip
