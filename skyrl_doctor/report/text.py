"""The report as plain text for logs and pipes: 80 columns, no colour."""

from skyrl_doctor.report.lines import batch_lines, lines
from skyrl_doctor.report.model import Batch, Report

WIDTH = 80


def render(report: Report) -> str:
    return "".join(f"{line}\n" for line in lines(report, WIDTH))


def render_batch(batch: Batch) -> str:
    return "".join(f"{line}\n" for line in batch_lines(batch, WIDTH))
