"""What is done in an R2E-Gym container before the agent gets it, and how its tests are run (IMG006).

Where the configuration says `hide_tests` the order is PREPARE, PACK, fetch PACKED, FORGET; then the agent; then put
PACKED back, RESTORE, RUN_TESTS. Without it PREPARE, the agent, RUN_TESTS.

The images differ: most hold the tests in /r2e_tests, older ones in the repository, and some hold none. A container may
be prepared twice, when a rollout attaches to one that another had begun. Nothing here needs the network.
"""

TESTS_FOUND, TESTS_MISSING, TESTS_HIDDEN = "r2e-tests: found", "r2e-tests: missing", "r2e-tests: hidden"
"""The last line that the preparation prints; hidden is what an earlier preparation has taken out of the sandbox."""
PACKED = "/root/.r2e_tests.tar"
"""Where the tests and their command lie for the moment in which they leave the sandbox, or come back into it."""

# R2E_ROOT stands before every path, and is empty but in tests. bash, since sh in the images has no `source`.
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
"""Moves the tests and their command out of the repository, so that the agent does not trip over them."""

PACK = f"""\
set -eu
cd "${{R2E_ROOT:-}}/root"
tar -cf "${{R2E_ROOT:-}}{PACKED}" r2e_tests run_tests.sh
"""
"""For PACKED to be fetched, with the agent not yet there. Until FORGET the tests are still in the sandbox."""

FORGET = f"""\
set -eu
cd "${{R2E_ROOT:-}}/root"
: > .r2e_tests.hidden
rm -rf r2e_tests run_tests.sh "${{R2E_ROOT:-}}{PACKED}"
"""
"""Takes the tests out of the sandbox. Rights would not keep them from the agent, who is root as we are; absence does."""

RESTORE = f"""\
set -eu
cd "${{R2E_ROOT:-}}/root"
rm -rf r2e_tests run_tests.sh
tar -xf "${{R2E_ROOT:-}}{PACKED}"
rm -f .r2e_tests.hidden "${{R2E_ROOT:-}}{PACKED}"
"""
"""Once PACKED is back where it was, and before RUN_TESTS: what the agent left under these names is not run."""

RUN_TESTS = """\
set -eu
repo="${R2E_ROOT:-}/testbed" home="${R2E_ROOT:-}/root"
[ -L "$repo/r2e_tests" ] || rm -rf "$repo/r2e_tests"
ln -sfn "$home/r2e_tests" "$repo/r2e_tests"
cd "$repo"
exec bash "$home/run_tests.sh"
"""
"""Links the tests back, over whatever the agent left in their place, and runs them where `.venv` is found."""


def has_tests(output: str) -> bool:  # FIX(IMG006)
    """What the preparation said. A sandbox without tests cannot be scored: its rollouts would all be masked."""
    return output.rstrip().endswith(TESTS_FOUND)


def has_hidden_tests(output: str) -> bool:
    """Whether someone has taken them out already: they can be scored by whoever holds what was in PACKED."""
    return output.rstrip().endswith(TESTS_HIDDEN)
