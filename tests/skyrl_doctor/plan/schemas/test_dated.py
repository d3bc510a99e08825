"""Keys by date: of a small table, and of the stored ones."""

import re
from collections.abc import Iterable

import pytest

from skyrl_doctor.plan.schemas.dated import History, Program, history

SMALL = Program(
    "run",
    {"a": (("int", "2026-01-01", ""),), "b": (("int", "2026-01-01", "2026-03-01"), ("str", "2026-05-01", ""))},
    ("2026-01-01", "2026-03-01", "2026-05-01"),
)


def test_a_key_comes_and_goes() -> None:
    assert SMALL.at("2026-02-01") == {"a": "int", "b": "int"}
    assert SMALL.at("2026-04-01") == {"a": "int"}
    assert SMALL.at("2026-05-01") == {"a": "int", "b": "str"}


def test_the_stored_tables_are_of_whole_packages() -> None:
    assert sorted(history("prime_rl").programs) == [
        "env-server",
        "evals",
        "inference",
        "orchestrator",
        "rl",
        "sft",
        "synthesize",
        "trainer",
    ]
    assert sorted(history("skyrl").programs) == ["sft", "train"]
    for name in ("prime_rl", "skyrl"):
        for program in history(name).programs.values():
            assert all(re.fullmatch(r"\d{4}-\d\d-\d\d", date) for date in program.dates)
            assert list(program.dates) == sorted(set(program.dates))


def test_a_version_is_found_by_the_keys_that_it_takes() -> None:
    stored = history("prime_rl")
    old = ["orchestrator.rollouts_per_example", "inference.model.max_model_len"]
    date = stored.newest_accepting("rl", old)
    assert stored.unknown("rl", date, old) == ()
    newest = stored.dates("rl")[0]
    assert date < newest
    assert stored.unknown("rl", newest, old) == tuple(old)
    today = ["orchestrator.group_size", "inference.vllm.max_model_len"]
    assert stored.newest_accepting("rl", today) == newest


def test_the_search_ends_at_the_first_version_that_takes_every_key(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    whole = History.unknown

    def counted(self: History, program: str, date: str, keys: Iterable[str]) -> tuple[str, ...]:
        read.append(date)
        return whole(self, program, date, keys)

    monkeypatch.setattr(History, "unknown", counted)
    stored = history("prime_rl")
    newest = stored.dates("rl")[0]
    assert stored.newest_accepting("rl", ["orchestrator.group_size", "trainer.model.lora.rank"]) == newest
    assert read == [newest]


def test_tells_when_a_key_was_there() -> None:
    stored = history("prime_rl")
    assert stored.told("rl", "orchestrator.rollouts_per_example").startswith("had it from 2025-")
    assert stored.told("rl", "orchestrator.group_size").startswith("has it since 2026-")
    assert stored.told("rl", "orchestrator.grup_size") == ""
