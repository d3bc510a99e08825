"""What a node needs of host memory."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skyrl_train.node.host_memory import (
    Training,
    billions_in_name,
    host_memory_need_gib,
    memory_to_ask_gib,
    ray_refuses_slow_store,
    ray_store_bytes,
    resident_gib,
)

SEVEN = Training(billions=7.615616512, ranks=8)


def rounded(run: Training) -> dict[str, float]:
    return {name: round(gib, 1) for name, gib in host_memory_need_gib(run).items()}


def test_off_loading_keeps_weights_and_moments_on_the_host() -> None:
    # 12 bytes a parameter: 4 of weights, 8 of Adam
    assert rounded(SEVEN) == {"processes": 38.0, "object store": 2.0, "weights and optimiser": 85.1}
    assert round(resident_gib(SEVEN), 1) == 85.1


def test_cpu_offload_adds_the_gradients() -> None:
    run = Training(billions=1, cpu_offload=True, param_offload=False, optimizer_offload=False)
    assert round(resident_gib(run), 2) == 14.9


def test_nodes_share_what_is_off_loaded() -> None:
    assert round(resident_gib(Training(billions=8, nodes=2)), 1) == 44.7


def test_bf16_weights_halve_it_and_a_critic_doubles_it() -> None:
    assert round(resident_gib(Training(billions=1, weight_bytes=2)), 2) == 5.59
    assert round(resident_gib(Training(billions=1, critic=True)), 2) == 22.35


def test_an_adapter_leaves_the_base_and_sleeping_servers_keep_copies() -> None:
    run = Training(billions=1, lora=True, sleeping_servers=2, checkpoints=False)
    assert rounded(run) == {
        "processes": 10.0,
        "object store": 2.0,
        "weights and optimiser": 3.7,
        "sleeping model servers": 3.7,
    }


def test_without_off_loading_loading_and_checkpoints_still_pass_through_the_host() -> None:
    run = Training(billions=1, param_offload=False, optimizer_offload=False)
    assert resident_gib(run) == 0
    assert rounded(run)["weights and optimiser"] == 11.2
    assert (
        round(
            host_memory_need_gib(Training(billions=1, param_offload=False, optimizer_offload=False, checkpoints=False))[
                "weights and optimiser"
            ],
            1,
        )
        == 3.7
    )


def test_asks_for_whole_gibibytes() -> None:
    assert (memory_to_ask_gib(17.2), memory_to_ask_gib(64.0)) == (18, 64)


@pytest.mark.parametrize(
    ("name", "billions"),
    [
        ("Qwen/Qwen2.5-Coder-0.5B-Instruct", 0.5),
        ("Qwen/Qwen3-8B", 8.0),
        ("Qwen/Qwen3-30B-A3B", 30.0),
        ("openai/gpt-oss-20b", 20.0),
        ("/models/7B/qwen2.5-1.5b/", 1.5),
        ("HuggingFaceTB/SmolLM2-135M", 0.135),
        ("llama_70b_chat", 70.0),
        ("mistral-7b-v0.3", 7.0),
        ("phi-4", None),
        ("my-model", None),
        ("run3b2", None),
        ("", None),
        ("0B", None),
    ],
)
def test_reads_the_size_in_a_name(name: str, billions: float | None) -> None:
    assert billions_in_name(name) == billions


@given(st.text())
def test_no_name_has_an_absurd_size(name: str) -> None:
    found = billions_in_name(name)
    assert found is None or 0 < found <= 2000


@pytest.mark.parametrize(
    ("available", "shm", "store"),
    [
        (250 * 10**9, 125 * 10**9, 75 * 10**9),
        (250 * 10**9, 64 * 2**20, 10**10),
        (10 * 10**9, 64 * 2**20, 3 * 10**9),
        (2000 * 10**9, 2000 * 10**9, 200 * 10**9),
        (250 * 10**9, 20 * 10**9, 19 * 10**9),
    ],
)
def test_sizes_the_object_store_as_ray_does(available: int, shm: int, store: int) -> None:
    assert ray_store_bytes(available=available, shm_free=shm) == store


def test_ray_refuses_a_large_store_on_disk() -> None:
    assert ray_refuses_slow_store(10**10 + 1, {}) is True
    assert ray_refuses_slow_store(10**10, {}) is False
    assert ray_refuses_slow_store(10**11, {"RAY_OBJECT_STORE_ALLOW_SLOW_STORAGE": "1"}) is False
