"""Runs cases one after the other in this process and records each."""

import time
import traceback
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from benchmarks.calibration import cpu, models, packed, record, step, workers
from benchmarks.calibration.cases import Case
from benchmarks.calibration.shapes import SHAPES


def limit(gib: float | None) -> None:
    """Caps what torch may reserve, as a smaller GPU would."""
    import torch

    if torch.cuda.is_available():
        total = torch.cuda.mem_get_info()[1]
        torch.cuda.set_per_process_memory_fraction(1.0 if gib is None else gib * 2**30 / total)


def failure(error: BaseException, phase: str | None) -> dict[str, Any]:
    """Out of memory, or another fault. verl's offload dies of an assertion while it unwinds from the former: look behind."""
    import torch

    chain: list[BaseException] = []
    rest: BaseException | None = error
    while rest is not None and rest not in chain:
        chain.append(rest)
        rest = rest.__cause__ or rest.__context__
    text = "".join(traceback.format_exception(error))
    for link in chain:
        traceback.clear_frames(link.__traceback__)
    for link in chain:
        if isinstance(link, torch.OutOfMemoryError):
            masked = None if link is error else f"{type(error).__name__}: {error}"
            return {"outcome": "oom", "oom": {"phase": phase, "message": str(link)[:400], "masked_by": masked}}
    print(text, flush=True)
    return {"outcome": "error", "oom": None, "error": f"{type(error).__name__}: {error}"[:600], "phase": phase}


def measure(case: Case, folder: Path, attention: str) -> dict[str, Any]:
    """One case: built, run for two steps, taken down."""
    with models.own_forward(SHAPES[case.shape]["architectures"][0]):
        return _measure(case, folder, attention)


def _measure(case: Case, folder: Path, attention: str) -> dict[str, Any]:
    from benchmarks.calibration.meter import Meter

    meter, line, started = Meter(), record.head(case, SHAPES[case.shape], "engine"), time.monotonic()
    line["outside_torch_before_gib"] = meter.outside_torch()
    line["cross_entropy"] = "flash_attn" if packed.use_cross_entropy(case.flash_attn) else "torch"
    model = models.write(folder / case.shape, SHAPES[case.shape])
    outcome: dict[str, Any] = {"outcome": "ok", "oom": None}
    built = workers.Workers()
    try:
        limit(case.limit_gib)
        workers.build(case, workers.compose(case, model, attention), meter, built)
        line["parameters"] = built.parameters()
        step.run(case, built, int(SHAPES[case.shape]["vocab_size"]), meter)
    except Exception as error:  # noqa: BLE001 - one case that cannot run may not end the campaign
        outcome = failure(error, meter.current)
    finally:
        line["outside_torch_gib"] = meter.outside_torch()
        built.drop()
    line |= {"phases": meter.phases, "vllm": None, "main_ppo": None} | outcome
    line["seconds"] = round(time.monotonic() - started, 1)
    return line


def summary(line: Mapping[str, Any]) -> str:
    """A line for the person who waits."""
    peaks = {name: phase["peak"]["allocated_gib"] for name, phase in line["phases"].items()}
    top = max(peaks, key=lambda name: peaks[name]) if peaks else "-"
    last = line["phases"].get("update_2", {}).get("peak", {})
    detail = line.get("error") or (line.get("oom") or {}).get("phase") or ""
    return (
        f"{line['id']:<44} {line['outcome']:<6} {line['seconds']:>6.1f} s  peak {peaks.get(top, 0):7.2f} ({top})"
        f"  update_2 {last.get('allocated_gib', 0):7.2f} / {last.get('reserved_gib', 0):7.2f} GiB  {detail}"
    )


def run(cases: Iterable[Case], out: Path, folder: Path, seconds: float) -> int:
    """All cases that begin within so many seconds; the number that neither ran nor ran out of memory."""
    import torch

    if not torch.cuda.is_available():
        cpu.register()
        cases = [cpu.adapted(case) for case in cases]
    workers.process_group()
    attention, failed = packed.register(), 0
    started = time.monotonic()
    for case in cases:
        if time.monotonic() - started > seconds:
            print(f"{case.id:<44} left out: the time is up", flush=True)
            continue
        line = measure(case, folder, attention)
        workers.clear()
        line["left_gib"] = round(torch.cuda.memory_allocated() / 2**30, 4) if torch.cuda.is_available() else 0.0
        record.append(out, line)
        print(summary(line), flush=True)
        failed += line["outcome"] == "error"
    return failed
