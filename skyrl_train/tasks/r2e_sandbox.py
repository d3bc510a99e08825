"""Scripts that prepare an R2E-Gym container for the agent and run its tests (IMG006).

With `sandbox.hide_tests` the order is PREPARE, FORGET, the agent; then PREPARE, its changes and RUN_TESTS in a new sandbox.
Without it: PREPARE, the agent, RUN_TESTS.

Most images hold the tests in /r2e_tests, older ones in the repository, and some have none. A container may be prepared
twice, if a rollout attaches to one that another rollout started. Nothing here needs the network.
"""

TESTS_FOUND, TESTS_MISSING, TESTS_HIDDEN = "r2e-tests: found", "r2e-tests: missing", "r2e-tests: hidden"
"""The last line that PREPARE prints. Hidden: an earlier preparation has removed the tests from the sandbox."""

# R2E_ROOT is a prefix of every path, used only in tests. bash, since sh in the images has no `source`.
PREPARE = f"""\
set -eu
repo="${{R2E_ROOT:-}}/testbed" home="${{R2E_ROOT:-}}/root" tests="${{R2E_ROOT:-}}/r2e_tests"
mkdir -p "$home/.local/bin"
if [ -d "$repo/.venv" ]; then
  ln -sfn "$repo/.venv" "$home/.venv"
  find "$repo/.venv/bin" -maxdepth 1 -type f -perm -u+x -exec ln -sf {{}} "$home/.local/bin/" \\;
  [ ! -e "$repo/.venv/bin/python" ] || ln -sfn "$repo/.venv/bin/python" "$home/.local/bin/python"
fi
for place in "$repo" "$tests"; do
  [ ! -d "$place" ] || find "$place" -path "$repo/.venv" -prune -o -name '*.pyc' -type f -exec rm -f {{}} +
done
[ ! -f "$repo/run_tests.sh" ] || mv -f "$repo/run_tests.sh" "$home/run_tests.sh"
for place in "$tests" "$repo/r2e_tests"; do
  if [ -d "$place" ] && [ ! -L "$place" ] && [ ! -e "$home/r2e_tests" ]; then mv "$place" "$home/r2e_tests"; fi
done
rm -rf "$repo/r2e_tests"
if [ -d "$home/r2e_tests" ] && [ -f "$home/run_tests.sh" ]; then echo "{TESTS_FOUND}"
elif [ -f "$home/.r2e_tests.hidden" ]; then echo "{TESTS_HIDDEN}"
else echo "{TESTS_MISSING}"; fi
"""
"""Moves the tests and their command out of the repository, so that they do not disturb the agent."""

FORGET = """\
set -eu
cd "${R2E_ROOT:-}/root"
: > .r2e_tests.hidden
rm -rf r2e_tests run_tests.sh
date +%s
"""
"""Removes the tests from the agent's sandbox, and prints the time. Permissions would not stop the agent, which is root too."""

RUN_TESTS = """\
set -eu
repo="${R2E_ROOT:-}/testbed" home="${R2E_ROOT:-}/root"
[ -L "$repo/r2e_tests" ] || rm -rf "$repo/r2e_tests"
ln -sfn "$home/r2e_tests" "$repo/r2e_tests"
cd "$repo"
exec bash "$home/run_tests.sh"
"""
"""Links the tests into the repository, replacing files of the agent with this name, and runs them there."""


def has_tests(output: str) -> bool:  # FIX(IMG006)
    """Whether PREPARE found the tests. A sandbox without tests cannot be scored: its rollouts would all be masked."""
    return output.rstrip().endswith(TESTS_FOUND)
