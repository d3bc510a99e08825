#!/bin/sh
# TaskProlog for slurm.conf: every task gets the settings that this node needs, as `skyrl-doctor env` works them out.
# Whatever becomes of the doctor, the task starts: without them when it fails, or is too slow.
# A user who wants none of it submits with SKYRL_DOCTOR_ENV=off in the environment.
trap 'exit 0' EXIT
[ "${SKYRL_DOCTOR_ENV-}" != off ] || exit 0
here=$(dirname "$0")
# shellcheck source-path=SCRIPTDIR source=common.sh
. "$here/common.sh"

said=$(mktemp) || exit 0
trap 'rm -f "$said"; exit 0' EXIT
# By a file: half of an answer is none, and a pipe would be held open by a child that hangs.
if limited "$TASKPROLOG_LIMIT_S" "$DOCTOR" env --taskprolog --deadline 10 >"$said" 2>/dev/null; then
  cat "$said"
fi
