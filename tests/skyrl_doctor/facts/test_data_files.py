"""The files of tasks that a plan names."""

from collections.abc import Mapping

import pytest

from fakes.podman_store import IDENTITY
from plans import plan
from skyrl_doctor.core.errors import CouldNotLook, NotApplicable
from skyrl_doctor.facts.data_files import DataFile, data_files
from skyrl_doctor.facts.environ import Environ
from skyrl_doctor.machine.recorded import RecordedMachine
from support import plan_of

STAT: dict[str, object] = {
    "kind": "file", "mode": 420, "uid": 0, "gid": 0, "size": 5, "mtime": 1.0, "device": 1, "inode": 1
}  # fmt: skip


def look(answers: dict[str, object], **keys: object) -> list[tuple[str, str, str]]:
    machine = RecordedMachine(
        {"identity": IDENTITY, **{f"stat {path}": answer for path, answer in answers.items()}}, strict=True
    )
    found: tuple[DataFile, ...] = data_files(machine, plan_of(**keys), Environ({"HOME": "/home/ada"})).files
    return [(file.key.removeprefix("data."), file.path, file.wrong or file.unsure) for file in found]


def test_every_file_is_looked_at() -> None:
    answers: dict[str, object] = {
        "/home/ada/a.parquet": STAT,
        "b.jsonl": {**STAT, "size": 0},
        "/c": {**STAT, "kind": "dir"},
        "/d.jsonl": {**STAT, "kind": "fifo"},
        "/e.jsonl": {"absent": "/e.jsonl"},
        "/f.jsonl": {"unreadable": "/f.jsonl", "why": "Permission denied"},
    }
    files = ["~/a.parquet", "b.jsonl", "/c", "/d.jsonl"]
    assert look(answers, data__train_files=files, data__val_files=["/e.jsonl", "/f.jsonl"]) == [
        ("train_files", "/home/ada/a.parquet", ""),
        ("train_files", "b.jsonl", "is empty"),
        ("train_files", "/c", "is a directory"),
        ("train_files", "/d.jsonl", "is a fifo"),
        ("val_files", "/e.jsonl", "does not exist"),
        ("val_files", "/f.jsonl", "/f.jsonl: Permission denied"),
    ]


@pytest.mark.parametrize("files", [[], ["s3://bucket/train.parquet", "$DATA/train.parquet"]])
def test_what_lies_elsewhere_is_not_looked_for(files: list[str]) -> None:
    with pytest.raises(NotApplicable, match="names no data file on this machine"):
        look({}, data__train_files=files)


def test_without_a_home_nobody_knows_where_a_file_lies() -> None:
    made = plan_of(data__train_files=["~/a.parquet"])
    with pytest.raises(CouldNotLook, match="HOME is not set"):
        data_files(RecordedMachine({}, strict=True), made, Environ({}))


DATA = "data.train_files=/t.parquet data.val_files=/t.parquet"
VERL = f"python -m verl.trainer.main_ppo {DATA} "
ROLLOUT = "actor_rollout_ref.rollout"
GONE: dict[str, object] = {"absent": ""}


def own_files(text: str, answers: Mapping[str, object], file: str = "verl/examples/run.sh") -> list[DataFile]:
    """The files of a target in `/w`, but for those of tasks."""
    made = plan(text, file)
    stats = {f"stat {path}": answer for path, answer in {"/t.parquet": STAT, **answers}.items()}
    machine = RecordedMachine({"identity": {**IDENTITY, "cwd": "/w"}, **stats}, strict=True)
    return [one for one in data_files(machine, made, Environ({"HOME": "/home/ada"})).files if one.path != "/t.parquet"]


@pytest.mark.parametrize(
    ("words", "key", "kind"),
    [
        ("reward.custom_reward_function.path=/gone", "reward.custom_reward_function.path", "a Python file"),
        ("custom_reward_function.path=file:///gone", "custom_reward_function.path", "a Python file"),
        ("data.custom_cls.path=/gone", "data.custom_cls.path", "a Python file"),
        (
            "reward.reward_manager.source=importlib reward.reward_manager.module.path=/gone",
            "reward.reward_manager.module.path",
            "a Python file",
        ),
        (
            f"{ROLLOUT}.multi_turn.enable=True {ROLLOUT}.multi_turn.tool_config_path=/gone",
            f"{ROLLOUT}.multi_turn.tool_config_path",
            "a YAML file",
        ),
        (
            f"{ROLLOUT}.multi_turn.enable=True {ROLLOUT}.multi_turn.interaction_config_path=/gone",
            f"{ROLLOUT}.multi_turn.interaction_config_path",
            "a YAML file",
        ),
        (
            f"{ROLLOUT}.agent.agent_loop_config_path=/gone",
            f"{ROLLOUT}.agent.agent_loop_config_path",
            "a YAML file",
        ),
    ],
)
def test_a_program_or_list_of_verl_is_looked_for(words: str, key: str, kind: str) -> None:
    assert own_files(VERL + words, {"/gone": GONE}) == [
        DataFile(key=key, path="/gone", wrong="does not exist", kind=kind)
    ]


@pytest.mark.parametrize(
    "words",
    [
        "custom_reward_function.path=pkg://my.reward",
        "custom_reward_function.path=hdfs://host/reward.py",
        "custom_reward_function.path=null",
        f"{ROLLOUT}.multi_turn.enable=False {ROLLOUT}.multi_turn.tool_config_path=/gone",
        "reward.reward_manager.module.path=/gone",
    ],
)
def test_a_file_that_verl_does_not_open_here_is_not_looked_for(words: str) -> None:
    assert own_files(VERL + words, {}) == []


def test_a_relative_program_may_begin_in_a_folder_above_the_script() -> None:
    absent = {"own/reward.py": GONE, "/w/verl/examples/own/reward.py": GONE, "/w/own/reward.py": GONE}
    words = f"{VERL} custom_reward_function.path=own/reward.py"
    assert own_files(words, {**absent, "/w/verl/own/reward.py": STAT}) == []
    assert own_files(words, {**absent, "/w/verl/own/reward.py": GONE}) == [
        DataFile(key="custom_reward_function.path", path="own/reward.py", wrong="does not exist", kind="a Python file")
    ]


def test_verl_also_looks_for_a_relative_list_beside_its_package() -> None:
    key = f"{ROLLOUT}.agent.agent_loop_config_path"
    absent = {
        "loops.yaml": GONE,
        "/w/verl/examples/loops.yaml": GONE,
        "/w/verl/loops.yaml": GONE,
        "/w/loops.yaml": GONE,
    }
    assert own_files(f"{VERL} {key}=loops.yaml", absent) == [
        DataFile(key=key, path="loops.yaml", wrong="does not exist", kind="a YAML file", may_be_beside_package=True)
    ]


def test_a_program_in_an_unknown_variable_is_unsure() -> None:
    (file,) = own_files(f"{VERL} custom_reward_function.path=$(cat reward.txt)", {})
    assert (file.key, file.wrong, file.unsure.partition(":")[0]) == (
        "custom_reward_function.path",
        "",
        "custom_reward_function.path = '$(cat reward.txt)'",
    )


SKYRL = (
    "python -m skyrl.train.entrypoints.main_base trainer.policy.model.path=m data.train_data=/t.parquet "
    "generator.chat_template.name_or_path=/gone generator.chat_template.source="
)
PRIME = """
[model]
name = 'org/model'
[orchestrator]
group_size = 8
[slurm]
template_path = '/gone'
[tokenizer]
chat_template = '/gone'
"""
OF_SKYRL = [("generator.chat_template.name_or_path", "a file with a chat template")]
OF_PRIME = [
    ("slurm.template_path", "a template of a batch script"),
    ("tokenizer.chat_template", "a file with a chat template"),
]


@pytest.mark.parametrize(
    ("text", "file", "expected"),
    [(f"{SKYRL}file", "run.sh", OF_SKYRL), (f"{SKYRL}name", "run.sh", []), (PRIME, "rl.toml", OF_PRIME)],
)
def test_a_template_of_skyrl_and_prime_rl_is_looked_for(text: str, file: str, expected: list[tuple[str, str]]) -> None:
    found = own_files(text, {"/gone": GONE}, file)
    assert [(one.key, one.kind, one.path, one.wrong) for one in found] == [
        (*one, "/gone", "does not exist") for one in expected
    ]


def test_a_template_that_is_written_out_is_no_file() -> None:
    text = PRIME.replace("template_path = '/gone'", "").replace("/gone", "{{ messages }}")
    with pytest.raises(NotApplicable, match="names no data file on this machine"):
        own_files(text, {}, "rl.toml")
