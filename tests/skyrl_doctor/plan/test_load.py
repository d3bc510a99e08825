"""Targets of every dialect, whole and broken."""

import contextlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skyrl_doctor.core.errors import CouldNotLook, UsageError
from skyrl_doctor.core.model import UNKNOWN_VALUE, Location
from skyrl_doctor.machine.local import LocalMachine
from skyrl_doctor.machine.recorded import RecordedMachine
from skyrl_doctor.plan.load import load, read
from skyrl_doctor.plan.model import Plan, Problem, Value
from skyrl_doctor.plan.source import COMMAND_LINE, Source

MACHINE = RecordedMachine({"environ": {"HOME": "/home/ada"}}, strict=False)


def plan(file: str, text: str, **more: str) -> Plan:
    files = {file: text, **more}
    answers = {f"read {name}": content for name, content in files.items()}
    return load(RecordedMachine({"environ": {}, **answers}, strict=False), tuple(files))


def refusal(file: str, text: str) -> str:
    with pytest.raises(UsageError) as caught:
        plan(file, text)
    return str(caught.value)


def test_no_target_is_an_empty_plan() -> None:
    assert load(MACHINE, ()) == Plan()
    assert not Plan()


def test_tells_the_dialects_apart_by_content() -> None:
    assert plan("a.toml", "[model]\npath = 'x'\n").dialect == "run-config"
    assert plan("a.toml", "[model]\nname = 'x'\n[orchestrator]\ngroup_size = 2\n").dialect == "prime-rl"
    assert plan("a.toml", "[model]\nname = 'x'\n[orchestrator]\nrollouts_per_example = 2\n").dialect == "prime-rl-2025"
    assert plan("a.toml", "[model]\nname = 'x'\n[orchestrator]\n[slurm]\n").dialect == "prime-rl"
    assert plan("dev", "MODEL=x\nROLLOUT_N=2\n").dialect == "skyrl-agent"
    assert plan("task.yml", "generator:\n  max_iterations: 3\n").dialect == "skyrl-agent"
    assert plan("a.yaml", "actor_rollout_ref:\n  rollout:\n    n: 3\n").dialect == "verl"
    assert plan("run", "#!/bin/sh\npython -m verl.trainer.main_ppo data.train_batch_size=3\n").dialect == "verl"
    assert plan("noname", "[model]\npath = 'x'\n").dialect == "run-config"
    assert plan("noname", "generator:\n  max_iterations: 3\n").dialect == "skyrl-agent"


def test_a_command_line_may_be_the_target() -> None:
    command = "python -m verl.trainer.main_ppo data.train_batch_size=3"
    answers = {"environ": {}, f"read {command}": {"absent": command}}
    found = load(RecordedMachine(answers, strict=False), (command,))
    assert found.find("data.train_batch_size") == Value(
        "data.train_batch_size", 3, Location(COMMAND_LINE, 1, "data.train_batch_size"), own="data.train_batch_size"
    )


def test_a_later_target_overrides_and_a_default_never_does() -> None:
    first, second = "[model]\npath = 'x'\n[rollout]\nn = 5\nmax_tokens = 7\n", "MODEL=y\nGPU_NODES=2\n"
    both = plan("a.toml", first, **{"dev.conf": second})
    assert (both.text("model.path"), both.integer("rollout.n")) == ("y", 5)
    assert both.place("rollout.n") == Location("a.toml", 4, "rollout.n")
    task = "agent_cls: x\ngenerator:\n  sampling_params:\n    top_p: 0.5\n"
    assert plan("dev.conf", second, **{"task.yaml": task}).flag("rollout.keep_stop") is False


def test_two_runs_are_no_single_plan() -> None:
    run = "[model]\npath = 'x'\n"
    with pytest.raises(UsageError, match=r"the targets are 2 runs \(a.toml, b.toml\); pass one"):
        plan("a.toml", run, **{"b.toml": run})


def test_what_is_written_but_not_known_is_no_answer() -> None:
    found = plan("dev.conf", "MODEL=x\nROLLOUT_N=$(nproc)\nMAX_MODEL_LEN=$LENGTH\n")
    with pytest.raises(CouldNotLook, match="known only when the script runs"):
        found.integer("rollout.n")
    assert found.problems == (
        Problem(
            message="ROLLOUT_N = $(nproc): known only when the script runs",
            location=Location("dev.conf", 2, "ROLLOUT_N"),
            fatal=False,
            is_note=True,
            remedy=UNKNOWN_VALUE,
        ),
        Problem(
            message="MAX_MODEL_LEN = $LENGTH: LENGTH is not set here",
            location=Location("dev.conf", 3, "MAX_MODEL_LEN"),
            fatal=False,
            remedy=UNKNOWN_VALUE,
        ),
    )


BROKEN = {
    "a.toml": ("x = \n", "target a.toml: not valid TOML: Invalid value (at line 1, column 5)"),
    "b.toml": ("a = 1\na = 2\n", "target b.toml: not valid TOML: Cannot overwrite a value (at line 2, column 6)"),
    "c.yaml": ("a: 1\na: 2\n", "target c.yaml: line 2: duplicate key 'a'"),
    "d.yaml": ("a:\n\tb: 1\n", "target d.yaml: not valid YAML: "),
    "e.yaml": ("a: &a [*a]\n", "target e.yaml: more than 50000 values or 40 levels with its aliases"),
    "f.yaml": ("- 1\n", "target f.yaml: expected a YAML mapping, found a sequence"),
    "g.yaml": ("a: !python/object:os.system x\n", "target g.yaml: not valid YAML: "),
    "h.yaml": ("colour: blue\n", "target h.yaml: unknown YAML; expected SkyRL-agent's task YAML"),
    "i.toml": ("", "target i.toml: the file is empty"),
    "j.conf": ("A=1\n", "target j.conf: starts no program, and sets no variable of a dev.conf; the doctor reads"),
    "k": ("just some words\n", "target k: unknown format"),
    "l.toml": ("a = " + "[" * 200 + "]" * 200, "target l.toml: "),
    "m.sh": (
        "echo python -m verl.trainer.main_ppo a=1\n",
        "target m.sh: starts no program, and sets no variable of a dev.conf; the doctor reads",
    ),
    "s.sh": (
        "ray start --head\nif [ $NODE_RANK == 0 ]\nthen\n  sleep 1\n  python3 -m verl.trainer.main_ppo \\\n    a=1\nelse\n  sleep 2\nfi\n",
        (
            "target s.sh: line 5 starts `python3 -m verl.trainer.main_ppo` only if `[ $NODE_RANK == 0 ]` in line 2 holds, "
            "which it does not here; run `NODE_RANK=0 skyrl-doctor …`"
        ),
    ),
    "t.sh": (
        'prepare\n[[ -n "$HEAD" ]] && torchrun train.py\n',
        (
            'target t.sh: line 2 starts `torchrun train.py` only if `[[ -n "$HEAD" ]]` in line 2 holds, which it does not '
            "here; set what it asks for, and run the doctor again"
        ),
    ),
    "u.sh": (
        '[ "$DEBUG" == 1 ] && python train_small.py\ntorchrun my_own_trainer.py\n',
        "target u.sh: line 2 starts my_own_trainer.py, which the doctor does not know; it reads ",
    ),
    "o.sh": (
        "MODEL=x\nTRAIN_BATCH_SIZE=8\ntorchrun my_own_trainer.py --lr nonsense\n",
        "target o.sh: line 3 starts my_own_trainer.py, which the doctor does not know; it reads ",
    ),
    "p.py": ("import rllm\n", "target p.py: a Python program, which the doctor does not read; it reads "),
    "q.yaml": ("defaults:\n  - actor\n  - _self_\nstrategy: fsdp\n", "target q.yaml: unknown YAML; expected "),
    "r.yaml": (
        "trainer:\n  epochs: 2\ngenerator:\n  n_samples_per_prompt: 5\n",
        "target r.yaml: unknown YAML; expected ",
    ),
    "n.toml": ("a = 1\0\n", "target n.toml: contains NUL bytes, so not a configuration"),
}


@pytest.mark.parametrize("file", sorted(BROKEN))
def test_a_broken_file_is_one_clear_refusal(file: str) -> None:
    text, said = BROKEN[file]
    refused = refusal(file, text)
    assert refused.startswith(said)
    assert "\n" not in refused


def test_an_alias_bomb_is_refused() -> None:
    lines = ["a0: &a0 {x: 1, y: 2}"]
    lines += [f"a{n}: &a{n} {{x: *a{n - 1}, y: *a{n - 1}, z: *a{n - 1}}}" for n in range(1, 15)]
    assert "with its aliases" in refusal("bomb.yaml", "\n".join(lines))


def test_directories_binaries_and_giants_are_refused(tmp_path: Path) -> None:
    machine = LocalMachine({})
    (big := tmp_path / "big.toml").write_bytes(b"# " + b"x" * (10 << 20))
    (binary := tmp_path / "binary.toml").write_bytes(bytes(range(256)))
    cases = {
        str(tmp_path): f"target {tmp_path}: Is a directory; name its files, such as {tmp_path}/*.sh",
        str(big): f"target {big}: larger than 4 MiB, too large for a configuration",
        str(binary): f"target {binary}: not UTF-8 text (byte 128), so not a configuration",
        f"{tmp_path}/none": f"target {tmp_path}/none: no such file or directory",
        f"{tmp_path}/bniary.toml": f"target {tmp_path}/bniary.toml: no such file or directory; did you mean {binary}?",
        " ": "a target is empty; give the path of a configuration or a command line",
    }
    for target, said in cases.items():
        with pytest.raises(UsageError) as caught:
            load(machine, (target,))
        assert str(caught.value) == said


def test_a_byte_order_mark_and_windows_line_ends_do_not_matter() -> None:
    text = "\ufeff[model]\r\npath = 'x'\r\n\r\n[rollout]\r\nn = 3\r\n"
    found = plan("w.toml", text)
    assert found.problems == ()
    assert found.find("rollout.n") == Value("rollout.n", 3, Location("w.toml", 5, "rollout.n"), own="rollout.n")
    shell = plan("w.conf", "MODEL=x\r\nROLLOUT_N=3\r\n")
    assert shell.integer("rollout.n") == 3


TEXTS = st.text(max_size=200) | st.text(alphabet="ab=[]{}.\"'#\n $()\\:-&*!", max_size=200)


@given(TEXTS, st.sampled_from(["f.toml", "f.yaml", "f.conf", "f.sh", "f", COMMAND_LINE]))
def test_no_text_crashes_a_reader(text: str, file: str) -> None:
    with contextlib.suppress(UsageError):
        read(MACHINE, Source(file, text))


@given(TEXTS)
def test_no_text_crashes_the_verl_reader(text: str) -> None:
    with contextlib.suppress(UsageError):
        read(MACHINE, Source("f.sh", f"python3 -m verl.trainer.main_ppo a.b={text} {text}\n"))


@given(TEXTS)
def test_no_value_crashes_the_yaml_readers(text: str) -> None:
    for head in ("generator:\n  x: ", "defaults:\n  - ppo_trainer\nactor_rollout_ref:\n  rollout:\n    n: "):
        with contextlib.suppress(UsageError):
            read(MACHINE, Source("f.yaml", head + text))
