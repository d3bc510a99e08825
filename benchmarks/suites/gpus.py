"""Captures of nvidia-smi and lines of the kernel, as judges of the GPU facts and of the GPU signatures."""

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

from benchmarks.suites.cases import Case
from checks.gpu import gpu_fault
from skyrl_doctor.facts.gpu.nvidia_smi import parse_list, with_figures

FIELDS = ("uuid", "memory.total", "memory.used", "memory.free", "driver_version")
_SXID = re.compile(r"SXid \((?:PCI:)?[0-9a-fA-F:.]{7,16}\): \d{1,5}\b[^\"`\\\n]*")
_XID = re.compile(r"NVRM: Xid \((?:PCI:)?[0-9a-fA-F:.]{7,16}\): \d{1,3}\b[^\"`\\\n]*")


def captures(checkout: Path) -> Iterator[Case]:
    """Each GPU and slice that a capture lists, with memory and driver."""
    for path in sorted((checkout / "internal/captures").glob("*.txt")):
        text = path.read_text(encoding="utf-8", errors="replace")
        listed = _section(text, "nvidia-smi -L")
        found = parse_list(listed)
        gpus = len(re.findall(r"^GPU \d+: ", listed, re.MULTILINE))
        slices = len(re.findall(r"^\s+MIG ", listed, re.MULTILINE))
        yield Case(f"{path.name}: devices", found and (len(found.gpus), len(found.slices)), (gpus, slices))
        figures = [*_figures(_section(text, "nvidia-smi --query-gpu="))]
        if found is None or not figures:
            continue
        filled = with_figures(found, "\n".join(", ".join(row[name] for name in FIELDS) for row in figures))
        yield Case(f"{path.name}: driver", filled.driver, figures[0]["driver_version"])
        for gpu, row in zip(filled.gpus, figures, strict=False):
            expected = int(row["memory.total"]) if row["memory.total"].isdigit() else None
            yield Case(f"{path.name}: memory", gpu.memory and gpu.memory.total_mib, expected)


def _section(text: str, command: str) -> str:
    """The output of the first command that begins so."""
    _, _, rest = text.partition(f"# $ {command}")
    return rest.partition("####\n")[2].partition("\n####")[0].strip("\n#") if rest else ""


def _figures(text: str) -> Iterator[dict[str, str]]:
    lines = [line for line in text.splitlines() if ", " in line]
    names = [name.partition(" [")[0] for name in lines[0].split(", ")] if lines else []
    for line in lines[1:]:
        cells = [cell.removesuffix(" MiB") for cell in line.split(", ")]
        if len(cells) == len(names):
            yield dict(zip(names, cells, strict=True))


def xids(checkout: Path) -> Iterator[Case]:
    """Each kernel line with an Xid in gpud's tests must be recognised as a fault of a GPU."""
    for line in _kernel_lines(checkout, "xid", _XID):
        yield Case(line, _is_fault(line), expected=True)


def switch_xids(checkout: Path) -> Iterator[Case]:
    """Of the lines with an SXid in gpud's tests, those that say `Fatal` are a fault of the node's NVSwitches."""
    for line in _kernel_lines(checkout, "sxid", _SXID):
        yield Case(line, _is_fault(line), expected=", Fatal" in line)


def _kernel_lines(checkout: Path, component: str, pattern: re.Pattern[str]) -> list[str]:
    place = f"components/accelerator/nvidia/{component}"
    words = ("git", "-C", str(checkout), "grep", "-h", "-i", "xid (", "HEAD", "--", place)
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=True)
    return sorted({found[0].strip() for found in pattern.finditer(done.stdout)})


def _is_fault(line: str) -> bool:
    return any(re.search(each.pattern, line) for each in gpu_fault.SIGNATURES)
