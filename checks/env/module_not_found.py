"""A Python module is not installed in the environment that runs the code.

## What it does
Finds the import that failed and names the module.

## Why it breaks training
The process ends at the import. It happens on workers more than on the driver: Ray, a container or a virtual environment
may give them another interpreter or another working directory.

## How to fix
Install the package into the interpreter that the traceback shows. A module of your own repository must be on
`PYTHONPATH` of the workers, or installed with `pip install -e .`.

## Example
    ModuleNotFoundError: No module named 'joblib'
"""

from checks.env.shared import COMPILED
from skyrl_doctor.core.signature import Signature

CAUSE = "Python does not find the module `{module}` in the environment of this process"
COMPILED_MODULE = rf"\bNo module named '{COMPILED}"
FAILED = r"\b(?:[Ff]ailed|[Uu]nable)\b"
"""Programs that can do without a module say that they failed to import it, and go on."""
REMEDY = "Look at the paths in the traceback: they name the interpreter. Install the package of `{module}` there (`python -m pip install …` with that interpreter). If `{module}` is your own code or a data file's class, set `PYTHONPATH` for the workers too; if a package moved it, install the version that has it."

SIGNATURES = (
    Signature(
        pattern=r"(?:ModuleNotFoundError|ImportError): No module named '(?P<module>sgl_kernel)\b",
        sample="ModuleNotFoundError: No module named 'sgl_kernel'",
        explain="Python does not find SGLang's kernels (`sgl_kernel`) in the environment of this process",
        remedy="With CUDA: `python -m pip install sgl-kernel`, in the version that SGLang's own requirements name. With ROCm pip has no build of it: use an image of SGLang for ROCm, or build `sgl-kernel` from SGLang's sources (`setup_rocm.py`).",
        versions="sglang",
    ),
    Signature(
        pattern=r"ModuleNotFoundError: No module named '(?P<module>(?!flash_attn)[\w.]{1,120})'",
        unless=COMPILED_MODULE,
        sample="ModuleNotFoundError: No module named 'joblib'",
        explain=CAUSE,
        remedy=REMEDY,
        versions="python",
        last_resort=True,
    ),
    Signature(
        pattern=r"(?:\b(?:[A-Z]\w{0,40})?(?:Error|Exception): |\b[Ee]rror: |\bERROR\b)[^\n]{0,200}\bNo module named ['\"]?(?P<module>(?!flash_attn)[\w.]{1,120})",
        sample="ray.exceptions.RaySystemError: System error: No module named 'environment'",
        explain=CAUSE,
        remedy=REMEDY,
        versions="python, ray",
        unless=rf"(?i:warn|optional|ignor|skip)|{FAILED}|{COMPILED_MODULE}",
        last_resort=True,
    ),
    Signature(
        pattern=rf"{FAILED}[^\n]{{0,200}}\bNo module named ['\"]?(?P<module>(?!flash_attn)[\w.]{{1,120}})",
        sample="Failed to import sgl_kernel: No module named 'sgl_kernel'",
        explain=CAUSE,
        remedy=REMEDY,
        versions="python",
        unless=rf"(?i:warn|optional|ignor|skip)|{COMPILED_MODULE}",
        last_resort=True,
        passing=True,
    ),
    Signature(
        pattern=r"\bTritonMissing: Cannot find a working t",
        sample="torch._inductor.exc.TritonMissing: Cannot find a working triton installation. Either the package is not installed or it is too old.",
        explain="torch.compile needs Triton, which is not installed or too old",
        remedy="Install the `triton` that belongs to the installed torch (`pip install triton`, on Windows `triton-windows`), or switch torch.compile off.",
        versions="torch",
    ),
    Signature(
        pattern=r"^(?:\S{0,200}/)?python[\d.]{0,5}t?(?:\.exe)?: No module named (?P<module>(?!flash_attn)'?[\w.]{1,120}'?)\s*$",
        sample="/usr/bin/python3: No module named verl.trainer",
        explain="Python does not find the module `{module}` that it should run (`python -m`)",
        remedy="Install its package into the interpreter at the start of the line, or start the run with the interpreter of the environment that has it.",
        versions="python",
        last_resort=True,
    ),
    Signature(
        pattern=r"^(?:[\w.]{1,80}: {1,2})?\w{1,80} requires the (?P<module>[\w .-]{1,40}?) library but it was not found in your environment",
        sample="AutoVideoProcessor requires the Torchvision library but it was not found in your environment. Check out the instructions on the",
        explain="transformers does not find the package of {module}, which this model or processor needs",
        unless=r"requires the Flash ?Attention",
        remedy="Install the package of {module} into the interpreter that the traceback shows; torchvision must be the release that belongs to the installed torch.",
        versions="transformers",
        last_resort=True,
    ),
    Signature(
        pattern=r"\bImportError: This modeling file requires the following packages that were not found in your environment: (?P<module>[\w, .-]{1,120}?)\. ",
        sample="ImportError: This modeling file requires the following packages that were not found in your environment: einops. Run `pip install einops`",
        explain="the model's own code needs packages that are not installed: {module}",
        unless=r"\bflash_attn\b",
        remedy="Install them into the interpreter that the traceback shows.",
        versions="transformers",
        last_resort=True,
    ),
    Signature(
        pattern=r"\bPackageNotFoundError: No package metadata was found for (?P<module>[\w.-]{1,80})",
        sample="importlib.metadata.PackageNotFoundError: No package metadata was found for bitsandbytes",
        explain="the package {module} is not installed in the environment of this process",
        unless=r"\bflash[_-]attn\b",
        remedy="Install it with the interpreter that the traceback shows (`python -m pip install …`).",
        versions="python, torch",
        last_resort=True,
    ),
    Signature(
        pattern=r"\bNinja is required to load C\+\+ extensions",
        sample="RuntimeError: Ninja is required to load C++ extensions (pip install ninja to get it)",
        explain="torch compiles an extension with the command `ninja`, which is not on PATH",
        unless=r"\bflash[_-]attn\b",
        remedy="`python -m pip install ninja`. If it is installed, activate its environment, or put the environment's `bin` directory on PATH.",
        versions="torch",
        last_resort=True,
    ),
    Signature(
        pattern=r"\bImportError: [^\n]{0,200}(?:\bpip3? install\b|\b(?:is|are) not (?:installed|available)\b|\bto be installed\b)|\b(?:Value|Runtime|Assertion)Error: [^\n]{0,200}(?:\b(?:is|are|but) not installed\b|\b[Pp]lease (?:run `)?(?:pip3? )?install [`'\w]|\b(?:library|package) installed in your environment\b|\bmake sure to install\b)",
        sample="ImportError: vLLM is not available and `use_vllm` is set to True. Please install vLLM with `pip install trl[vllm]` to use it.",
        explain="a package that this setting needs is not installed, or is older than it needs",
        unless=r"(?i:warn|optional|ignor|skip|kubectl|\bpdsh\b|\bmpirun\b|\bffmpeg\b|driver|nvcc|toolkit|compiler|flash[_ -]?att(?:ention|n)|value head model)",
        remedy="The line names the package and its version: install it with the interpreter that the traceback shows, or turn the setting off.",
        versions="transformers, trl, peft",
        last_resort=True,
    ),
)
