"""Triton cannot compile with the training interpreter.

## What it does
Finds the training interpreter (the plan's `python.interpreter`, `$UV_PYTHON`, the active virtual environment's, the
project's `.venv`, the doctor's own) and compiles a file that includes `Python.h`, as Triton does: `$CC` as one word,
else gcc, else clang, with the header directory that this interpreter names. The result is thrown away. If a GPU
driver is loaded, it also links against `libcuda`, as the installed Triton does.

## Why it breaks training
Triton compiles its launcher in C for the first kernel. The error therefore appears in the first training step, after
the model has loaded and the rollouts are done. A distribution's Python without its `-dev` package has no headers.
Workers that run another Python than the driver need the headers of that one.

## How to fix
Use an interpreter that has headers: one that uv manages, or one of a module (`module load python`). Name it by its
full path in `python.interpreter`, or export `UV_PYTHON`, so that the workers use the same. `skyrl-doctor env` prints
it.

## Example
    /tmp/tmpa1b2c3d4/main.c:5:10: fatal error: Python.h: No such file or directory
    subprocess.CalledProcessError: Command '['/usr/bin/gcc', '/tmp/tmpa1b2c3d4/main.c', ...]' returned non-zero exit status 1.
"""

from collections.abc import Iterator

from checks.vocabulary import LACK
from skyrl_doctor.core.check import check
from skyrl_doctor.core.model import Finding, Remedy, RemedyKind, Role, Severity
from skyrl_doctor.core.signature import Signature
from skyrl_doctor.facts.host import Roles
from skyrl_doctor.facts.interpreter import TrainingPython
from skyrl_doctor.facts.triton_build import Built, TritonBuild
from skyrl_train.node.python import NO_COMPILER, VARIABLE

NO_HEADERS = "the compiler that Triton runs does not find the headers of the worker's Python"
NO_C_COMPILER = "Triton found no C compiler in the worker's environment"
NOTHING_TO_BUILD_WITH = "the compiler for kernels or the headers of the worker's Python are missing"

COMPILER = "Make gcc visible to the workers: `module load gcc`, or install it in the image, and export `CC` with its full path before the program starts."
LIBCUDA = "`find /usr /run /opt -xdev -name libcuda.so.1` finds the driver's library: set `TRITON_LIBCUDA_PATH` to its directory. Nothing found: this node or container has no driver."
HEADERS = "Install the headers of the Python that runs the job (Debian: `apt install python3-dev`, Red Hat: python3-devel), or use a Python that brings them: uv's (`uv python install 3.12`), conda's or a module's. `python -c 'import sysconfig; print(sysconfig.get_path(\"include\"))'` prints where this Python looks for them."

SIGNATURES = (
    Signature(
        pattern=r"Python\.h: No such file or directory|fatal error(?: C1083)?: .{0,80}\bPython\.h\b",
        sample="/scratch/tmpx1/main.c:5:10: fatal error: Python.h: No such file or directory",
        explain="Triton compiles with the worker's Python, which has no headers",
        remedy=HEADERS,
        versions="triton",
    ),
    Signature(
        pattern=r"Failed to find C compiler",
        sample="RuntimeError: Failed to find C compiler. Please specify via CC environment variable.",
        explain=NO_C_COMPILER,
        remedy=COMPILER,
        versions="triton",
    ),
    Signature(
        pattern=r"cannot find -lcuda\b",
        sample="/usr/bin/ld: cannot find -lcuda: No such file or directory",
        explain="the linker that Triton runs does not find libcuda.so",
        remedy=LIBCUDA,
        versions="triton",
    ),
    Signature(
        pattern=r"""(?:file )?['\"<]Python\.h['\">]? (?:file )?not found|fatal error: .{0,40}pyconfig\.h|\.c(?:c|pp|xx)?:\d+:\d+: (?!note|warning)[^\n]{3,80}[^\w/]Python\.h\b""",
        sample="/scratch/tmpx1/main.c:5:10: fatal error: 'Python.h' file not found",
        explain=NO_HEADERS,
        remedy=HEADERS,
        versions="clang, tcc",
    ),
    Signature(
        pattern=r"libcuda\.so cannot found!",
        sample="AssertionError: libcuda.so cannot found! Possible files are located at ['/usr/lib64/libcuda.so.1'].Please create a symlink of libcuda.so to any of the files.",
        explain="Triton does not find libcuda.so",
        remedy=LIBCUDA,
        versions="triton 2",
    ),
    Signature(
        pattern=r"No working C(?:\+\+)? compiler found",
        sample="torch._inductor.exc.InvalidCxxCompiler: No working C++ compiler found in torch._inductor.config.cpp.cxx: (None, 'g++')",
        explain="torch.compile finds no C++ compiler on this node",
        remedy=f"{COMPILER} Without a compiler, turn torch.compile off: `TORCHDYNAMO_DISABLE=1`.",
        versions="torch inductor",
    ),
    Signature(
        pattern=r"error: command '\S{0,80}(?:gcc|cc|clang|g\+\+|c\+\+)' failed: No such file|unable to execute '\S{0,80}(?:gcc|cc|clang|g\+\+|c\+\+)': No such file|\bmake(?:\[\d{1,2}\])?: (?:/\S{1,80}/)?(?:gcc|g\+\+|cc|c\+\+|clang): (?:No such file|[Cc]ommand not found)|\bNo CMAKE_C(?:XX)?_COMPILER could be found|\bCMAKE_C(?:XX)?_COMPILER not set, after EnableLanguage|\blinker `cc` not found",
        sample="error: command 'gcc' failed: No such file or directory",
        explain="a package is built from source here, and the build found no C compiler",
        remedy="Install the package before the job, on a node with a compiler (`module load gcc`), or as a wheel: `pip install --only-binary :all: NAME`.",
        unless=r"nvcc' failed",
        versions="setuptools",
    ),
    Signature(
        pattern=r"No such file or directory: '(?:\S{0,80}[/-])?(?:gcc|cc|clang|g\+\+)'|cannot execute .{1,3}cc1(?:plus)?\b|\berror trying to exec '(?:/\S{1,100}/)?(?:cc1(?:plus)?|as|ld)'",
        sample="FileNotFoundError: [Errno 2] No such file or directory: 'gcc'",
        explain="Triton or torch.compile found no C compiler in the worker's environment",
        remedy=COMPILER,
        versions="triton, torch inductor",
    ),
    Signature(
        pattern=r"\bPython headers needed to compile|\(missing: .{0,80}(?:Development|Python3?_INCLUDE_DIRS?)\b|cannot find -lpython|Command .{0,200}\b(?:gcc|cc|g\+\+|clang)\b.{0,800}exit status 127\b",
        sample="/scratch/x.c:16:2: error: #error Python headers needed to compile C extensions, please install development version of Python.",
        explain=NOTHING_TO_BUILD_WITH,
        remedy=f"{HEADERS} No compiler: {COMPILER}",
        versions="cython, cmake, ld",
    ),
    Signature(
        pattern=r"\S{0,120}/tmp(?:\w{0,40}|/\S{1,80})/(?:main|launcher|cuda_utils|__triton_launcher)\.c(?:pp)?:\d{1,5}(?::\d{1,5})?: (?:fatal )?error: ",
        sample="/scratch/tmp23j1qrsv/main.c:6:23: fatal error: stdatomic.h: No such file or directory",
        explain="the C compiler that Triton started cannot compile its helper",
        remedy="Use a newer compiler with its own headers (`gcc --version`, `module load gcc`; `CC` names the one that Triton takes).",
        versions="triton",
        last_resort=True,
    ),
    Signature(
        pattern=r"\bCalledProcessError: Command '\['[^'\n]{0,200}(?:gcc|cc|clang)', '[^'\n]{1,200}/main\.c', ",
        sample="torch._inductor.exc.InductorError: CalledProcessError: Command '['/usr/lib64/ccache/gcc', '/tmp/tmp23j1qrsv/main.c', '-O3', '-shared', '-fPIC']' returned non-zero exit status 1.",
        explain="the C compiler that Triton started failed; its own lines above have the reason",
        remedy=f"Compile a small C program with the same compiler on this node. {COMPILER} {HEADERS}",
        versions="triton",
        last_resort=True,
    ),
    Signature(
        pattern=r"\bCalledProcessError: Command '\['[^'\n]{0,200}(?:gcc|cc|clang)', ",
        near=r"triton/runtime/build\.py",
        within=6,
        sample="subprocess.CalledProcessError: Command '['/usr/bin/gcc', '/tmp/tmpa1b2c3d4/main.c', '-O3', '-shared', '-lcuda']' returned non-zero exit status 1.",
        explain="Triton could not compile its driver module: mostly the headers of this Python or the library libcuda are missing",
        remedy="The compiler's own lines stand above the traceback, or run the command of this line by hand. `Python.h` missing: use an interpreter with headers (uv's Pythons have them) or install python3-dev. `-lcuda` not found: the node has no GPU driver, or `LIBRARY_PATH` lacks its stubs.",
        versions="triton",
        last_resort=True,
    ),
)

TOPIC = Signature(
    pattern=rf"(?i)\bpython (?:development |dev )?headers?\b.{{0,60}}{LACK}|\b(?:no|without a) (?:working )?C(?:\+\+)? compiler\b|\bC(?:\+\+)? compiler\b.{{0,40}}{LACK}",
    sample="RuntimeError: the Python headers are missing",
    explain=NOTHING_TO_BUILD_WITH,
    remedy=f"{HEADERS} No compiler: {COMPILER}",
    versions="any",
)


@check("ENV001", fix="skyrl_train/node/python.py")
def triton_python_h(python: TrainingPython, build: TritonBuild, roles: Roles) -> Iterator[Finding]:
    # Elsewhere nothing runs Triton, but the node mostly has the same interpreter.
    severity = Severity.ERROR if Role.GPU in roles or build.gpu_here else Severity.WARNING
    if build.problem:
        yield _not_there(python, build, severity)
    elif build.compiler is None:
        yield _no_compiler(severity)
    elif build.compiled is not None and not build.compiled.ok:
        yield _not_compiled(python, build, build.compiled, severity)
    if build.libcuda is not None and not build.libcuda.ok:
        yield _no_libcuda(build.libcuda, severity)


def _not_there(python: TrainingPython, build: TritonBuild, severity: Severity) -> Finding:
    kind = RemedyKind.FIX_CONFIG if python.location else RemedyKind.FIX_ENV
    return Finding(
        message=f"{python.label}: {build.problem}; expected an interpreter that runs",
        location=python.location,
        severity=severity,
        remedy=Remedy(kind=kind, summary=f"name an interpreter by its full path, in {python.source.partition('=')[0]}"),
    )


def _no_compiler(severity: Severity) -> Finding:
    return Finding(
        message="CC is unset and PATH has neither gcc nor clang; expected a C compiler for Triton",
        evidence=(f"Triton would fail with: {NO_COMPILER}.",),
        severity=severity,
        remedy=Remedy(kind=RemedyKind.FIX_ENV, summary="load or install a C compiler", commands=("module load gcc",)),
    )


def _not_compiled(python: TrainingPython, build: TritonBuild, compiled: Built, severity: Severity) -> Finding:
    if build.header and build.cc is not None:
        return Finding(
            message=f"CC={build.cc!r} does not compile a C file; expected the path of a compiler without arguments, or unset",
            evidence=compiled.errors,
            severity=severity,
            remedy=Remedy(kind=RemedyKind.FIX_ENV, summary="unset CC, so that Triton uses gcc", commands=("unset CC",)),
        )
    if build.header:
        seen = f"{build.compiler} fails on two lines of C that include Python.h of {build.include}"
        expected = "expected a compiler and headers that Triton can use"
        return Finding(message=f"{seen}; {expected}", evidence=compiled.errors, severity=severity)
    return Finding(
        message=f"{python.label} has no Python.h in {build.include}; expected the headers that Triton compiles with",
        evidence=compiled.errors,
        location=python.location,
        severity=severity,
        remedy=Remedy(
            kind=RemedyKind.FIX_ENV,
            summary=f"install this Python's -dev package, or build the environment on uv's or a module's; set {VARIABLE} to it",
            commands=(
                f"uv python install {build.version}",
                f"uv venv --managed-python --python {build.version} NEW_VENV",
            ),
        ),
    )


def _no_libcuda(libcuda: Built, severity: Severity) -> Finding:
    return Finding(
        message="the linker does not find libcuda, although a GPU driver is loaded; expected libcuda.so.1 where Triton looks",
        evidence=libcuda.errors,
        severity=severity,
        remedy=Remedy(
            kind=RemedyKind.FIX_ENV,
            summary="set TRITON_LIBCUDA_PATH to the directory that holds the driver's libcuda.so.1",
            commands=("find /usr /run /opt -xdev -name libcuda.so.1",),
        ),
    )
