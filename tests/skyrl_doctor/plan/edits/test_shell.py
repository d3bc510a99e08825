"""Edits of shell scripts, byte for byte."""

import pytest

from plans import plan
from skyrl_doctor.plan.edits.changes import CannotEdit, Move, Remove, Set
from skyrl_doctor.plan.edits.shell import edited

HEAD = "# Größe\npython3 -m verl.trainer.main_ppo \\\n"
N, BATCH = "trainer.n_gpus_per_node", "data.train_batch_size"


def changed(text: str, change: Set | Move | Remove, line: int | None = None) -> str:
    return edited(text, change, plan(text, "run.sh"), "run.sh", line)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (f"{HEAD}  {BATCH}=4 # é\n", f"{HEAD}  {BATCH}=8 # é\n"),
        (f"{HEAD}  '{BATCH}=4'\n", f"{HEAD}  '{BATCH}=8'\n"),
        (f'{HEAD}  {BATCH}="4"', f'{HEAD}  {BATCH}="8"'),
        (f"{HEAD}  {BATCH}=${{B:-4}}\n", f"{HEAD}  {BATCH}=${{B:-8}}\n"),
        (f'{HEAD}  {BATCH}="${{B:-4}}"\n', f'{HEAD}  {BATCH}="${{B:-8}}"\n'),
        (f"{HEAD}  ++{BATCH}=4\n", f"{HEAD}  ++{BATCH}=8\n"),
        (f"{HEAD}  {N}=4 \\\n  {N}=8\n", f"{HEAD}  {N}=4 \\\n  {N}=8 \\\n  {BATCH}=8\n"),
        (f"A=(\n  {N}=4\n)\n{HEAD} " + '"${A[@]}"\n', f"A=(\n  {N}=4\n  {BATCH}=8\n)\n{HEAD} " + '"${A[@]}"\n'),
        (f"python3 -m verl.trainer.main_ppo {N}=4\n", f"python3 -m verl.trainer.main_ppo {N}=4 {BATCH}=8\n"),
    ],
)
def test_sets_an_override(before: str, after: str) -> None:
    assert changed(before, Set(BATCH, "8")) == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("MODEL=x # é\nROLLOUT_N=4\n", "MODEL=x # é\nROLLOUT_N=8\n"),
        ("MODEL=x\nexport ROLLOUT_N='4'\n", "MODEL=x\nexport ROLLOUT_N='8'\n"),
        ('MODEL=x\nROLLOUT_N="${ROLLOUT_N:-4}"\n', 'MODEL=x\nROLLOUT_N="${ROLLOUT_N:-8}"\n'),
        ("MODEL=x\nBATCH_SIZE=2", "MODEL=x\nBATCH_SIZE=2\nROLLOUT_N=8\n"),
    ],
)
def test_sets_a_variable(before: str, after: str) -> None:
    text = before
    assert edited(text, Set("ROLLOUT_N", "8"), plan(text, "dev.conf"), "dev.conf", None) == after


def test_sets_an_option_of_the_job() -> None:
    text = f"#SBATCH --time=4:00:00 --gres=gpu:h100:4 # x\n{HEAD}  {BATCH}=4\n"
    assert changed(text, Set("#SBATCH --time", "6:00:00")) == text.replace("4:00:00", "6:00:00")
    assert changed(text, Set("#SBATCH --gres", "8")) == text.replace("h100:4", "h100:8")


def test_renames_the_key_of_one_word() -> None:
    text = f"{HEAD}  data.train_batchsize=4 \\\n  {N}=8 # data.train_batchsize\n"
    assert changed(text, Move("data.train_batchsize", BATCH), 3) == text.replace(
        "train_batchsize=4", "train_batch_size=4"
    )
    plus = f"{HEAD}  +{N}=8\n"
    assert changed(plus, Move(f"+{N}", f"++{N}"), 3) == plus.replace("+", "++")


@pytest.mark.parametrize(
    ("text", "change", "line", "reason"),
    [
        (f"B=4\n{HEAD}  {BATCH}=$B\n", Set(BATCH, "8"), None, f"change it by hand: the file has {BATCH}=$B"),
        (
            f"B=4\n{HEAD}  {BATCH}=$((B * 2))\n",
            Set(BATCH, "9"),
            None,
            f"change it by hand: the file has {BATCH}=$((B * 2))",
        ),
        (f"A={BATCH}=4\n{HEAD} $A\n", Set(BATCH, "8"), None, "change it by hand: the file has $A"),
        (f"{HEAD} {N}=8\n", Remove(N), 3, f"remove {N} by hand"),
        (f"{HEAD} {N}=8\n", Move("a.b", "a.c"), 3, "rename a.b to a.c by hand: line 3 has it 0 times"),
        (f"{HEAD} a.b=1 a.b=2\n", Move("a.b", "a.c"), 3, "rename a.b to a.c by hand: line 3 has it 2 times"),
        (f"{HEAD} {N}=8\n", Move("a.b", N), 3, f"the file already sets {N}; remove a.b by hand"),
        (f"{HEAD} {N}=8\n", Set("#SBATCH --time", "1"), None, "add --time=1 by hand"),
        (f"{HEAD} \"{BATCH}='4'\"\n", Set(BATCH, '"'), None, "change it by hand: the value needs other quotes"),
    ],
)
def test_what_it_cannot_do_has_a_reason(text: str, change: Set | Move | Remove, line: int | None, reason: str) -> None:
    with pytest.raises(CannotEdit) as raised:
        changed(text, change, line)
    assert str(raised.value) == reason
