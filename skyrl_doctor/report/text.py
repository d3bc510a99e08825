"""The report as plain text for logs and pipes: 80 columns unless $COLUMNS says otherwise, no colour."""

from skyrl_doctor.report.batch_lines import batch_lines
from skyrl_doctor.report.lines import USUAL_VIEW, View, lines
from skyrl_doctor.report.model import Batch, Report
from skyrl_train.contracts.screen import USUAL


def render(report: Report, view: View = USUAL_VIEW, width: int = USUAL) -> str:
    return "".join(f"{line}\n" for line in lines(report, width, view))


def render_batch(batch: Batch, view: View = USUAL_VIEW, width: int = USUAL) -> str:
    return "".join(f"{line}\n" for line in batch_lines(batch, width, view))
