"""The figures of the steps in a finished log."""

from pathlib import Path

from skyrl_doctor.watch.past_steps import StepFault, StepFigures, read_step_figures, with_lines


def log_of(folder: Path, lines: list[str]) -> str:
    file = folder / "train.log"
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return str(file)


def test_nan_from_a_step_on(tmp_path: Path) -> None:
    values = ["0.2", "0.2", "nan", "nan", "nan"]
    lines = [f"(TaskRunner pid=1) step:{at} - actor/grad_norm:{one}" for at, one in enumerate(values, start=1)]
    file = log_of(tmp_path, ["start", *lines])
    assert with_lines(read_step_figures([file])) == StepFigures(
        (
            StepFault(
                id="TRN005",
                slug="metrics-not-finite",
                file=file,
                line=4,
                step=3,
                message="from step 3 on, in 3 of 3 steps: actor/grad_norm is nan; expected finite numbers",
                advice="resume from a checkpoint before step 3: later ones may hold NaN too. Lower the learning rate, or clip the gradient",
                is_error=True,
            ),
        )
    )


def test_nan_that_a_run_left_behind(tmp_path: Path) -> None:
    values = ["nan", "nan", *["0.2"] * 6]
    lines = [f"Step {at} | 22.84s | Loss 0.1 | Grad. Norm {one}" for at, one in enumerate(values, start=1)]
    assert read_step_figures([log_of(tmp_path, lines)]) == StepFigures()


def test_of_a_long_run_the_first_and_the_last_steps_are_read(tmp_path: Path) -> None:
    lines = [f"step:{at} - actor/grad_norm:{'nan' if at > 700 else 0.2}" for at in range(1, 2001)]
    (fault,) = with_lines(read_step_figures([log_of(tmp_path, lines)])).faults
    assert (fault.step, fault.line, fault.message, fault.advice) == (
        1751,
        1751,
        "from step 1751 or before on, in 250 of 250 steps: actor/grad_norm is nan; expected finite numbers",
        (
            "resume from a checkpoint before the first bad step: later ones may hold NaN too. Lower the learning rate, or "
            "clip the gradient"
        ),
    )


def test_memory_that_grows_with_the_lengths(tmp_path: Path) -> None:
    lines = [
        f"step:{at} - actor/grad_norm:0.2 - perf/max_memory_allocated_gb:{60 + at} - response_length/mean:{700 + 50 * at}"
        for at in range(1, 9)
    ]
    assert read_step_figures([log_of(tmp_path, lines)]) == StepFigures(
        growth="GPU memory grew from 61 to 68 GiB over 8 steps as the mean length grew from 750 to 1100 tokens."
    )


def test_memory_that_grows_alone(tmp_path: Path) -> None:
    lines = [f"step:{at} - actor/grad_norm:0.2 - perf/max_memory_allocated_gb:{60 + 2 * at}" for at in range(1, 6)]
    assert read_step_figures([log_of(tmp_path, lines)]) == StepFigures(
        growth="GPU memory grew from 62 to 70 GiB over 5 steps, and the length of the replies did not: look for a leak."
    )


def test_a_file_that_is_gone(tmp_path: Path) -> None:
    assert read_step_figures([str(tmp_path / "none.log"), "-"]) == StepFigures()
