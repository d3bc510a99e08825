"""Compiles a few lines as Triton does, with this interpreter's headers, and deletes the result.

With the argument `libcuda` it also links against the driver's library, as Triton's NVIDIA backend does.
"""

import os
import sys

if sys.path and sys.path[0] == os.path.dirname(os.path.abspath(__file__)):
    del sys.path[0]

import json
import re
import signal
import subprocess
import sysconfig
from importlib.machinery import PathFinder

# No shutil and no tempfile: importing them would be a tenth of this program's time.

SOURCE = "#include <Python.h>\nint skyrl_doctor_probe;\n"
LINK_SOURCE = "int skyrl_doctor_probe;\n"
# Shorter than the doctor's limit for this program, so that the program itself removes its directory.
LIMIT_S = 8.0
LISTING_LIMIT_S = 4.0
SAID_LIMIT = 4000


def include_directory():
    """The header directory, found as in triton/runtime/build.py: Debian's own scheme has no headers."""
    names = ("get_default_scheme", "_get_default_scheme")  # the second before Python 3.10
    scheme = next(getattr(sysconfig, name) for name in names if hasattr(sysconfig, name))()
    return sysconfig.get_paths("posix_prefix" if scheme == "posix_local" else scheme)["include"]


def compiler():
    """$CC as one word, even if it is empty; else gcc, else clang."""
    named = os.environ.get("CC")
    return named if named is not None else which("gcc") or which("clang")


def which(name):
    """As shutil.which, which Triton uses."""
    for directory in os.environ.get("PATH", os.defpath).split(os.pathsep):
        path = os.path.join(directory, name)
        if os.access(path, os.X_OK) and not os.path.isdir(path):
            return path
    return None


def temporary_directory():
    """A new temporary directory. Unlike tempfile, it never uses the working directory."""
    named = [os.environ.get(name) for name in ("TMPDIR", "TEMP", "TMP")]
    for base in [path for path in named if path] + ["/tmp", "/var/tmp", "/dev/shm"]:  # noqa: S108
        try:
            directory = os.path.join(base, "skyrl-doctor-" + os.urandom(8).hex())
            os.mkdir(directory, 0o700)
            return directory
        except OSError as error:
            last = error
    raise last


def compile_source(cc, source, arguments):
    """The result of one run of the compiler."""
    directory = temporary_directory()
    try:
        main = os.path.join(directory, "main.c")
        with open(main, "w") as file:
            file.write(source)
        argv = [cc, main, "-O3", "-shared", "-fPIC", "-o", os.path.join(directory, "probe.so")]
        return run(argv + arguments, os.path.join(directory, "said"))
    finally:
        remove(directory)


def remove(directory):
    """Removes the directory and its files."""
    try:
        for name in os.listdir(directory):
            os.unlink(os.path.join(directory, name))
        os.rmdir(directory)
    except OSError:  # a failed clean-up must not hide the result
        return


def run(argv, said_path):
    environ = dict(os.environ, LC_ALL="C")  # the compiler's messages are parsed
    # A file, not a pipe: a compiler's child processes may outlive it and keep a pipe open.
    with open(said_path, "w+", errors="replace") as said:
        try:
            code = subprocess.call(
                argv, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=said, timeout=LIMIT_S, env=environ
            )
        except subprocess.TimeoutExpired:
            return {"rc": None, "said": "", "limit_s": LIMIT_S}
        except OSError as error:
            return {"rc": 127, "said": f"{error.strerror}: {argv[0]!r}", "limit_s": LIMIT_S}
        said.seek(0)
        return {"rc": code, "said": said.read(SAID_LIMIT), "limit_s": LIMIT_S}


def backend_source():
    """The source of the installed Triton's NVIDIA driver, or None."""
    spec = PathFinder.find_spec("triton")
    for directory in (spec.submodule_search_locations or []) if spec else []:
        try:
            with open(os.path.join(directory, "backends", "nvidia", "driver.py"), encoding="utf-8") as file:
                return file.read()
        except OSError:
            continue
    return None


def libcuda(cc):
    """Links against the driver as this Triton does; None if Triton is not installed."""
    text = backend_source()
    if text is None:
        return None
    listed = re.search(r"^libraries = \[(?P<names>[^\]]*)\]", text, re.MULTILINE)
    names = re.findall(r"['\"]([^'\"]+)", listed["names"]) if listed else ["cuda"]
    flags = ["-l:" + name if re.search(r"\.so(\.\d+)*$", name) else "-l" + name for name in names]
    directories, why = libcuda_directories()
    if not directories:
        return {"rc": 1, "said": "libcuda.so cannot found!\n" + why, "limit_s": LIMIT_S}
    return compile_source(cc, LINK_SOURCE, flags + ["-L" + directory for directory in directories])


def libcuda_directories():
    named = os.environ.get("TRITON_LIBCUDA_PATH")
    if named:
        return [named], ""
    try:
        listed = subprocess.run(
            ["/sbin/ldconfig", "-p"],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=LISTING_LIMIT_S,
            check=True,
        ).stdout.decode("utf-8", "replace")
    except (OSError, subprocess.SubprocessError) as error:
        return [], f"/sbin/ldconfig -p: {error}"
    found = [os.path.dirname(line.split()[-1]) for line in listed.splitlines() if "libcuda.so.1" in line]
    searched = os.environ.get("LD_LIBRARY_PATH", "").split(":")
    found = found or [path for path in searched if path and os.path.exists(os.path.join(path, "libcuda.so.1"))]
    return found, "" if found else "libcuda.so.1 is in neither /sbin/ldconfig -p nor LD_LIBRARY_PATH"


def examine(arguments):
    include = include_directory()
    cc = compiler()
    found = {"version": "{}.{}".format(*sys.version_info[:2]), "include": include}
    found["header"] = os.path.isfile(os.path.join(include, "Python.h"))
    found["cc"] = os.environ.get("CC")
    found["compiler"] = cc
    found["compile"] = None if cc is None else compile_source(cc, SOURCE, ["-I" + include])
    works = found["compile"] is not None and found["compile"]["rc"] is not None
    found["libcuda"] = libcuda(cc) if works and "libcuda" in arguments else None
    return found


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that the directory is removed after SIGTERM
    print(json.dumps(examine(sys.argv[1:])))  # noqa: T201 -- a child prints its answer
