"""Whether a Ray cluster is whole, and what it lacks."""

import pytest

from skyrl_train.rl import ray_ready
from skyrl_train.rl.ray_ready import missing


def nodes(*gpus: float) -> list[dict[str, object]]:
    return [
        {"address": f"10.0.0.{number}", "resources": {"CPU": 8.0, "GPU": count}} for number, count in enumerate(gpus)
    ]


def test_all_are_there() -> None:
    assert missing(nodes(8, 8), nodes_expected=2, gpus_expected=16) == ""
    assert missing(nodes(8, 8, 8), nodes_expected=2, gpus_expected=16) == ""


def test_says_who_is_there() -> None:
    assert missing(nodes(8), nodes_expected=2, gpus_expected=16) == (
        "Ray has 1 of 2 nodes and 8 of 16 GPUs (10.0.0.0 with 8)"
    )
    assert missing(nodes(8, 4), nodes_expected=2, gpus_expected=16) == (
        "Ray has 2 of 2 nodes and 12 of 16 GPUs (10.0.0.0 with 8, 10.0.0.1 with 4)"
    )
    assert missing([], nodes_expected=2, gpus_expected=16) == "Ray has 0 of 2 nodes and 0 of 16 GPUs (none)"


def test_waits_until_the_limit_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    monkeypatch.setattr(ray_ready, "alive", lambda address: asked.append(address) or nodes(1))
    assert ray_ready.wait("h:1", 1, 1, 10) == ""
    assert ray_ready.wait("h:1", 2, 2, 0) == "Ray has 1 of 2 nodes and 1 of 2 GPUs (10.0.0.0 with 1)"
    assert asked == ["h:1", "h:1"]


def test_a_ray_that_does_not_answer_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuses(address: str) -> list[dict[str, object]]:
        raise ConnectionError("refused")

    monkeypatch.setattr(ray_ready, "alive", refuses)
    assert ray_ready.wait("h:1", 2, 2, 0) == "Ray at h:1 does not answer: ConnectionError: refused"
