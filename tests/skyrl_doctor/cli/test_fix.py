"""fix on a configuration: the diff, and what --apply writes."""

import os
import re
import shutil
from pathlib import Path

import pytest

from skyrl_doctor.cli.app import dispatch
from skyrl_doctor.cli.edits import write
from skyrl_doctor.core.errors import UsageError
from skyrl_doctor.plan.edits.proposal import Proposal

MINI = (
    "actor_rollout_ref.actor.ppo_mini_batch_size=8 actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=1 "
    "actor_rollout_ref.rollout.log_prob_micro_batch_size_per_gpu=1 algorithm.adv_estimator=grpo "
    "actor_rollout_ref.rollout.name=vllm actor_rollout_ref.rollout.n=2"
)
EXAMPLES = Path(__file__).parents[3] / "examples"


@pytest.fixture
def stuck(tmp_path: Path) -> Path:
    """The configuration whose rollouts never started: 4000 new tokens in a context of 4096."""
    return Path(shutil.copy(EXAMPLES / "prime-rl-2025" / "v4.toml", tmp_path / "v4.toml"))


def test_shows_the_edit_and_writes_nothing(stuck: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = stuck.read_bytes()
    assert dispatch(["fix", "CFG001", str(stuck)]) == 1
    out = capsys.readouterr().out
    assert "-max_tokens = 4000\n+max_tokens = 2048\n" in out
    assert stuck.read_bytes() == before


def test_a_finding_without_an_edit_is_told_once_with_its_place(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    script = tmp_path / "run.sh"
    script.write_text("python3 -m verl.trainer.main_ppo trainer.experiment_name=$NAME trainer.nnodes=1\n")
    assert dispatch(["fix", "CFG004", str(script), "--structure-only"]) == 1
    assert capsys.readouterr().out == (
        "CFG004 config-unreadable (warning)\n"
        f"  {script}:1 (trainer.experiment_name): trainer.experiment_name = $NAME: NAME is not set here\n"
        "  by hand: no action needed if the job gets this value\n"
    )


def test_a_value_of_a_branch_is_a_note_that_needs_no_action(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As uv's command in verl's own scripts, which depends on the backend."""
    script = tmp_path / "run.sh"
    script.write_text(
        "a=()\nif nvidia-smi | grep -q H100; then\n  a+=(trainer.experiment_name=h100)\nfi\n"
        'python3 -m verl.trainer.main_ppo trainer.nnodes=1 "${a[@]}"\n'
    )
    assert dispatch(["fix", "CFG004", str(script), "--structure-only"]) == 0
    assert capsys.readouterr().out == "nothing to fix\n"
    assert dispatch(["preflight", str(script), "--structure-only", "--select", "CFG004"]) == 0
    seen = " ".join(capsys.readouterr().out.split())
    message = "trainer.experiment_name = h100: depends on the if in line 2, which is taken to hold"
    assert f"INFO CFG004 {script}:3: {message}" in seen


SKYRL = (
    "python -m skyrl.train.entrypoints.main_base trainer.policy.model.path=m trainer.placement.policy_num_gpus_per_node=4 \\\n"
    "  generator.inference_engine.num_engines=4 generator.n_samples_per_prompt=1 \\\n"
    "  trainer.train_batch_size={batch} trainer.policy_mini_batch_size=250 trainer.micro_train_batch_size_per_gpu=64\n"
)


@pytest.mark.parametrize("batch", [1024, 1021])
def test_each_edit_of_the_diff_is_announced(batch: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """1024 has a mini batch near 250 that needs no other edit. 1021 is a prime, and 250 prompts need a smaller micro batch."""
    script = tmp_path / "run.sh"
    script.write_text(SKYRL.format(batch=batch))
    assert dispatch(["fix", "CFG002", str(script), "--structure-only"]) == 1
    lines = capsys.readouterr().out.splitlines()
    header = next(at for at, line in enumerate(lines) if line.startswith("--- "))
    why = f"trainer.train_batch_size ({batch}) must be a multiple of trainer.policy_mini_batch_size (250)"
    if batch == 1024:
        assert lines[:header] == [
            "CFG002 batch-not-divisible (error)",
            f"  {script}:3 (trainer.train_batch_size): {why}; set trainer.policy_mini_batch_size = 256",
            "  edit: use this setting",
            "      trainer.policy_mini_batch_size = 256",
        ]
        changed = (
            "trainer.train_batch_size=1024 trainer.policy_mini_batch_size=256 trainer.micro_train_batch_size_per_gpu=64"
        )
    else:
        assert lines[:header] == [
            "CFG002 batch-not-divisible (error)",
            f"  {script}:3 (trainer.train_batch_size): {why}; set trainer.train_batch_size = 1000",
            "  edit: use this setting",
            "      trainer.train_batch_size = 1000",
            "CFG002: the edits above need this one too",
            f"  {script}:3 (trainer.micro_train_batch_size_per_gpu): trainer.micro_train_batch_size_per_gpu (64) must divide the 62 samples of a mini batch on each of 4 ranks; use 2",
            "  edit: use this setting",
            "      trainer.micro_train_batch_size_per_gpu = 2",
        ]
        changed = (
            "trainer.train_batch_size=1000 trainer.policy_mini_batch_size=250 trainer.micro_train_batch_size_per_gpu=2"
        )
    assert [line for line in lines[header + 2 :] if line.startswith("+")] == [f"+  {changed}"]


def test_applied_the_run_is_clean(stuck: Path, capsys: pytest.CaptureFixture[str]) -> None:
    stuck.chmod(0o640)
    assert dispatch(["fix", "CFG001", str(stuck), "--apply"]) == 0
    assert f"wrote {stuck}\n" in capsys.readouterr().out
    assert "max_tokens = 2048" in stuck.read_text(encoding="utf-8")
    assert stuck.stat().st_mode & 0o777 == 0o640
    assert os.listdir(stuck.parent) == ["v4.toml"]
    assert dispatch(["preflight", "--structure-only", str(stuck)]) == 0
    assert dispatch(["fix", "CFG001", str(stuck)]) == 0


def test_the_exit_status_says_what_remains(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script = tmp_path / "run.sh"
    script.write_text(
        f"python3 -m verl.trainer.main_ppo data.train_bach_size=8 {MINI} trainer.ours=1\n", encoding="utf-8"
    )
    words = ["fix", str(script), "--structure-only", "--verl-version", "0.9.1"]
    assert dispatch(words) == 1
    assert dispatch([*words, "--apply"]) == 1  # no program knows trainer.ours
    assert "data.train_batch_size=8 actor" in script.read_text(encoding="utf-8")
    script.write_text(f"python3 -m verl.trainer.main_ppo data.train_bach_size=8 {MINI}\n", encoding="utf-8")
    assert [dispatch([*words, "--apply"]), dispatch(words)] == [0, 0]
    script.write_text("python3 -m recipe.mine.main_mine trainer.nnodes=1\n", encoding="utf-8")
    assert dispatch(words) == 2
    assert "nothing to fix in the checks that ran; unknown: CFG004" in capsys.readouterr().out
    script.write_text("python3 train.py\n", encoding="utf-8")
    assert dispatch(words) == 2


def test_a_check_that_could_not_run_counts_after_the_edit_too(tmp_path: Path) -> None:
    script = tmp_path / "run.sh"
    script.write_text(
        "python3 -m examples.my.main_mine trainer.policy.model.path=m trainer.placement.policy_num_nodes=1 "
        "trainer.algorithm.use_kl_in_reward=true trainer.algorithm.use_kl_loss=true\n",
        encoding="utf-8",
    )
    words = ["fix", str(script), "--structure-only", "--apply"]
    assert dispatch(words) == 2
    assert "use_kl_loss=false" in script.read_text(encoding="utf-8")
    assert dispatch(words) == 2


def test_a_key_that_is_named_twice_is_renamed_twice(tmp_path: Path) -> None:
    script = tmp_path / "run.sh"
    text = f"python3 -m verl.trainer.main_ppo data.train_bach_size=4 \\\n  data.train_bach_size=8 {MINI}\n"
    script.write_text(text, encoding="utf-8")
    assert dispatch(["fix", str(script), "--structure-only", "--select", "CFG004", "--apply"]) == 0
    assert script.read_text(encoding="utf-8") == text.replace("bach", "batch")


def test_line_ends_and_a_byte_order_mark_are_kept(stuck: Path) -> None:
    stuck.write_bytes(b"\xef\xbb\xbf" + stuck.read_bytes().replace(b"\n", b"\r\n"))
    dispatch(["fix", "CFG001", str(stuck), "--apply"])
    text = stuck.read_bytes()
    assert text.startswith(b"\xef\xbb\xbf")
    assert b"max_tokens = 2048\r\n" in text
    assert text.count(b"\n") == text.count(b"\r\n")


def test_links_are_refused_and_named(stuck: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = stuck.read_bytes()
    link, second = stuck.parent / "link.toml", stuck.parent / "second.toml"
    link.symlink_to(stuck.name)
    assert dispatch(["fix", "CFG001", str(link), "--apply"]) == 2
    said = capsys.readouterr().err
    assert said == f"skyrl-doctor fix: cannot write {link}: it is a link to {stuck}; name that file\n"
    second.hardlink_to(stuck)
    assert dispatch(["fix", "CFG001", str(stuck), "--apply"]) == 2
    said = capsys.readouterr().err
    why = "the file has 2 names (hard links), and only one would change"
    assert said == f"skyrl-doctor fix: cannot write {stuck}: {why}\n"
    assert (link.is_symlink(), stuck.read_bytes()) == (True, before)
    assert sorted(os.listdir(stuck.parent)) == ["link.toml", "second.toml", "v4.toml"]


def test_a_schema_is_rewritten_only_where_it_is_asked_for(stuck: Path, capsys: pytest.CaptureFixture[str]) -> None:
    dispatch(["fix", str(stuck), "--select", "CFG,PRM"])
    assert "num_infer_gpus = 1\n+" not in capsys.readouterr().out
    for name in ("PRM007", "prm007", "key-renamed-since"):
        dispatch(["fix", name, str(stuck)])
        out = capsys.readouterr().out
        assert "+num_infer_gpus = 1\n" in out
        assert "not edited: line 25: orchestrator.env: " in out


def test_a_file_that_changed_meanwhile_is_left(stuck: Path) -> None:
    with pytest.raises(UsageError, match="has changed since it was read; nothing was written"):
        write(Proposal(str(stuck), "what was read", "what was to come"))
    assert "max_tokens = 4000" in stuck.read_text(encoding="utf-8")


SCRIPT = """NOW=$(date +%Y%m%d)
N=4
python3 -m verl.trainer.main_ppo algorithm.adv_estimator=grpo data.train_batch_size=$N \\
    data.max_prompt_length=1024 data.max_response_length=4096 trainer.default_local_dir=/ckpt/run-$NOW \\
    actor_rollout_ref.rollout.name=vllm actor_rollout_ref.rollout.max_model_len=4096 \\
    actor_rollout_ref.actor.use_dynamic_bsz=True actor_rollout_ref.rollout.log_prob_use_dynamic_bsz=True \\
    actor_rollout_ref.actor.ppo_mini_batch_size=5 actor_rollout_ref.rollout.gpu_memory_utilisation=0.5
"""


def test_errors_come_first_and_each_finding_is_an_edit_or_by_hand(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    script = tmp_path / "run.sh"
    script.write_text(SCRIPT, encoding="utf-8")
    assert dispatch(["fix", str(script), "--structure-only"]) == 1
    shown = capsys.readouterr().out
    heads = [line.rpartition("(")[2] for line in shown.splitlines() if re.match(r"[A-Z]{3}\d{3} ", line)]
    assert heads == sorted(heads, key=["error)", "warning)", "info)"].index)
    assert {"error)", "warning)"} <= set(heads)
    assert "edit: rename the key\n" in shown
    assert "known only when the script runs" not in shown
    assert "not edited" not in shown


def test_a_setting_that_cannot_be_edited_is_by_hand_with_the_reason(capsys: pytest.CaptureFixture[str]) -> None:
    assert dispatch(["fix", "CFG002", str(EXAMPLES / "verl" / "grpo_broken.sh"), "--structure-only"]) == 1
    shown = capsys.readouterr().out
    assert re.search(r"\n  by hand: .* \(change it by hand: the file has data.train_batch_size=\$N\)\n", shown)
    assert "edit: " not in shown


def test_the_findings_fit_the_screen(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    script = tmp_path / "run.sh"
    script.write_text("python3 -m verl.trainer.main_ppo trainer.experiment_name=$NAME trainer.nnodes=1\n")
    monkeypatch.chdir(tmp_path)
    assert dispatch(["fix", "CFG004", "run.sh", "--structure-only"]) == 1
    assert capsys.readouterr().out == (
        "CFG004 config-unreadable (warning)\n"
        "  run.sh:1 (trainer.experiment_name):\n"
        "    trainer.experiment_name = $NAME: NAME is not set here\n"
        "  by hand: no action needed if the job gets this value\n"
    )
