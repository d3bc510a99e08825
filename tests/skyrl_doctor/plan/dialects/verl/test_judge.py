"""Which verl judges a call, and what the messages say of the others."""

from pathlib import Path

import pytest

from skyrl_doctor.core.errors import UsageError
from skyrl_doctor.machine.local import LocalMachine
from skyrl_doctor.plan.load import load
from skyrl_doctor.plan.model import Plan
from verl_trees import install, write, write_tree

KEY = "actor_rollout_ref.actor.megatron.grad_offload"
GRAD_OFFLOAD = f"{{python}} -m verl.trainer.main_ppo --config-name=ppo_megatron_trainer {KEY}=True\n"
RENAMED = "{python} -m verl.trainer.main_ppo critic.model.fsdp_config.param_offload=True\n"


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "cwd").mkdir()
    monkeypatch.chdir(tmp_path / "cwd")
    for name in ("UV_PYTHON", "VIRTUAL_ENV"):
        monkeypatch.delenv(name, raising=False)


def plan(folder: Path, text: str, python: object = "python3", version: str | None = None) -> Plan:
    script = write(folder / "run.sh", text.format(python=python))
    return load(LocalMachine(), (str(script),), verl_version=version)


def told(found: Plan) -> list[tuple[bool, str]]:
    return [(problem.fatal, problem.message) for problem in found.problems]


def test_an_installed_release_that_has_the_key_takes_it(tmp_path: Path) -> None:
    found = plan(tmp_path, GRAD_OFFLOAD, install(tmp_path / "py", "0.9.0"))
    place = tmp_path / "py/lib/python3.12/site-packages"
    message = f"verl 0.9.0 (installed in {place}) takes these keys; verl 0.9.1 lacks {KEY} (verl 0.4.0 to 0.9.0)"
    assert [(one.fatal, one.is_note, one.message) for one in found.problems] == [(False, True, message)]
    assert found.values["slurm.nodes"].assignment == "trainer.nnodes = 1 (default of the installed verl 0.9.0)"


def test_an_installed_release_without_the_key_is_an_error(tmp_path: Path) -> None:
    place = tmp_path / "py/lib/python3.12/site-packages"
    found = plan(tmp_path, GRAD_OFFLOAD, install(tmp_path / "py", "0.9.1"))
    message = f"verl 0.9.1 (installed in {place}) has no key {KEY}; verl 0.4.0 to 0.9.0 have it"
    assert told(found) == [(True, message)]


def test_an_editable_installation_is_read_where_it_is(tmp_path: Path) -> None:
    tree = write_tree(tmp_path / "src", "0.9.1")
    found = plan(tmp_path / "jobs", GRAD_OFFLOAD, install(tmp_path / "py", "0.9.2.dev0", editable=tree))
    message = f"verl 0.9.2.dev0 (installed in {tree}) has no key {KEY}; verl 0.4.0 to 0.9.0 have it"
    assert told(found) == [(True, message)]


def test_a_checkout_around_the_script_judges_it(tmp_path: Path) -> None:
    root = write_tree(tmp_path / "verl-main", "0.9.1")
    write(root / "verl/version/version", "0.10.0.dev\n")
    message = f"verl 0.10.0.dev of the checkout {root} has no key {KEY}; verl 0.4.0 to 0.9.0 have it"
    assert told(plan(root / "examples/grpo", GRAD_OFFLOAD)) == [(True, message)]
    old = write_tree(tmp_path / "verl-old", "0.9.0")
    assert told(plan(old / "examples/grpo", GRAD_OFFLOAD)) == []
    write(old / "verl/version/version", "0.9.0\n")
    message = f"verl 0.9.0 of the checkout {old} takes these keys; verl 0.9.1 lacks {KEY} (verl 0.4.0 to 0.9.0)"
    assert told(plan(old / "examples/grpo", GRAD_OFFLOAD)) == [(False, message)]


@pytest.mark.parametrize("below", ["src", "verl"])
def test_a_checkout_may_hold_verl_as_a_source_folder_or_a_submodule(tmp_path: Path, below: str) -> None:
    root = write_tree(tmp_path / "fork" / below, "0.9.1")
    message = f"verl of the checkout {root} has no key {KEY}; verl 0.4.0 to 0.9.0 have it"
    assert told(plan(tmp_path / "fork/scripts/train", GRAD_OFFLOAD)) == [(True, message)]


def test_a_verl_outside_of_the_repository_of_the_script_is_no_part_of_it(tmp_path: Path) -> None:
    write_tree(tmp_path / "verl", "0.9.1")
    write(tmp_path / "recipes/.git", "gitdir: elsewhere\n")
    [(is_fatal, message)] = told(plan(tmp_path / "recipes/train", GRAD_OFFLOAD))
    assert not is_fatal
    assert message.startswith("judged by verl 0.9.0")


def test_a_checkout_that_does_not_tell_its_version_may_have_the_rules_of_any(tmp_path: Path) -> None:
    root = write_tree(tmp_path / "fork", "0.8.0")
    moved = "python3 -m verl.trainer.main_ppo custom_reward_function.path=score.py\n"
    release = plan(root / "jobs", moved).release
    assert release is not None
    assert (release.versions[0], release.versions[-1]) == ("0.9.1", "0.3.0.post0")
    write(root / "verl/version/version", "0.8.0\n")
    release = plan(root / "jobs", moved).release
    assert release is not None
    assert release.versions == ("0.8.0",)


@pytest.mark.parametrize(
    ("module", "program", "trainer", "compares"),
    [
        ("verl.experimental.arm.main_ppo", "trainer = ArmTrainer(config)\n", "class RayPPOTrainer: ...\n", False),
        ("verl.experimental.arm.main_ppo", "validate_config(config)\n", "class RayPPOTrainer: ...\n", True),
        ("recipe.arm.main_arm", "trainer = ArmTrainer(config)\n", "    self._validate_config()\n", True),
        ("recipe.arm.main_arm", None, "class RayPPOTrainer: ...\n", True),
        ("recipe.arm.main_arm", "pass\n", "    # self._validate_config()\n", False),
        ("verl.experimental.arm.main_ppo", "pass  # validate_config(config)\n", "class RayPPOTrainer: ...\n", False),
        ("verl.trainer.main_ppo", "pass\n", "class RayPPOTrainer: ...\n", True),
    ],
)
def test_the_source_of_a_program_tells_whether_it_compares_batches(
    tmp_path: Path, module: str, program: str | None, trainer: str, compares: bool
) -> None:
    root = write_tree(tmp_path / "verl-main", "0.9.1")
    if program is not None:
        main = f'@hydra.main(config_path="{root}/verl/trainer/config", config_name="ppo_trainer")\ndef main(config):\n'
        write(root / f"{module.replace('.', '/')}.py", f"{main}    {program}")
    write(root / "verl/trainer/ppo/ray_trainer.py", trainer)
    words = "data.train_batch_size=8 actor_rollout_ref.actor.ppo_mini_batch_size=128"
    found = plan(root / "jobs", f"python3 -m {module} {words}\n")
    assert ("other_program" in found.own) is not compares


@pytest.mark.parametrize(
    ("version", "program", "compares"),
    [
        ("0.7.1", "trainer = ArmTrainer(config)", False),
        ("0.7.1", "validate_config(config)", True),
        ("0.5.0", "trainer = ArmTrainer(config)", True),
    ],
)
def test_the_source_of_a_recipe_tells_it_too_where_a_file_pins_verl(
    tmp_path: Path, version: str, program: str, compares: bool
) -> None:
    main = '@hydra.main(config_path="config", config_name="arm")\ndef main(config):\n'
    write(tmp_path / "arm/main_arm.py", f"{main}    {program}\n")
    write(tmp_path / "arm/config/arm.yaml", "data:\n  train_batch_size: 8\n")
    write(tmp_path / "arm/REQUIRED_VERL.txt", f"TAG=v{version}\n")
    found = plan(tmp_path / "arm", "python3 -m recipe.arm.main_arm data.train_batch_size=8\n")
    assert ("other_program" in found.own) is not compares


def test_without_a_verl_the_newest_release_that_knows_the_keys_judges(tmp_path: Path) -> None:
    message = (
        f"judged by verl 0.9.0, the newest release that knows these keys; verl 0.9.1 lacks {KEY} "
        "(verl 0.4.0 to 0.9.0); pass --verl-version if the run uses another"
    )
    assert told(plan(tmp_path, GRAD_OFFLOAD)) == [(False, message)]


def test_an_older_name_of_a_key_is_the_same_setting(tmp_path: Path) -> None:
    found = plan(tmp_path, RENAMED, version="0.7.1")
    value = found.values["critic.param_offload"]
    assert (value.value, value.name) == (True, "critic.model.fsdp_config.param_offload")
    today = plan(tmp_path, "python3 -m verl.trainer.main_ppo critic.fsdp.param_offload=True\n", version="0.9.1")
    assert today.values["critic.param_offload"].name == "critic.fsdp.param_offload"


def test_the_gpus_of_rollouts_alone_are_a_setting(tmp_path: Path) -> None:
    text = "python3 -m verl.experimental.{entry} rollout.nnodes=2 rollout.n_gpus_per_node=4\n"
    for entry in ("one_step_off_policy.main_ppo", "fully_async_policy.fully_async_main"):
        found = plan(tmp_path, text.replace("{entry}", entry), version="0.9.1")
        value = found.values["deployment.inference_gpus"]
        assert (value.value, value.name) == (8, "rollout.n_gpus_per_node")
    unknown = plan(tmp_path, text.replace("{entry}", "one_step_off_policy.main_ppo").replace("=2", "=$1"))
    assert unknown.values["deployment.inference_gpus"].unknown == "$1 is an argument of the script"


def test_a_verl_that_does_not_compare_batches_is_known_by_its_trainer(tmp_path: Path) -> None:
    root, key = write_tree(tmp_path / "verl-old", "0.3.0.post0"), "verl.takes_any_mini_batch"
    assert key not in plan(root / "jobs", RENAMED).own
    write(root / "verl/trainer/ppo/ray_trainer.py", "class RayPPOTrainer: ...\n")
    assert key in plan(root / "jobs", RENAMED).own
    write(root / "verl/trainer/ppo/ray_trainer.py", "assert train_batch_size >= ppo_mini_batch_size\n")
    assert key not in plan(root / "jobs", RENAMED).own
    write(root / "verl/trainer/ppo/ray_trainer.py", "class RayPPOTrainer: ...\n")
    write(root / "verl/workers/config/actor.py", "")
    assert key not in plan(root / "jobs", RENAMED).own


@pytest.mark.parametrize(
    ("trainer", "actor", "missing"),
    [
        ("assert config.data.train_batch_size >= config.actor.ppo_mini_batch_size", None, None),
        (
            "    # assert config.data.train_batch_size >= config.actor.ppo_mini_batch_size",
            None,
            "trainer/ppo/ray_trainer",
        ),
        ("x = 1  # if train_batch_size < ppo_mini_batch_size:", None, "trainer/ppo/ray_trainer"),
        ("pass", "if train_batch_size != 0 and train_batch_size < self.ppo_mini_batch_size:", None),
        ("pass", "    # if train_batch_size < self.ppo_mini_batch_size:", "workers/config/actor"),
        ("if actor.ppo_mini_batch_size > data.train_batch_size:", "pass", None),
        (None, "pass", None),
    ],
)
def test_a_comparison_in_a_comment_is_no_code(
    tmp_path: Path, trainer: str | None, actor: str | None, missing: str | None
) -> None:
    root, key = write_tree(tmp_path / "verl-fork", "0.3.0.post0"), "verl.takes_larger_mini_batch"
    for path, text in (("trainer/ppo/ray_trainer", trainer), ("workers/config/actor", actor)):
        if text is not None:
            write(root / f"verl/{path}.py", f"# ppo_mini_batch_size\n{text}\n")
    found = plan(root / "jobs", RENAMED).own.get(key)
    assert (found and found.value) == (missing and f"verl/{missing}.py")


@pytest.mark.parametrize("version", [None, "0.4.0"])
@pytest.mark.parametrize("has_checkout", [False, True])
def test_a_key_is_missing_in_the_programs_own_file_whatever_verl_it_runs_on(
    tmp_path: Path, version: str | None, has_checkout: bool
) -> None:
    if has_checkout:
        write_tree(tmp_path / "verl", "0.4.0")
    main = '@hydra.main(config_path="config", config_name="ppo_trainer")\ndef main(config): ...\n'
    write(tmp_path / "tool/trainer/main_ppo.py", main)
    actor = "actor_rollout_ref:\n  actor:\n    checkpoint:\n      save_contents: [model]\n"
    write(tmp_path / "tool/trainer/config/ppo_trainer.yaml", f"{actor}data:\n  train_batch_size: 8\n")
    key = "actor_rollout_ref.actor.checkpoint.contents"
    found = plan(tmp_path / "jobs", f"python3 -m tool.trainer.main_ppo {key}=[model]\n", version=version)
    message = f"tool/trainer/config/ppo_trainer.yaml has no key {key}; did you mean {key.replace('contents', 'save_contents')}?"
    assert told(found) == [(True, message)]


def test_a_key_of_a_recipe_on_verls_own_defaults_depends_on_the_release(tmp_path: Path) -> None:
    main = '@hydra.main(config_path="config", config_name="arm")\ndef main(config): ...\n'
    write(tmp_path / "recipe/arm/main_arm.py", main)
    paths = "hydra:\n  searchpath:\n    - file://verl/trainer/config\n"
    write(tmp_path / "recipe/arm/config/arm.yaml", f"{paths}defaults:\n  - ppo_trainer\n  - _self_\n")
    found = plan(tmp_path / "jobs", "python3 -m recipe.arm.main_arm data.train_batch_sizes=[8]\n")
    message = "no release of verl has the key data.train_batch_sizes; is it misspelt? A key of your own needs +data.train_batch_sizes=…"
    assert told(found) == [(False, message)]


def test_a_key_that_verl_reads_and_its_yaml_lacks_needs_a_plus(tmp_path: Path) -> None:
    key = "algorithm.gdpo_reward_keys"
    found = plan(tmp_path, f"python3 -m verl.trainer.main_ppo {key}=[a] +algorithm.gdpo_reward_weights=[1]\n")
    message = f"no release of verl has the key {key}; verl reads it since 0.8, but its YAML has no default for it: write +{key}=…"
    assert [text for _, text in told(found)] == [message]


def test_the_option_comes_first(tmp_path: Path) -> None:
    python = install(tmp_path / "py", "0.9.0")
    message = f"verl 0.9.1 (--verl-version) has no key {KEY}; verl 0.4.0 to 0.9.0 have it"
    assert told(plan(tmp_path, GRAD_OFFLOAD, python, "0.9.1")) == [(True, message)]
    with pytest.raises(UsageError, match=r"^--verl-version 0\.9: unknown release; expected one of 0\.9\.1, 0\.9\.0, "):
        plan(tmp_path, GRAD_OFFLOAD, python, "0.9")


def test_a_renamed_key_is_told_by_both_names(tmp_path: Path) -> None:
    key, name = "critic.model.fsdp_config.param_offload", "critic.fsdp.param_offload"
    (problem,) = plan(tmp_path, RENAMED, version="0.9.1").problems
    assert problem.message == (
        f"verl 0.9.1 (--verl-version) has no key {key}; verl 0.3.0.post0 to 0.7.1 have it, this verl calls it {name}"
    )
    assert problem.moves == {key: name}
    (unsure,) = plan(tmp_path, RENAMED).problems
    assert (unsure.fatal, unsure.settings) == (False, {})
    assert unsure.message == (
        f"judged by verl 0.7.1, the newest release that knows these keys; verl 0.9.1 lacks {key} "
        f"(verl 0.3.0.post0 to 0.7.1; now {name}); pass --verl-version if the run uses another"
    )


def test_a_key_of_no_release_is_an_error_only_if_it_is_misspelt(tmp_path: Path) -> None:
    found = plan(tmp_path, "python3 -m verl.trainer.main_ppo data.train_bach_size=4 trainer.our_own.key=1\n")
    assert told(found) == [
        (True, "no release of verl has the key data.train_bach_size; did you mean data.train_batch_size?"),
        (
            False,
            "no release of verl has the key trainer.our_own.key; is it misspelt? A key of your own needs +trainer.our_own.key=…",
        ),
    ]


def test_an_unknown_value_does_not_hide_an_unknown_key(tmp_path: Path) -> None:
    text = "python3 -m verl.trainer.main_ppo 'data.train_bach_size='$SIZE'[' trainer.nnodes=1\n"
    assert told(plan(tmp_path, text, version="0.9.1"))[0] == (
        True,
        "verl 0.9.1 (--verl-version) has no key data.train_bach_size; did you mean data.train_batch_size?",
    )


def test_a_fork_is_judged_by_its_own_tree(tmp_path: Path) -> None:
    root = write_tree(tmp_path / "fork", "0.9.1")
    write(root / "verl/trainer/config/ppo_trainer.yaml", "trainer: {nnodes: 1, ours: 2}\n")
    found = plan(root / "jobs", "python3 -m verl.trainer.main_ppo trainer.ours=3 data.train_batch_size=4\n")
    assert [message.partition(";")[0] for _, message in told(found)] == [
        f"verl of the checkout {root} has no key data.train_batch_size"
    ]


def test_a_recipe_brings_its_tree(tmp_path: Path) -> None:
    recipe = tmp_path / "checkout"
    write(recipe / "dapo/main_dapo.py", '@hydra.main(config_path="config", config_name="dapo_trainer")\n')
    config = "hydra:\n  searchpath:\n    - file://verl/trainer/config\ndefaults:\n  - ppo_trainer\n  - _self_\ndata: {gen_batch_size: 9}\n"
    write(recipe / "dapo/config/dapo_trainer.yaml", config)
    text = "python3 -m recipe.dapo.main_dapo data.gen_batch_size=4 trainer.nnodes=2 data.nonsense=1\n"
    found = plan(recipe / "dapo/jobs", text, version="0.9.1")
    assert [message.partition(";")[0] for _, message in told(found)] == [
        "verl 0.9.1 (--verl-version) has no key data.nonsense"
    ]
    assert (found.unchecked, found.integer("slurm.nodes")) == ((), 2)


def test_a_program_that_imports_the_folder_of_verl_is_judged_by_verl(tmp_path: Path) -> None:
    main = (
        "from verl.trainer.main_ppo import run_ppo, config_dir\n"
        '@hydra.main(config_path=config_dir, config_name="ppo_trainer", version_base=None)\n'
    )
    write(tmp_path / "mine/verl_main_ppo.py", main)
    found = plan(tmp_path, "python3 -m mine.verl_main_ppo trainer.nnodes=2 data.nonsense=1\n", version="0.9.1")
    label = "verl 0.9.1 (--verl-version)"
    assert told(found) == [
        (True, f"{label} has no key data.nonsense; is it misspelt? A key of your own needs +data.nonsense=…")
    ]
    write(tmp_path / "mine/verl_main_ppo.py", main.replace("from verl.trainer.", "from mine."))
    assert plan(tmp_path, "python3 -m mine.verl_main_ppo trainer.nnodes=2\n", version="0.9.1").unchecked != ()


def test_a_tree_that_is_not_here_is_said_and_its_values_are_read(tmp_path: Path) -> None:
    found = plan(tmp_path, "python3 -m recipe.dapo.main_dapo data.gen_batch_size=4 trainer.nnodes=2 'a=['\n")
    assert found.unchecked == (
        ("recipe.dapo.main_dapo: its file is not in a directory above the script; its keys are not checked"),
    )
    assert (found.integer("slurm.nodes"), found.find("rollout.n")) == (2, None)
    assert told(found) == [(True, "'a=[': a value is missing")]


def test_a_trainer_that_the_known_verl_lacks_is_an_error(tmp_path: Path) -> None:
    found = plan(tmp_path, "python3 -m verl.trainer.main_generation trainer.nnodes=2\n", version="0.9.1")
    message = "verl 0.9.1 (--verl-version) has no verl.trainer.main_generation; verl 0.3.0.post0 to 0.7.0 have it"
    assert told(found) == [(True, message)]


def test_groups_and_packages_of_the_command_line(tmp_path: Path) -> None:
    root = write_tree(tmp_path / "fork", "0.9.1")
    write(root / "more/actor/own_actor.yaml", "ours: 1\n")
    choice = "actor@actor_rollout_ref.actor=own_actor"
    text = f"python3 -m verl.trainer.main_ppo --config-dir={root}/more {choice} actor_rollout_ref.actor.ours=2\n"
    assert told(plan(root / "jobs", text)) == []
    missing = text.replace(f"--config-dir={root}/more ", "")
    label = f"verl of the checkout {root}"
    assert [message for _, message in told(plan(root / "jobs", missing))] == [
        f"{label}: {choice}: no file actor/own_actor.yaml",
        f"{label} has no key actor_rollout_ref.actor.ours; is it misspelt? A key of your own needs +actor_rollout_ref.actor.ours=…",
    ]
    (unused,) = plan(root / "jobs", "python3 -m verl.trainer.main_ppo engine@nowhere=fsdp\n").problems
    assert unused.message == f"{label} has no group engine@nowhere; to add it use +engine@nowhere=fsdp"


def test_a_search_path_that_is_not_here_leaves_the_keys_unchecked(tmp_path: Path) -> None:
    text = "python3 -m verl.trainer.main_ppo hydra.searchpath=[pkg://other.config] actor@actor_rollout_ref.actor=own\n"
    found = plan(tmp_path, text, version="0.9.1")
    assert found.unchecked == (
        "verl.trainer.main_ppo: the folder pkg://other.config of Hydra's search path is not here; its keys are not checked",
    )


def test_an_own_configuration_by_path_and_name(tmp_path: Path) -> None:
    root = write_tree(tmp_path / "fork", "0.9.1")
    own = "hydra: {searchpath: ['file://verl/trainer/config']}\ndefaults: [ppo_trainer, _self_]\ndata: {mine: 1}\n"
    write(root / "examples/config/own.yaml", own)
    text = "python3 -m verl.trainer.main_ppo --config-path={path} --config-name='own' data.mine=2 trainer.nnodes=2\n"
    for path in (
        f"{root}/examples/config",
        "$NOT_SET/examples/config",
        "/elsewhere/examples/config",
        "../../examples/config",
    ):
        found = plan(root / "examples/jobs", text.replace("{path}", path))
        assert (told(found), found.unchecked, found.integer("slurm.nodes")) == ([], (), 2), path
    (reason,) = plan(root / "examples/jobs", text.replace("{path}", "/elsewhere/no/config")).unchecked
    assert (
        reason == "verl.trainer.main_ppo: --config-path /elsewhere/no/config: no such folder; its keys are not checked"
    )


def test_a_key_below_a_reference_is_the_key_of_its_table(tmp_path: Path) -> None:
    text = "python3 -m verl.trainer.main_ppo actor_rollout_ref.rollout.mtp.enable=True\n"
    found = plan(tmp_path, text, version="0.9.1")
    assert (told(found), found.own["actor_rollout_ref.model.mtp.enable"].value) == ([], True)


def test_adding_a_key_that_every_release_has_is_an_error(tmp_path: Path) -> None:
    (problem,) = plan(tmp_path, "python3 -m verl.trainer.main_ppo +data.train_batch_size=4\n").problems
    use = "data.train_batch_size=… or ++data.train_batch_size=…"
    assert problem.message == f"data.train_batch_size exists already, and + only adds new keys; use {use}"
    assert (problem.fatal, problem.moves) == (True, {"+data.train_batch_size": "++data.train_batch_size"})


def test_a_recipe_that_pins_a_release_is_judged_by_it(tmp_path: Path) -> None:
    pin = write(tmp_path / "recipe/REQUIRED_VERL.txt", "MODE=pinned_tag\nTAG=v0.9.1\nCOMMIT=bec9ef\n")
    message = f"verl 0.9.1 (required by {pin}) has no key {KEY}; verl 0.4.0 to 0.9.0 have it"
    assert told(plan(tmp_path / "recipe/qwen", GRAD_OFFLOAD)) == [(True, message)]
    write(pin, "PIP_INSTALL=pip install verl==0.9.0\n")
    required = f"verl 0.9.0 (required by {tmp_path}/recipe/REQUIRED_VERL.txt)"
    note = f"{required} takes these keys; verl 0.9.1 lacks {KEY} (verl 0.4.0 to 0.9.0)"
    assert told(plan(tmp_path / "recipe", GRAD_OFFLOAD)) == [(False, note)]


def test_a_pinned_commit_is_no_release(tmp_path: Path) -> None:
    write(tmp_path / "REQUIRED_VERL.txt", "MODE=rolling\nVERL_COMMIT=bcb638649a50\nTAG=v0.1.7\n")
    assert [fatal for fatal, _ in told(plan(tmp_path, GRAD_OFFLOAD))] == [False]


def test_an_added_key_that_the_newest_release_has_is_a_warning(tmp_path: Path) -> None:
    text = GRAD_OFFLOAD.replace("\n", " +algorithm.filter_groups.enable=True\n")
    message = (
        "verl 0.9.1 has algorithm.filter_groups.enable already and refuses the +; "
        "use ++algorithm.filter_groups.enable=…, which every release takes"
    )
    assert told(plan(tmp_path, text))[1:] == [(False, message)]


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("data.train_batchsize=4", "data.train_batch_size"),
        ("data.train_bach_size=4", "data.train_batch_size"),
        ("data.train_batch_sizes=many", None),
    ],
)
def test_the_key_that_a_wrong_one_means(tmp_path: Path, word: str, meant: str | None) -> None:
    found = plan(tmp_path, f"{{python}} -m verl.trainer.main_ppo {word}\n", version="0.9.1")
    assert ("did you mean" in told(found)[0][1]) is (meant is not None)
    assert meant is None or told(found)[0][1].endswith(f"did you mean {meant}?")


def test_a_trainer_that_the_newest_release_lacks_is_a_warning(tmp_path: Path) -> None:
    found = plan(tmp_path, "torchrun -m verl.trainer.main_generation trainer.nnodes=2\n")
    message = "verl 0.9.1 has no verl.trainer.main_generation; verl 0.3.0.post0 to 0.7.0 have it"
    assert (False, message) in told(found)
