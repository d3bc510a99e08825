"""The text report in colour."""

from skyrl_doctor.report import text
from skyrl_doctor.report.model import Report


def show(report: Report) -> None:
    from rich.console import Console

    Console().print(text.render(report), highlight=False, markup=False, soft_wrap=True, end="")
