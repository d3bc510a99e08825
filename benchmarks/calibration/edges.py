"""Runs near the edge of a smaller GPU, which torch's per-process memory fraction stands for."""

from benchmarks.calibration.cases import Case

EDGES: tuple[Case, ...] = ()
