"""How many lines of a log show an error, the repeats of a survived one included."""

from pathlib import Path

from skyrl_doctor.logs.judge.error_lines import count_error_lines
from skyrl_doctor.logs.match.patterns import installed_patterns

ERROR = "ERROR:2025-09-15 15:36:24,702:[Request ID: {}] Sandbox API call failed. Read timed out.\n"


def test_each_line_with_an_error_counts_once(tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    fine = "step:1 - actor/grad_norm:0.2\nINFO no ERROR here\nskyrl-doctor watch: ERROR RUN005 no-worker-slots\n"
    log.write_text("".join(f"{ERROR.format(number)}{fine}" for number in range(90)), encoding="utf-8")
    assert count_error_lines(str(log), installed_patterns()) == 90


def test_what_cannot_be_counted_has_no_number(tmp_path: Path) -> None:
    assert count_error_lines("-", installed_patterns()) is None
    assert count_error_lines(str(tmp_path / "absent.log"), installed_patterns()) is None
    log = tmp_path / "train.log"
    log.write_text(ERROR * 3, encoding="utf-8")
    assert [count_error_lines(str(log), installed_patterns(), most) for most in (2, 3)] == [None, 3]
