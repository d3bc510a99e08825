"""nvidia-smi of a node with one A100 in MIG mode, as a program to lay on PATH.

In a job it shows the slices that Slurm gave the job (SLURM_JOB_GPUS), as on nodes with ConstrainDevices=yes.
It answers what the doctor asks (skyrl_doctor/facts/nvidia_smi.py) and nothing else. tests/lanes/gpu holds the same
questions against the real program.
"""

from collections.abc import Sequence
from pathlib import Path

PARENT = "GPU-aaaaaaaa-0000-0000-0000-000000000000"
_SCRIPT = """#!/bin/sh
case "$*" in
-L)
  echo 'GPU 0: NVIDIA A100-SXM4-80GB (UUID: {parent})'
{slices}
  ;;
*mig.mode.current*) echo '{parent}, Enabled' ;;
*memory.total*) echo '{parent}, 81920, 76, 81084, 580.95.05' ;;
*compute-apps*) ;;
*) echo "Invalid combination of input arguments. Please run 'nvidia-smi -h' for help." >&2; exit 2 ;;
esac
"""


def lay(directory: Path, slices: Sequence[str], profile: str = "1g.18gb") -> None:
    """The program, in a directory that the caller puts on PATH."""
    lines = [
        f"  case ,${{SLURM_JOB_GPUS:-{number}}}, in *,{number},*) "
        f"echo '  MIG {profile}     Device  {number}: (UUID: {uuid})' ;; esac"
        for number, uuid in enumerate(slices)
    ]
    program = directory / "nvidia-smi"
    program.write_text(_SCRIPT.format(parent=PARENT, slices="\n".join(lines)))
    program.chmod(0o755)
