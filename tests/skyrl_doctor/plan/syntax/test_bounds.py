"""Short configurations that stand for very large values. Each runs in a process of its own: two once ended it by a signal."""

import resource
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[4]
MOST_MEMORY = 1 << 30
MOST_CPU_S = 20
HYDRA = "actor_rollout_ref:\n  model:\n    path: x\n"


def doubled(first: str, link: str, count: int = 30) -> str:
    return first + "".join(link.format(n + 1, n) for n in range(count))


ATTACKS = {
    "open brackets.yaml": "a: " + "[" * 2_000_000,
    "open braces.yaml": "a: " + "{a: " * 500_000,
    "nested lists.yaml": "a:\n  " + "- " * 1_000_000,
    "nested keys.yaml": "? " * 1_000_000,
    "nested mappings.yaml": "".join(" " * n + "k:\n" for n in range(2_000)),
    "list of aliases.yaml": doubled("a0: &a0 [x, x]\n", "a{0}: &a{0} [*a{1}, *a{1}]\n") + "data:\n  train_files: *a30\n" + HYDRA,
    "mapping of aliases.yaml": doubled("a0: &a0 {x: 1}\n", "a{0}: &a{0} {{x: *a{1}, y: *a{1}}}\n") + "data: *a30\n" + HYDRA,
    "merged aliases.yaml": doubled("a0: &a0 {x: 1}\n", "a{0}: &a{0}\n  <<: [*a{1}, *a{1}]\n") + "data:\n  <<: *a30\n" + HYDRA,
    "alias of itself.yaml": "data: &a\n  x: *a\n" + HYDRA,
    "interpolations.yaml": doubled("a0: xxxxxxxx\n", "a{0}: ${{a{1}}}${{a{1}}}\n") + "data:\n  train_files: ${a30}\n" + HYDRA,
    "interpolation of itself.yaml": "x: ${x}\ndata:\n  train_files: ${x}\n" + HYDRA,
    "open brackets.toml": "[trainer]\na = " + "[" * 100_000,
    "long key.toml": "[model]\nq" + ".a" * 20_000 + " = 1\n",
    "long table.toml": "[" + "a." * 20_000 + "b]\nc = 1\n",
    "large number.toml": "[trainer]\ntotal_epochs = " + "9" * 5_000 + "\n",
    "words.sh": "a=xxxxxxxx\n" + "a=$a$a\n" * 40 + "python -m verl.trainer.main_ppo data.train_files=$a\n",
    "array.sh": "a=(x x)\n" + 'a=("${a[@]}" "${a[@]}")\n' * 40 + 'python -m verl.trainer.main_ppo "${a[@]}"\n',
    "replaced.sh": "a=x\n" + 'a="${a//x/xx}"\n' * 40 + "python -m verl.trainer.main_ppo data.train_files=$a\n",
    "braces.sh": "python -m verl.trainer.main_ppo x=" + "{a,b}" * 30 + "\n",
    "range.sh": "python -m verl.trainer.main_ppo x={1..1000000000}\n",
    "padding.sh": "printf -v a '%*s' 2000000000 x\npython -m verl.trainer.main_ppo data.train_files=$a\n",
    "power.sh": "python -m verl.trainer.main_ppo data.train_files=$((9**9**9**9))\n",
    "function.sh": "f() { f; f; }\nf\npython -m verl.trainer.main_ppo data.train_files=x\n",
    "loops.sh": "for i in {1..999}; do for j in {1..999}; do a=$a$i; done; done\npython -m verl.trainer.main_ppo x=$a\n",
    "commands.sh": "python -m verl.trainer.main_ppo x=" + "$(" * 20_000 + ")" * 20_000 + "\n",
    "branches.sh": "if true; then\n" * 5_000 + "python -m verl.trainer.main_ppo x=1\n" + "fi\n" * 5_000,
}  # fmt: skip


def _limit() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (MOST_CPU_S, MOST_CPU_S))


@pytest.mark.parametrize(
    "command", [("preflight", "--structure-only"), ("budget", "--gpu-memory", "20GiB")], ids=["preflight", "budget"]
)
@pytest.mark.parametrize("name", ATTACKS)
def test_it_costs_little_and_ends_in_a_sentence(name: str, command: tuple[str, ...], tmp_path: Path) -> None:
    """The kernel ends what takes more than 1 GiB or 20 s of the processor."""
    target = tmp_path / name
    target.write_text(ATTACKS[name])
    done = subprocess.run(
        [sys.executable, "-m", "skyrl_doctor", *command, str(target)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        cwd=ROOT,
        preexec_fn=_limit,
    )
    assert done.returncode in (0, 1, 2, 3)
    assert done.stdout + done.stderr
    assert not [word for word in ("Traceback", "MemoryError") if word in done.stdout + done.stderr]
