"""GPUs and MIG profiles by name, with the memory that programs can use.

The marketed size is not what `torch.cuda.mem_get_info` gives: the driver keeps some, and a MIG slice is smaller than its
name (3g.20gb has 19.5 GiB). Whole GPUs: the "total capacity" of torch's own out-of-memory messages (A800: sgl-project/sglang#1463,
the smaller of two; H20: modelscope/DiffSynth-Studio#1238; A40: torch's total_memory with ECC, 47,697,690,624 bytes; H800: as
the H100, since nvidia-smi shows 81,559 MiB of both). Slices: the memory
column of `nvidia-smi mig -lgip`, from NVIDIA's MIG user guide and published listings (H200: NVIDIA/mig-parted#120);
where drivers differ, the smaller (A100 3g.20gb is listed with 19.62, and shows programs 19,968 MiB).
"""

import difflib
import re

from skyrl_train.contracts.record import record
from skyrl_train.memory.errors import UnknownDeviceError
from skyrl_train.memory.units import GIB

GPUS = {
    "A100-40GB": 39.49,
    "A100-80GB": 79.25,
    "A800-80GB": 79.25,
    "H100-80GB": 79.18,
    "H800-80GB": 79.18,
    "H20-96GB": 95.00,
    "H200": 139.81,
    "GH200-96GB": 94.50,
    "B200": 178.35,
    "V100-32GB": 31.73,
    "A10": 22.06,
    "A40": 44.42,
    "L4": 22.03,
    "L40S": 44.40,
    "A6000": 47.40,
    "RTX-3090": 23.68,
    "RTX-4090": 23.64,
}
SLICES = {
    "A100-40GB": {"1g.5gb": 4.75, "1g.10gb": 9.75, "2g.10gb": 9.75, "3g.20gb": 19.5, "4g.20gb": 19.5, "7g.40gb": 39.25},
    "A100-80GB": {
        "1g.10gb": 9.5,
        "1g.20gb": 19.5,
        "2g.20gb": 19.5,
        "3g.40gb": 39.25,
        "4g.40gb": 39.25,
        "7g.80gb": 79.0,
    },
    "H100-80GB": {
        "1g.10gb": 9.75,
        "1g.20gb": 19.62,
        "2g.20gb": 19.62,
        "3g.40gb": 39.5,
        "4g.40gb": 39.5,
        "7g.80gb": 79.25,
    },
    "H200": {"1g.18gb": 16.0, "1g.35gb": 32.25, "2g.35gb": 32.25, "3g.71gb": 69.5, "4g.71gb": 69.5, "7g.141gb": 139.8},
}
_ALIASES = {"A100": "A100-80GB", "H100": "H100-80GB", "H200-141GB": "H200", "RTX-A6000": "A6000", "GH200": "GH200-96GB"}
_ALIASES |= {"A800": "A800-80GB", "H800": "H800-80GB", "H20": "H20-96GB"}
_ALIASES["GH200-480GB"] = "GH200-96GB"  # NVIDIA names it after the memory of its CPU
# If a GPU's name fits two memory sizes, the name of the slice decides.
_BOTH_SIZES = {"A100": ("A100-40GB", "A100-80GB")}
_GRES = re.compile(r"(?i)(?:gres/)?(?:gpu:)?(.*?[a-z].*?)(?::\d+)?")  # as Slurm writes it: gpu:a100_3g.20gb:1
_BOARD = {"GPU", "NVIDIA", "GEFORCE", "TESLA", "MIG", "PCIE", "HBM3", "HBM3E", "NVL"}
_COUNT = re.compile(r"^\s*\d{1,3}\s*[X*]\s*(?=[A-Z])")
"""The number of GPUs before the name: 8xH100."""
_SHORT_SIZE = re.compile(r"^(\d{2,3})G$")
_PROFILE = re.compile(r"(?i)(?<![\w.])(?:mig[- ]*)?([0-9]+g\.[0-9]+gb)(?:\+[\w.]+)?(?![\w.])")
_SIZE = re.compile(r"(?i)\s*([0-9]+(?:\.[0-9]+)?)\s*(GiB|MiB|GB|MB|G|M)\s*")
DIGITS = 12  # longer numbers are not sizes
_UNITS = {"gib": GIB, "g": GIB, "mib": 1024**2, "m": 1024**2, "gb": 10**9, "mb": 10**6}


@record
class Device:
    """A GPU or a MIG slice: its name and the bytes that programs on it share."""

    name: str
    total: int

    def __post_init__(self) -> None:
        if not isinstance(self.total, int) or isinstance(self.total, bool) or self.total <= 0:
            raise UnknownDeviceError(
                f"the memory of {self.name} is {self.total!r} bytes; expected a whole number above 0"
            )

    @property
    def is_slice(self) -> bool:
        """Whether this is a MIG slice, which NCCL does not join with another."""
        return bool(_PROFILE.search(self.name)) or is_unknown_slice(self.name)


def device_of_size(size: str) -> Device:
    """A device of a given size: 20GiB, 24 GB, 40536MiB."""
    found = _SIZE.fullmatch(size)
    if found is None or len(found[1]) > DIGITS or float(found[1]) <= 0:
        raise UnknownDeviceError(f"{size!r} is not a size; expected a number with GiB, GB or MiB, such as 20GiB")
    return Device(size.strip(), int(float(found[1]) * _UNITS[found[2].lower()]))


def device_named(name: str) -> Device:
    """A GPU or MIG profile by name: `H200`, `A100-40GB 3g.20gb`, `3g.20gb`, and as nvidia-smi and Slurm write it."""
    gres = _GRES.fullmatch(name.strip())
    plain = (gres[1] if gres else name).replace("_", " ")
    profile = _PROFILE.search(plain)
    if profile is not None:
        return _slice(name, _words(_PROFILE.sub(" ", plain)), profile[1].lower())
    words = _words(plain)
    parent = _ALIASES.get(words, words)
    if parent not in GPUS:
        names = [*GPUS, *_ALIASES]
        longer = [
            one for one in names if words and one.startswith(f"{words}-")
        ]  # V100 is nearer to V100-32GB than to H100
        near = longer or difflib.get_close_matches(words, names, n=1)
        meant = f"; did you mean {near[0]}?" if near else ""
        raise UnknownDeviceError(
            f"unknown GPU {name!r}{meant}; known GPUs: {', '.join(GPUS)}, and MIG profiles such as 3g.20gb"
        )
    return Device(parent, round(GPUS[parent] * GIB))


def is_unknown_slice(name: str) -> bool:
    """Whether a name tells of a MIG slice, but not of its profile: `h100_mig`."""
    return bool(re.search(r"(?i)(?<![a-z])mig(?![a-z])", name)) and not _PROFILE.search(name.replace("_", " "))


def sizes_of(name: str) -> tuple[str, ...]:
    """The GPUs of several sizes that a name without a size or a profile may mean: of `a100`, two; else none."""
    gres = _GRES.fullmatch(name.strip())
    plain = (gres[1] if gres else name).replace("_", " ")
    return () if _PROFILE.search(plain) else _BOTH_SIZES.get(_words(plain), ())


def _slice(name: str, words: str, profile: str) -> Device:
    """A slice. The slices of an unknown GPU are not guessed, since its memory may differ for the same profile."""
    parents = _BOTH_SIZES.get(words, (_ALIASES.get(words, words),)) if words else tuple(SLICES)
    sizes = [(SLICES[owner][profile], owner) for owner in parents if profile in SLICES.get(owner, {})]
    if not sizes:
        known = sorted({key for owner in parents for key in SLICES.get(owner, {})})
        if not known:
            raise UnknownDeviceError(
                f"no MIG profiles are known for the GPU in {name!r}; known GPUs: {', '.join(SLICES)}"
            )
        raise UnknownDeviceError(f"unknown MIG profile {profile} in {name!r}; known profiles: {', '.join(known)}")
    size, owner = min(sizes)  # if several GPUs have this profile: the smallest one fits on all
    return Device(f"{owner} {profile}", round(size * GIB))


def _words(name: str) -> str:
    """The name in our table's spelling, without words for the vendor and the board."""
    upper = _COUNT.sub("", name.upper())
    words = [_SHORT_SIZE.sub(r"\1GB", word) for word in re.split(r"[^A-Z0-9]+", upper) if word]
    plain = [word for word in words if word not in _BOARD and not word.startswith("SXM")]
    if "NVL" in words and "H100" in words:  # 94 GB, another card
        plain.append("NVL")
    name = "-".join(plain)
    return next((known for known in GPUS if known.replace("-", "") == name), name)  # RTX4090
