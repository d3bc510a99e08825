"""SkyRL's trainer: its entry points, its words, and the keys that this version lacks."""

from pathlib import Path

import pytest

from skyrl_doctor.core.errors import UsageError
from skyrl_doctor.machine.local import LocalMachine
from skyrl_doctor.plan.load import load
from skyrl_doctor.plan.model import Plan
from verl_trees import write

WORDS = (
    "data.train_data=\"['/data/train.parquet']\" data.val_data=\"['openai/gsm8k']\" trainer.policy.model.path=Qwen/Qwen3-0.6B "
    "trainer.placement.policy_num_gpus_per_node=4 trainer.train_batch_size=8 trainer.policy_mini_batch_size=4 "
    "generator.n_samples_per_prompt=5 generator.inference_engine.tensor_parallel_size=2 trainer.resume_mode=null"
)
CLASSES = """
@dataclass
class PolicyConfig(BaseConfig):
    lr: float = 1.0

@dataclass
class TrainerConfig(BaseConfig):
    policy: PolicyConfig = field(default_factory=PolicyConfig)
    seed: int = 1

@dataclass
class SkyRLTrainConfig(BaseConfig):
    trainer: TrainerConfig = field(default_factory=TrainerConfig)

    @classmethod
    def from_cli_overrides(cls, args):
        if has(args, "trainer.old_seed"):
            args = renamed(args)
"""


def script(folder: Path, text: str) -> Plan:
    (folder / "run.sh").write_text(text, encoding="utf-8")
    return load(LocalMachine(), (str(folder / "run.sh"),))


def checkout(folder: Path) -> Path:
    package = folder / "skyrl" / "train" / "config"
    package.mkdir(parents=True)
    (package / "config.py").write_text(CLASSES, encoding="utf-8")
    return folder


@pytest.mark.parametrize(
    "start",
    [
        "uv run --isolated --extra fsdp -m skyrl.train.entrypoints.main_base",
        "python -m skyrl_train.entrypoints.main_base",
        "uv run -m examples.train.algorithms.dapo.main_dapo",
        "python examples/train/geometry3k/geometry3k_entrypoint.py",
    ],
)
def test_reads_the_words_of_every_entry_point(tmp_path: Path, start: str) -> None:
    plan = script(tmp_path, f"set -x\n{start} {WORDS}\n")
    found = {key: value.value for key, value in plan.values.items() if value.written}
    assert (plan.dialect, plan.problems) == ("skyrl", ())
    assert found == {
        "data.train_files": ["/data/train.parquet"],
        "model.path": "Qwen/Qwen3-0.6B",
        "slurm.gpus_per_node": 4,
        "data.train_batch_size": 8,
        "actor.ppo_mini_batch_size": 4,
        "rollout.n": 5,
        "rollout.tensor_parallel_size": 2,
    }


def test_reads_fine_tuning(tmp_path: Path) -> None:
    plan = script(tmp_path, "python -m skyrl.train.main_sft model.path=m placement.num_gpus_per_node=2 strategy=fsdp\n")
    found = {key: value.value for key, value in plan.values.items()}
    assert (found, plan.problems) == ({"model.path": "m", "slurm.gpus_per_node": 2, "slurm.nodes": 1}, ())


def test_an_unknown_key_is_an_error_of_the_checkout_around_the_script(tmp_path: Path) -> None:
    words = "trainer.seed=2 trainer.sed=2 trainer.old_seed=1 trainer.policy.lr=fast trainer.placement.colocate_all=true"
    plan = script(checkout(tmp_path), f"python -m skyrl.train.entrypoints.main_base {words}\n")
    label = f"(the checkout {tmp_path})"
    assert [(problem.message, problem.fatal) for problem in plan.problems] == [
        (f"SkyRL's `train` {label} has no key `trainer.sed`; did you mean `trainer.seed`?", True),
        (f"trainer.policy.lr = 'fast' is not a number, which SkyRL {label} expects", True),
        (f"SkyRL's `train` {label} has no key `trainer.placement.colocate_all`; SkyRL has it since 2025-06-24", True),
    ]


def test_another_entry_point_may_add_keys(tmp_path: Path) -> None:
    (checkout(tmp_path) / "mine.py").write_text("class Mine(TrainerConfig):\n    penalty: int = 1\n", encoding="utf-8")
    plan = script(
        tmp_path, "python mine.py trainer.policy.lr=1 trainer.policy.lr=2 trainer.penalty=1 trainer.bonus=1\n"
    )
    assert [(problem.message, problem.fatal) for problem in plan.problems] == [
        (
            f"SkyRL's `train` (the checkout {tmp_path}) has no key `trainer.bonus`; no class in the files of mine adds it",
            False,
        )
    ]


ENTRY = "from .settings import Mine\nfrom skyrl.train.config import Other\nfrom elsewhere import More\n"
SETTINGS = (
    "class Mine(TrainerConfig):\n    penalty: int = 1\n    lengths: dict[str, Any] = field(default_factory=dict)\n"
)


@pytest.mark.parametrize(
    ("entry", "start"),
    [
        (ENTRY, "python -m examples.own.main"),
        (ENTRY.replace(".settings", "examples.own.settings"), "python -m examples.own.main"),
        (ENTRY.replace(".settings", "settings"), "python examples/own/main.py"),
    ],
)
def test_a_module_that_the_entry_point_imports_may_add_keys(tmp_path: Path, entry: str, start: str) -> None:
    """A variable of a function is no key."""
    root = checkout(tmp_path)
    write(root / "examples/own/main.py", entry)
    write(root / "examples/own/settings.py", f"{SETTINGS}\ndef make() -> None:\n    bonus: int = 1\n")
    words = (
        "trainer.policy.lr=1 trainer.policy.lr=2 trainer.penalty=1 trainer.lengths.most=2 trainer.bonus=1 trainer.sed=1"
    )
    assert [problem.message for problem in script(root, f"{start} {words}\n").problems] == [
        f"SkyRL's `train` (the checkout {root}) has no key `trainer.bonus`; no class in the files of examples.own.main adds it",
        f"SkyRL's `train` (the checkout {root}) has no key `trainer.sed`; no class in the files of examples.own.main adds it; did you mean `trainer.seed`?",
    ]


def test_an_entry_point_that_is_not_here_leaves_the_keys_unchecked(tmp_path: Path) -> None:
    text = "python -m examples.mine.main_mine trainer.policy.lr=1 generator.n_samples_per_prompt=5\n"
    reason = (
        "examples.mine.main_mine: its file is not in a directory above the script; "
        "keys that it adds or refuses are not known"
    )
    assert script(checkout(tmp_path), text).unchecked == (reason,)
    (tmp_path / "examples/mine").mkdir(parents=True)
    (tmp_path / "examples/mine/main_mine.py").write_text("", encoding="utf-8")
    assert script(tmp_path, text).unchecked == ()


def test_a_checkout_that_composes_with_hydra_is_judged_by_its_own_tree(tmp_path: Path) -> None:
    root = checkout(tmp_path)
    main = '@hydra.main(config_path=config_dir, config_name="ppo_base_config", version_base=None)\ndef main(cfg): ...\n'
    write(root / "skyrl_train/entrypoints/main_base.py", main)
    write(root / "skyrl_train/config/ppo_base_config.yaml", "trainer: {epochs: 1, policy: {lr: 1.0}}\n")
    write(root / "examples/bench/more/bench.yaml", "rounds: 1\n")
    words = (
        "trainer.policy.lr=2 trainer.epocs=3 trainer.seed=1 'hydra.searchpath=[file://examples/bench]' "
        "+more=bench more.rounds=2 more.episodes=3"
    )
    plan = script(root, f"python -m skyrl_train.entrypoints.main_base {words}\n")
    label = f"skyrl of the checkout {root}"
    assert [(problem.message, dict(problem.moves), problem.fatal) for problem in plan.problems] == [
        (
            f"{label} has no key trainer.epocs; did you mean trainer.epochs?",
            {"trainer.epocs": "trainer.epochs"},
            True,
        ),
        (f"{label} has no key trainer.seed; is it misspelt? A key of your own needs +trainer.seed=…", {}, True),
        (f"{label} has no key more.episodes; is it misspelt? A key of your own needs +more.episodes=…", {}, True),
    ]
    assert plan.schema == label


@pytest.mark.parametrize(
    ("word", "message", "fatal"),
    [
        ("trainer.epohcs=1", "no version of SkyRL has the key `trainer.epohcs`; did you mean `trainer.epochs`?", True),
        (
            "generator.sampling_params.max_generate_len=9",
            "no version of SkyRL has the key `generator.sampling_params.max_generate_len`; did you mean `generator.sampling_params.max_generate_length`?",
            True,
        ),
        (
            "+trainer.epohcs=1",
            "no version of SkyRL has the key `trainer.epohcs`; did you mean `trainer.epochs`?",
            False,
        ),
        ("trainer.brand_new=1", "SkyRL's `train` (2026-07-30 or later) has no key `trainer.brand_new`", False),
        (
            "trainer.epochs=many",
            "trainer.epochs = 'many' is not a whole number, which SkyRL (2026-07-30 or later) expects",
            False,
        ),
    ],
)
def test_an_unknown_key_is_an_error_where_no_version_has_it(
    tmp_path: Path, word: str, message: str, fatal: bool
) -> None:
    """SkyRL compares no type at its start."""
    (problem,) = script(tmp_path, f"python -m skyrl.train.entrypoints.main_base {WORDS} {word}\n").problems
    assert (problem.message, problem.fatal) == (message, fatal)


def test_other_programs_of_skyrl_are_refused(tmp_path: Path) -> None:
    with pytest.raises(
        UsageError, match=r"line 1 starts skyrl\.tinker\.api, which the doctor does not know; it reads "
    ):
        script(tmp_path, "uv run -m skyrl.tinker.api --port 8000\n")
