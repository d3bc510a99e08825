"""Whether Triton can compile on this machine, tested by compiling."""

from skyrl_doctor.core.check import probe
from skyrl_doctor.core.errors import CouldNotLook
from skyrl_doctor.core.record import record
from skyrl_doctor.facts.child import answer_of, unknown_if_malformed
from skyrl_doctor.facts.interpreter import TrainingPython, start_fault
from skyrl_doctor.machine.base import Machine, unless_absent
from skyrl_train.contracts.typed import Fields

LIMIT_S = 25.0
DRIVER = "/dev/nvidiactl"


@record
class Built:
    """One finished run of the compiler. `output` is its output if it failed."""

    ok: bool
    output: str = ""

    @property
    def errors(self) -> tuple[str, ...]:
        """At most three lines of the output, preferably those with an error."""
        lines = [line.strip() for line in self.output.splitlines() if line.strip()]
        named = [line for line in lines if "error" in line.lower() or "cannot find" in line]
        return tuple(line[:300] for line in (named or lines)[:3])


@record(kw_only=True)
class TritonBuild:
    """`cc` is $CC (None: unset); `compiler` is the one that Triton uses (None: not found).

    `problem` is why the interpreter does not start; then the rest is unknown. `gpu_here`: a driver is loaded.
    """

    gpu_here: bool = False
    problem: str = ""
    cc: str | None = None
    compiler: str | None = None
    version: str = ""
    include: str = ""
    header: bool = False
    compiled: Built | None = None
    libcuda: Built | None = None


@unknown_if_malformed()
def parse_triton_build(text: str, *, who: str, gpu_here: bool) -> TritonBuild:
    """Parses the output of children/triton_build.py."""
    answer = answer_of(text, who)
    return TritonBuild(
        gpu_here=gpu_here,
        cc=answer.text("cc", None),
        compiler=answer.text("compiler", None),
        version=answer.text("version"),
        include=answer.text("include"),
        header=answer.flag("header"),
        compiled=_built(answer.inner_or_none("compile"), "Triton's compiler"),
        libcuda=_built(answer.inner_or_none("libcuda"), "linking against libcuda"),
    )


def _built(step: Fields | None, who: str) -> Built | None:
    if step is None:
        return None
    code = step.integer("rc", None)
    if code is None:
        raise CouldNotLook(f"{who}: timed out after {step.number('limit_s'):g} s")
    return Built(code == 0, "" if code == 0 else step.text("said"))


@probe(limit_s=LIMIT_S + 2.0)
def triton_build(machine: Machine, python: TrainingPython) -> TritonBuild:
    """Compiles as Triton does, with the training interpreter, in a temporary directory."""
    gpu_here = unless_absent(lambda: machine.stat(DRIVER)) is not None
    if python.problem:
        return TritonBuild(gpu_here=gpu_here, problem=python.problem)
    done = machine.ask("triton_build", *(("libcuda",) if gpu_here else ()), python=python.path, limit_s=LIMIT_S)
    fault = start_fault(done)
    if fault:
        return TritonBuild(gpu_here=gpu_here, problem=fault)
    if not done.ok:
        raise CouldNotLook(f"{python.label}: {done.why}")
    return parse_triton_build(done.out, who=done.command, gpu_here=gpu_here)
