"""Draws the bars as an SVG, PNG or HTML figure, with matplotlib (the extra `plots`)."""

import html
import io
import os
from typing import TYPE_CHECKING, Any

from skyrl_doctor.core.errors import UsageError
from skyrl_doctor.facts.gpu.budget import GpuBudget
from skyrl_train.contracts.extras import install
from skyrl_train.contracts.files import replacing
from skyrl_train.memory import Component, gib

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FORMATS = (".svg", ".png", ".html")


def draw(memory: GpuBudget, path: str) -> None:
    """Writes the figure in one step. The suffix of `path` gives the format."""
    form = os.path.splitext(path)[1].lower()
    if form not in FORMATS:
        raise UsageError(f"--figure {path}: the file name must end in {', '.join(FORMATS[:-1])} or {FORMATS[-1]}")
    try:
        import matplotlib as mpl
        from matplotlib.figure import Figure
    except ImportError:
        raise UsageError(f"--figure needs matplotlib, which is not installed; run {install('plots')}") from None
    mpl.rcParams["svg.hashsalt"] = "budget"  # the same budget gives the same bytes
    figure = Figure(figsize=(10, 0.6 * len(memory.budget.phases) + 2.2), layout="constrained")
    _fill(figure.add_subplot(), memory)
    _save(figure, path, form, memory.model)


def _fill(axes: "Axes", memory: GpuBudget) -> None:
    phases = memory.budget.phases[::-1]
    names = [str(phase.phase) for phase in phases]
    starts = [0.0] * len(phases)
    for number, part in enumerate(Component):
        sizes = [gib(phase.components.get(part, 0)) for phase in phases]
        if not any(sizes):
            continue
        axes.barh(
            names, sizes, left=starts, label=str(part), color=f"C{number % 10}", hatch="//" if number > 9 else None
        )
        starts = [start + size for start, size in zip(starts, sizes, strict=True)]
    axes.axvline(gib(memory.limit), color="black", linestyle="--", label=memory.where)
    axes.set_xlabel("GiB on one GPU")
    axes.set_title(memory.model)
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.18), ncols=4, fontsize="small", frameon=False)


def _save(figure: Any, path: str, form: str, title: str) -> None:
    try:
        with replacing(path) as file:
            if form == ".html":
                file.write(_page(figure, title).encode())
            else:
                figure.savefig(file, format=form[1:], metadata={"Date": None} if form == ".svg" else None)
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}") from None


def _page(figure: Any, title: str) -> str:
    """A page of its own, with the SVG in it."""
    picture = io.StringIO()
    figure.savefig(picture, format="svg", metadata={"Date": None})
    svg = picture.getvalue()
    head = f'<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n<title>GPU memory of {html.escape(title)}</title>\n'
    return f"{head}{svg[svg.index('<svg') :]}</html>\n"
