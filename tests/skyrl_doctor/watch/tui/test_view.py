"""The texts of the live view, without colour."""

from pathlib import Path

from skyrl_doctor.core.model import Location, RemedyKind
from skyrl_doctor.machine.local import LocalMachine
from skyrl_doctor.watch import setup
from skyrl_doctor.watch.finding import Advice, alert
from skyrl_doctor.watch.loop import Watch
from skyrl_doctor.watch.settings import Settings
from skyrl_doctor.watch.tui.view import bar, caption, detail, row, sorted_findings, status


def watched(root: Path) -> Watch:
    with (root / "training_1.out").open("w", encoding="utf-8") as file:
        for step in range(1, 9):
            file.write(f"step:{step} - critic/score/mean:0.{step} - actor/grad_norm:0.4 - timing_s/step:28.1\n")
        file.write("Generating rollouts:  37%|###  | 3/8 [00:05<00:08, 1.6s/it]\n" + "No available worker slots\n")
    (root / "vllm.log").write_text(
        "ValueError: 'max_tokens' or 'max_completion_tokens' is too large\n", encoding="utf-8"
    )
    watch = setup.build(Settings(job_dir=str(root), samplers=False, writes=False), LocalMachine(), lambda _: None)
    watch._clock = lambda: 1000.0
    watch.fills = {"gpu GPU 0": (74.0, 79.2), "disk x": (1.0, 0.0)}
    watch.turn()
    return watch


def test_the_state_of_the_run(tmp_path: Path) -> None:
    watch = watched(tmp_path)
    assert list(status(watch, 1060.0)) == [
        "running · last activity: step 8, 60 s ago (stall alarm after 5 min)",
        "step 8, took 28 s: reward 0.8, gradient 0.4",
        "Generating rollouts          [########............] 3 of 8",
        "gpu GPU 0                    [###################.] 74.0 of 79.2",
        "disk x                       [....................] 1.0 of 0.0",
    ]
    assert [row(one, 1060.0)[:3] for one in sorted_findings(watch)] == [
        ("ROOT", "CFG001 max-tokens-exceed-context", "60 s"),
        ("ROOT", "RUN005 no-worker-slots", "60 s"),
    ]
    assert (list(watch.history["reward"]), list(watch.history["step time (s)"])) == (
        [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8],
        [28.1] * 8,
    )
    assert max(watch.tail) == "vllm.log: ValueError: 'max_tokens' or 'max_completion_tokens' is too large"


def test_a_finding_in_full() -> None:
    advice = Advice(kind=RemedyKind.FIX_CONFIG, summary="lower it", commands=("a b",))
    where = Location("v.log", 3)
    found = alert(1.0, "CFG001", "too\x1b[2J many", root=True, evidence=("x  y",), location=where, advice=advice)
    assert detail(found) == (
        "CFG001 max-tokens-exceed-context (root cause)\n\ntoo many\n\nAt v.log:3\n\nEvidence:\n  x y\n\n"
        "To do: lower it\n  a b\n\nMore: skyrl-doctor explain CFG001"
    )


def test_bars_and_captions() -> None:
    assert (bar(0, 0), bar(1, 2), bar(9, 2)) == (f"[{'.' * 20}]", f"[{'#' * 10}{'.' * 10}]", f"[{'#' * 20}]")
    assert (caption("reward", ()), caption("reward", (0.1, 0.3))) == ("reward  –", "reward  0.3  (0.1 to 0.3)")
