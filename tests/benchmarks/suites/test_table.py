"""`python -m benchmarks.suites` prints the table of the judges that are asked."""

import pytest

from benchmarks.suites.__main__ import main


def test_the_table_has_a_row_for_each_judge(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--only", "parse_time, our cases"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "| judge                 | of          | version | cases | pass | deliberate | fail | 21 November |",
        "|-----------------------|-------------|---------|-------|------|------------|------|-------------|",
        "| parse_time, our cases | time limits |         | 22    | 22   | 0          | 0    |             |",
    ]


def test_an_unknown_checkout_is_refused() -> None:
    with pytest.raises(SystemExit):
        main(["no-such=."])
