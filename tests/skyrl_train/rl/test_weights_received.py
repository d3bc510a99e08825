"""Which syncs of weights are called partial, by the names of what was loaded."""

from skyrl_train.rl.weights_received import Received

ROTARY = "model.rotary.inverse"
MODEL = [
    "model.embed_tokens.weight",
    ROTARY,
    *(f"model.layers.{number}.{part}.weight" for number in range(12) for part in ("qkv_proj", "mlp.down_proj")),
]
WHOLE = set(MODEL) - {ROTARY}  # computed, never sent


def without(text: str) -> set[str]:
    return {name for name in WHOLE if text not in name}


def test_whole_syncs_pass() -> None:
    received = Received()
    assert [received.fault(MODEL, WHOLE) for _ in range(3)] == [None] * 3


def test_a_layer_that_was_never_sent_is_named_in_the_first_sync() -> None:
    fault = Received().fault(MODEL, without("layers.1."))
    assert fault is not None
    assert (
        "left 2 parameters as they were: model.layers.1.mlp.down_proj.weight, model.layers.1.qkv_proj.weight." in fault
    )


def test_a_parameter_that_came_before_and_not_now_is_named() -> None:
    received = Received()
    assert received.fault(MODEL, WHOLE) is None
    assert "layers.11.qkv_proj" in str(received.fault(MODEL, without("layers.11.qkv_proj")))


def test_a_fault_is_not_what_later_syncs_are_compared_with() -> None:
    received = Received()
    assert received.fault(MODEL, without("layers.3."))
    assert received.fault(MODEL, WHOLE) is None
    assert received.fault(MODEL, without("layers.3."))


def test_the_sync_of_an_adapter_loads_no_parameter() -> None:
    received = Received()
    assert received.fault(MODEL, WHOLE) is None
    assert received.fault(MODEL, set()) is None
