"""Known-bad versions."""

import pytest
from packaging.specifiers import SpecifierSet

from skyrl_train.node.advisories import advisories, advisories_for

SCOPES = {"", "lora", "vision", "rocm", "sleep", "expert_parallel", "pipeline_parallel"}


def test_every_entry_is_whole() -> None:
    assert len(advisories()) >= 15
    for one in advisories():
        for versions in (one.versions, *one.using.values(), *one.without.values()):
            SpecifierSet(versions)
        assert one.scope in SCOPES
        assert one.severity in ("error", "warning", "info")
        assert one.thread.startswith("https://github.com/")
        assert one.reason
        assert one.fix


@pytest.mark.parametrize(
    ("packages", "threads"),
    [
        ({"transformers": "5.1.0", "verl": "0.7.0"}, ["verl/issues/5007"]),
        ({"transformers": "5.1.0", "verl": "0.7.1"}, []),
        ({"transformers": "4.57.6", "verl": "0.7.0"}, []),
        ({"transformers": "5.1.0", "vllm": "0.11.2"}, ["vllm/pull/29686"]),
        ({"transformers": "4.54.0", "vllm": "0.9.2"}, ["vllm-ascend/issues/2046"]),
        ({"click": "8.3.1", "ray": "2.51.1"}, ["skypilot/pull/7985"]),
        ({"click": "8.3.1"}, []),
        ({"torch": "2.9.1+cu128"}, ["pytorch/issues/166643"]),
        ({"torch": "2.9.1+cu128", "nvidia-cudnn-cu12": "9.15.1.9"}, []),
        ({"flash-attn": "2.8.0.post2", "torch": "2.6.0+cu124"}, ["flash-attention/issues/1717"]),
        ({"verl": "0.9.1", "vllm": "0.24.0", "torch": "2.11.0", "transformers": "5.6.1", "ray": "2.55.0"}, []),
        ({"verl": "0.9.1", "vllm": "0.31.0"}, ["vllm/pull/53224"]),
        ({"verl": "0.9.1", "vllm": "0.28.0"}, []),
        ({"verl": "0.9.0", "vllm": "0.31.0"}, ["verl/pull/7453"]),
        ({"verl": "0.9.0", "vllm": "0.25.0"}, []),
        ({"verl": "not a version"}, []),
    ],
)
def test_ranges(packages: dict[str, str], threads: list[str]) -> None:
    found = [one.thread for one in advisories_for(packages)]
    assert [thread.partition("github.com/")[2].partition("/")[2] for thread in found] == threads
