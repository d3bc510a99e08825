"""A setting and its new value as text to paste."""

_SBATCH = ("#SBATCH ", "sbatch ")


def assignment(name: str, value: str) -> str:
    """`key = value`; an option of sbatch as it stands: `#SBATCH --gres=gpu:8`, `#SBATCH -N 2`, `sbatch -N 2`."""
    if not name.startswith(_SBATCH):
        return f"{name} = {value}"
    return f"{name}{'=' if ' --' in name else ' '}{value}"
