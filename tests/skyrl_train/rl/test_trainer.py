"""What the trainer does in verl's hooks, called in the order in which verl 0.9.1 calls them: verl itself is not here."""

import contextlib
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

MODULE, V1 = "skyrl_train.rl.trainer", "verl.trainer.ppo.v1"
STEPS = 9


class VerlsTrainer:
    """The loop of verl's PPOTrainer.fit, with what it does in a step written down in the place of it."""

    def __init__(self, heard: Callable[[int], None], **trainer: int) -> None:
        self.config = SimpleNamespace(trainer=SimpleNamespace(**{"save_freq": 1, "test_freq": -1, **trainer}))
        self.did: list[str] = []
        self.global_steps = 0
        self._heard = heard

    def fit(self) -> None:
        for self.global_steps in range(1, STEPS + 1):
            self.on_step_begin()
            self.step({}, {})
            self._every(self.config.trainer.save_freq, "saved")
            self.on_step_end()
            self._every(self.config.trainer.test_freq, "validated")
            self.did.append(f"logged {self.global_steps}")

    def _every(self, steps: int, what: str) -> None:
        if steps > 0 and (self.global_steps == STEPS or self.global_steps % steps == 0):
            self.did.append(f"{what} {self.global_steps}")

    def on_step_begin(self) -> None:
        pass

    def step(self, *_measured: dict[str, Any]) -> None:
        self._heard(self.global_steps)

    def on_step_end(self) -> None:
        self.did.append(f"synced {self.global_steps}")

    def on_train_begin(self) -> None:
        self.did.append("begun")


@pytest.fixture
def ours(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Our module, over that loop."""
    parts = V1.split(".")
    for name in ("transfer_queue", *(".".join(parts[:count]) for count in range(1, len(parts) + 1))):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    modules = {
        "base": "PPOTrainer",
        "sync": "PPOTrainerSync",
        "colocate_async": "PPOTrainerColocateAsync",
        "separate_async": "PPOTrainerSeparateAsync",
    }
    for name, trainer in modules.items():
        module = ModuleType(f"{V1}.trainer_{name}")
        vars(module)[trainer] = VerlsTrainer if name == "base" else type(trainer, (VerlsTrainer,), {})
        monkeypatch.setitem(sys.modules, module.__name__, module)
    before = sys.modules.pop(MODULE, None)
    try:
        return import_module(MODULE)
    finally:  # whoever comes next gets the one over the real verl
        del sys.modules[MODULE]
        if before is not None:
            sys.modules[MODULE] = before


def warned_in(step: int, ours: ModuleType, **trainer: int) -> tuple[list[str], str]:
    """What a run did that is warned in this step, and why it stopped."""
    warned = ours.Warned()

    def heard(now: int) -> None:
        warned.asked = warned.asked or now == step

    run = ours.SyncTrainer(heard, **trainer)
    run.phase_timeout_s, run.warned = 60.0, warned
    try:
        run.fit()
    except ours.StoppedError as stopped:
        return run.did, str(stopped)
    return run.did, ""


def test_the_step_in_which_time_runs_out_is_saved_and_logged_and_no_other_begins(ours: ModuleType) -> None:
    did, why = warned_in(2, ours, save_freq=5, test_freq=1)
    assert did == ["synced 1", "validated 1", "logged 1", "saved 2", "logged 2"]
    assert why == "the time limit of the job is near: stopped after step 2"


def test_a_run_without_checkpoints_stops_too(ours: ModuleType) -> None:
    did, why = warned_in(1, ours, save_freq=-1)
    assert did == ["logged 1"]
    assert why == "the time limit of the job is near: stopped after step 1"


def test_a_run_that_is_done_with_that_step_has_not_stopped(ours: ModuleType) -> None:
    did, why = warned_in(STEPS, ours)
    assert did[-2:] == [f"saved {STEPS}", f"logged {STEPS}"]
    assert why == ""


def test_a_warning_after_the_step_is_for_the_next_one(ours: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    """verl has decided by then whether this one is saved."""
    monkeypatch.setattr(ours.Trainer, "on_step_end", late(ours.Trainer.on_step_end))
    did, why = warned_in(0, ours, save_freq=5)
    assert did == ["synced 1", "logged 1", "saved 2", "logged 2"]
    assert "stopped after step 2" in why


def late(work: Callable[[Any], None]) -> Callable[[Any], None]:
    def on_step_end(run: Any) -> None:
        run.warned.asked = True
        work(run)

    return on_step_end


class Probe:
    """What is asked before and after a sync."""

    def __init__(self, did: list[str]) -> None:
        self.did = did

    def before(self, actor: str) -> None:
        self.did.append(f"asked {actor}")

    def after(self, step: int, servers: list[str]) -> dict[str, float]:
        self.did.append(f"asked {servers} after {step}")
        return {"weights/probe_difference": 0.01}


def test_each_sync_is_proven_before_the_next_step(ours: ModuleType) -> None:
    run = ours.Trainer(lambda _step: None)
    run.phase_timeout_s, run.warned, run.probe = 60.0, ours.Warned(), Probe(run.did)
    run.actor_rollout_wg, run.llm_server_manager = "actor", SimpleNamespace(server_handles=["server"])
    run.fit()
    assert run.did[:5] == ["saved 1", "asked actor", "synced 1", "asked ['server'] after 1", "logged 1"]
    assert run._pending_sync_metrics == {"weights/probe_difference": 0.01}


def test_servers_on_gpus_of_their_own_are_those_that_are_proven(ours: ModuleType) -> None:
    run = ours.SeparateAsyncTrainer(lambda _step: None)
    run.phase_timeout_s, run.warned, run.probe = 60.0, ours.Warned(), Probe(run.did)
    run.actor_rollout_wg, run.llm_server_manager = "actor", SimpleNamespace(server_handles=[])
    run.standalone_server_manager = SimpleNamespace(server_handles=["far"])
    run._synced(lambda: run.did.append("synced"))
    assert run.did == ["asked actor", "synced", "asked ['far'] after 0"]


def test_separate_gpus_keep_no_copy_of_the_weights(ours: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    """verl's own trainer of the mode makes one in each step."""
    separate = sys.modules[f"{V1}.trainer_separate_async"].PPOTrainerSeparateAsync
    monkeypatch.setattr(VerlsTrainer, "_compute_old_log_prob", lambda *_: "scored", raising=False)
    monkeypatch.setattr(separate, "_compute_old_log_prob", lambda *_: "copied", raising=False)
    assert ours.SeparateAsyncTrainer(lambda _step: None)._compute_old_log_prob("batch", {}) == "scored"


@pytest.fixture
def queue(monkeypatch: pytest.MonkeyPatch) -> dict[str, dict[str, Any]]:
    """The partition of a run that was resumed, from which keys can be cleared."""
    kept: dict[str, dict[str, Any]] = {"a": {"is_prompt": True}, "a_0_0": {}, "trained_0_0": {}}
    found = ModuleType("transfer_queue")
    found.kv_list = lambda partition: {partition: dict(kept)}  # type: ignore[attr-defined]
    found.kv_clear = lambda *, keys, **_words: [kept.pop(key) for key in keys]  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "transfer_queue", found)
    monkeypatch.delitem(sys.modules, "skyrl_train.rl.transfer", raising=False)
    return kept


def test_a_resumed_asynchronous_run_drops_rows_that_were_trained_on(
    ours: ModuleType, queue: dict[str, dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ours, "transfer", import_module("skyrl_train.rl.transfer"))
    run = ours.ColocateAsyncTrainer(lambda _step: None)
    run._restored_tq_prompt_count = 1
    run.on_train_begin()
    assert [*queue] == ["a", "a_0_0"]
    monkeypatch.delitem(sys.modules, "skyrl_train.rl.transfer")


def test_a_resumed_run_does_not_end_for_the_reason_of_the_last_one(
    ours: ModuleType, queue: dict[str, dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ours, "transfer", import_module("skyrl_train.rl.transfer"))
    queue.update({"a_0": {"counts": "", "stop": "TRN022: the runtime is lost"}, "a_1": {"counts": ""}})
    monkeypatch.setattr(ours.Trainer, "on_init_end", lambda run: run.did.append("loaded"))
    run = ours.ColocateAsyncTrainer(lambda _step: None)
    run.on_init_end()
    assert ("a_0" in queue, "a_1" in queue, run.did) == (False, True, ["loaded"])
    monkeypatch.delitem(sys.modules, "skyrl_train.rl.transfer")


def test_each_mode_has_its_trainer(ours: ModuleType) -> None:
    assert [*ours.MODES] == ["sync", "colocate_async", "separate_async"]
    assert all(issubclass(trainer, ours.Trainer) for trainer in ours.MODES.values())


def test_a_sync_has_the_turn_of_the_node_and_the_proof_after_it_does_not(
    ours: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    """TRN023: syncs of two runs at the same time would use one socket."""
    run = ours.Trainer(lambda _step: None)
    run.phase_timeout_s, run.warned, run.probe = 60.0, ours.Warned(), Probe(run.did)
    run.actor_rollout_wg, run.llm_server_manager = "actor", SimpleNamespace(server_handles=["server"])

    @contextlib.contextmanager
    def turn(limit_s: float, _say: Callable[[str], None]) -> Iterator[None]:
        run.did.append(f"waited for at most {limit_s:.0f} s")
        yield
        run.did.append("gave back")

    monkeypatch.setattr(ours, "sync_turn", turn)
    run._synced(lambda: run.did.append("synced"))
    assert run.did == ["waited for at most 30 s", "asked actor", "synced", "gave back", "asked ['server'] after 0"]
