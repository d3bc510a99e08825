"""The faults in the figures of the steps, as `diagnose` prints them."""

import textwrap
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from skyrl_doctor.report.plain import encodable, plain

if TYPE_CHECKING:
    from skyrl_doctor.logs.show import Redact
    from skyrl_doctor.watch.past_steps import StepFigures


def steps_data(figures: "StepFigures", redact: "Redact") -> dict[str, Any]:
    """The faults as data for the JSON report; nothing where there are none."""
    faults = [
        {
            "id": fault.id,
            "slug": fault.slug,
            "file": encodable(fault.file),
            **({"line": fault.line} if fault.line else {}),
            "step": fault.step,
            "message": plain(redact(fault.message)),
            "error": fault.is_error,
            **({"advice": plain(redact(fault.advice))} if fault.advice else {}),
        }
        for fault in figures.faults
    ]
    return {"steps": faults} if faults else {}


def step_fault_lines(figures: "StepFigures", redact: "Redact", width: int) -> Iterator[str]:
    """Each fault with its place and what to do."""
    if not figures.faults:
        return
    yield "The figures of the training steps show faults:"
    for fault in figures.faults:
        yield from _wrapped(f"{fault.id} {fault.slug}, {encodable(plain(fault.place))}", "  ", width)
        yield from _wrapped(plain(redact(fault.message)), "    ", width)
        if fault.advice:
            yield from _wrapped(f"What to do: {plain(redact(fault.advice))}", "    ", width)
    yield ""


def _wrapped(text: str, indent: str, width: int) -> list[str]:
    return textwrap.wrap(
        text,
        width,
        initial_indent=indent,
        subsequent_indent=f"{indent}  ",
        break_long_words=False,
        break_on_hyphens=False,
    )
