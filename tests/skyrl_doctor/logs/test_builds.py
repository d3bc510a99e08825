"""The cause of a failed build is named whatever program runs the build and prints its output."""

from collections.abc import Callable

import pytest

from skyrl_doctor.logs.cause.root_cause import find_root_cause
from skyrl_doctor.logs.judge.files import scan_chunks
from skyrl_doctor.logs.match.patterns import installed_patterns

TRACE = 'Traceback (most recent call last):\n  File "<string>", line 11, in <module>\n'
BUILDS = {
    "ENV001": "own.c:3:10: fatal error: Python.h: No such file or directory\ncompilation terminated.\nerror: command '/usr/bin/gcc' failed with exit code 1",
    "ENV007": f"[3/9] nvcc -c own.cu\nKilled\nninja: build stopped: subcommand failed.\n{TRACE}RuntimeError: Error compiling objects for extension",
    "ENV011": f"{TRACE}RuntimeError:\nThe detected CUDA version (11.8) mismatches the version that was used to compile\nPyTorch (12.8). Please make sure to use the same CUDA versions.",
    "ENV022": f"{TRACE}ModuleNotFoundError: No module named 'torch'",
    "ENV023": f"{TRACE}OSError: CUDA_HOME environment variable is not set. Please set it to your CUDA install root.",
    "GPU007": f"FAILED: own.o\nnvcc fatal   : Unsupported gpu architecture 'compute_120'\nninja: build stopped: subcommand failed.\n{TRACE}RuntimeError: Error compiling objects for extension",
}
OWN = f"fatal: not a git repository (or any of the parent directories): .git\n{TRACE}KeyError: 'panel_version'"


def indented(text: str, by: int = 6) -> str:
    return "\n".join(f"{' ' * by}{line}" for line in text.split("\n"))


def broken(text: str) -> str:
    """The text as uv writes it: it breaks lines at 80 columns, and what goes on loses its own indentation."""
    rows: list[str] = []
    for line in text.split("\n"):
        row = line[: len(line) - len(line.lstrip())]
        for word in line.split():
            if row.strip() and len(row) + 1 + len(word) > 74:
                rows.append(row)
                row = word
            else:
                row = f"{row} {word}" if row.strip() else row + word
        rows.append(row)
    return indented("\n".join(rows))


def uv(output: str) -> str:
    head = "  × Failed to build `own==2.8`\n  ├─▶ The build backend returned an error\n  ╰─▶ Call to `own.build_wheel` failed (exit status: 1)\n\n      [stderr]\n"
    return f"{head}{broken(output)}\n\n      hint: This usually indicates a problem with the package or the build\n      environment.\n  help: `own` (v2.8) was included because `mine` depends on `own`\n"


def uv_in_between(output: str) -> str:
    rows = broken(output).replace("\n      ", "\n  │   ")
    return f"  × Failed to download and build `own==2.8`\n  ├─▶ Build backend failed to build wheel\n\n  │   [stderr]\n  │   {rows.strip()}\n  ╰─▶ exit status: 1\n"


def uv_without_box(output: str) -> str:
    return f"error: Failed to prepare distributions\n  Caused by: Failed to download and build `own==2.8`\n  Caused by: Build backend failed to build wheel through `build_wheel` (exit status: 1)\n\n[stderr]\n{output}\n"


def pip(output: str) -> str:
    head = "  error: subprocess-exited-with-error\n  \n  × Building wheel for own (pyproject.toml) did not run successfully.\n  │ exit code: 1\n  ╰─> [20 lines of output]\n"
    return f"{head}{indented(output)}\n      [end of output]\n  \n  note: This error originates from a subprocess, and is likely not a problem with pip.\n  ERROR: Failed building wheel for own\nerror: failed-wheel-build-for-install\n\n× Failed to build installable wheels for some pyproject.toml based projects\n╰─> own\n"


def old_pip(output: str) -> str:
    return f"  ERROR: Command errored out with exit status 1:\n   command: python3 setup.py bdist_wheel\n  Complete output (20 lines):\n{indented(output, 2)}\n  ----------------------------------------\n  ERROR: Failed building wheel for own\n"


def poetry(output: str) -> str:
    return f"  - Installing own (2.8): Failed\n\n  ChefBuildError\n\n  Backend subprocess exited when trying to invoke get_requires_for_build_wheel\n  \n{indented(output, 2)}\n\n  at ~/.venv/poetry/installation/chef.py:166 in _prepare\n"


def conda(output: str) -> str:
    return f"Pip subprocess error:\n{pip(output)}\nfailed\n\nCondaEnvException: Pip failed\n"


def alone(output: str) -> str:
    return f"{output}\n"


def timed(output: str, step: str) -> str:
    return "".join(f"{step}{1.2 + at / 9:.3f} {line}\n" for at, line in enumerate(output.rstrip("\n").split("\n")))


def docker(output: str) -> str:
    end = 'process "/bin/sh -c pip install own" did not complete successfully: exit code: 1'
    return f"#9 [4/7] RUN pip install own\n{timed(output, '#9 ')}#9 ERROR: {end}\n------\n > [4/7] RUN pip install own:\n{timed(output, '')}------\nERROR: failed to solve: {end}\n"


def docker_at_its_end(output: str) -> str:
    return f' => [1/7] FROM docker.io/library/own          0.0s\n => ERROR [4/7] RUN pip install own           8.3s\n------\n > [4/7] RUN pip install own:\n{timed(output, "")}------\nERROR: failed to solve: process "/bin/sh -c pip install own" did not complete successfully: exit code: 1\n'


def old_docker(output: str) -> str:
    return f"Step 5/9 : RUN pip install own\n{output}The command '/bin/sh -c pip install own' returned a non-zero code: 1\n"


def podman(output: str) -> str:
    return f'STEP 5/9: RUN pip install own\n{output}Error: building at STEP "RUN pip install own": while running runtime: exit status 1\n'


def apptainer(output: str) -> str:
    return f"+ pip install own\n{output}FATAL:   While performing build: while running engine: exit status 1\n"


Program = Callable[[str], str]
PACKAGES: tuple[Program, ...] = (uv, uv_in_between, uv_without_box, pip, old_pip, poetry, conda, alone)
IMAGES: tuple[Program, ...] = (alone, docker, docker_at_its_end, old_docker, podman, apptainer)


def shown(log: str) -> tuple[str, str]:
    diagnosis = find_root_cause([scan_chunks("build.log", [log.encode()], installed_patterns())])
    if diagnosis.root:
        return diagnosis.root.failure.name, diagnosis.root.line.text
    return ("unknown", diagnosis.unknown.text) if diagnosis.unknown else ("healthy", "")


@pytest.mark.parametrize("name", BUILDS)
@pytest.mark.parametrize("image", IMAGES)
@pytest.mark.parametrize("package", PACKAGES)
def test_the_cause_is_named(image: Program, package: Program, name: str) -> None:
    assert shown(image(package(BUILDS[name])))[0] == name


@pytest.mark.parametrize("image", IMAGES)
@pytest.mark.parametrize("package", PACKAGES)
def test_an_unknown_cause_is_shown_by_its_own_line(image: Program, package: Program) -> None:
    assert shown(image(package(OWN))) == ("unknown", "KeyError: 'panel_version'")


def test_a_line_that_uv_broke_is_shown_whole() -> None:
    assert shown(uv(BUILDS["ENV023"]))[1] == BUILDS["ENV023"].rpartition("\n")[2]
