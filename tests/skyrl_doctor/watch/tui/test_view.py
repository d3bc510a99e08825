"""The live view on 80 x 24, without colour."""

from pathlib import Path

from skyrl_doctor.machine.local import LocalMachine
from skyrl_doctor.watch import setup
from skyrl_doctor.watch.loop import Watch
from skyrl_doctor.watch.settings import Settings
from skyrl_doctor.watch.tui.view import bar, picture, spark


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


def test_it_fits_the_smallest_screen(tmp_path: Path) -> None:
    drawn = picture(watched(tmp_path), 80, 24, 1060.0).plain.splitlines()
    assert len(drawn) <= 23
    assert max(len(line) for line in drawn) < 80
    shown = "\n".join(drawn[1:])
    for part in (
        "running · last activity: step 8, 60 s ago (stall alarm after 5 min)",
        "step 8 (last step took 28 s)",
        "Generating rollouts          [########............] 3 of 8",
        "reward 0.8  gradient 0.4",
        "rewards  ▁▂▂▄▅▅▆█  0.1 to 0.8",
        "gpu GPU 0                    [###################.]    74.0 of 79.2",
        "Findings: 2",
        "ROOT    CFG001 max-tokens-exceed-context, 60 s ago",
        "RUN005 no-worker-slots",
    ):
        assert part in shown
    assert len(picture(watched(tmp_path), 40, 10, 1060.0).plain.splitlines()) <= 9


def test_bars_and_lines() -> None:
    assert (bar(0, 0), bar(1, 2), bar(9, 2)) == (f"[{'.' * 20}]", f"[{'#' * 10}{'.' * 10}]", f"[{'#' * 20}]")
    assert (spark(()), spark((1.0,)), spark((1.0, 1.0)), spark((0.0, float("nan"), 7.0))) == ("", "", "▁▁", "▁█")
