"""Hydra with verl's shipped tree as a judge of the settings that we print and of the words that we refuse."""

import importlib.util
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.field.doctor import opinion
from benchmarks.suites.cases import ROOT, Case

PRINTED = ("docs/**/*.md", "README.md", "checks/**/*.py", "skyrl_doctor/**/*.py", "skyrl_train/**/*.py")
# "+actor_rollout_ref.model.lora.rank=32": a word of verl's command line with a value that is no placeholder
_WORD = re.compile(
    r"(?<![\w./+~])(?P<plus>\+{0,2})(?P<key>(?:actor_rollout_ref|data|algorithm|trainer|critic|reward_model)(?:\.\w+)+)"
    r"=(?P<value>[\w.\[\],/-]+)(?![\w={(])"
)
BAD_ON_PURPOSE: dict[str, str] = {}
"""Words that a page shows as a fault, with the page."""


def documented(_: Path) -> Iterator[Case]:
    """Hydra takes each override of verl that a page, a remedy or a message of ours gives."""
    tree = _verl_tree()
    for word, where in sorted(_words().items()):
        yield Case(f"{where}: {word}", _refusal(tree, [word]), "", BAD_ON_PURPOSE.get(word, ""))


def _words() -> dict[str, str]:
    found: dict[str, str] = {}
    for pattern in PRINTED:
        for file in sorted(ROOT.glob(pattern)):
            for match in _WORD.finditer(file.read_text(encoding="utf-8")):
                found.setdefault(match[0].rstrip(".,"), str(file.relative_to(ROOT)))
    return found


def errors(_: Path) -> Iterator[Case]:
    """Where we print an ERROR about a key of a verl command, Hydra refuses the command, and the other way round."""
    tree = _verl_tree()
    for word in _UNKNOWN + _KNOWN:
        ours = _our_refusal(word)
        yield Case(word, ours, bool(_refusal(tree, [word])))


_KNOWN = (
    "actor_rollout_ref.model.lora_rank=8", "+actor_rollout_ref.model.override_config.x=1", "++trainer.mine=2",
    "actor_rollout_ref.model.lora.merge=True", "trainer.logger=[console]", "data.train_batch_size=8",
    "+trainer.other=1", "critic.ppo_epochs=2", "actor_rollout_ref.rollout.n=4", "algorithm.adv_estimator=grpo",
    "actor_rollout_ref.actor.optim.lr=1e-6", "actor_rollout_ref.rollout.gpu_memory_utilization=0.5",
    "~trainer.test_freq", "+data.mine.x=a", "data.max_prompt_length=1_024",
)  # fmt: skip
_UNKNOWN = (
    "+actor_rollout_ref.model.lora.merge=True", "actor_rollout_ref.model.lora.mergee=True", "data.train_batchsize=8",
    "trainer.nnode=2", "actor_rollout_ref.rollout.gpu_memory_utilisation=0.5", "+trainer.nnodes=2",
    "actor_rollout_ref.actor.optim.learning_rate=1", "critic.ppo_epoch=2", "algorithm.adv_estimators=grpo",
    "data.max_prompt_len=3", "actor_rollout_ref.rollout.m=4", "trainer.save_frequency=3", "~trainer.no_such",
)  # fmt: skip


def _our_refusal(word: str) -> bool:
    """Whether a command with this word gets an ERROR about its keys."""
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "run.sh"
        script.write_text(f"python3 -m verl.trainer.main_ppo {_WHOLE} '{word}'\n", encoding="utf-8")
        found = opinion(script, Path(folder))
    assert not found.crash, found.crash
    return any(error.id == "CFG004" for error in found.errors)


_WHOLE = "actor_rollout_ref.model.path=/m data.train_files=a.parquet data.val_files=a.parquet"


def _verl_tree() -> str:
    spec = importlib.util.find_spec("verl")
    assert spec is not None
    assert spec.origin is not None
    return str(Path(spec.origin).parent / "trainer/config")


def _refusal(tree: str, words: list[str]) -> str:
    """Hydra's message, or nothing."""
    import yaml
    from hydra import compose, initialize_config_dir

    yaml.SafeLoader = yaml.CSafeLoader  # type: ignore[misc] -- each command parses verl's files, in half of the time
    with initialize_config_dir(config_dir=tree, version_base=None):
        try:
            compose("ppo_trainer", overrides=words)
        except Exception as error:  # noqa: BLE001 -- any refusal of Hydra or OmegaConf
            return str(error).splitlines()[0]
    return ""
