#!/bin/sh
# TaskProlog for slurm.conf: gives every task the settings that `skyrl-doctor env` makes for this node.
# If the doctor fails or is too slow, the task starts without them.
# Users can turn it off by submitting with SKYRL_DOCTOR_ENV=off in the environment.
trap 'exit 0' EXIT
[ "${SKYRL_DOCTOR_ENV-}" != off ] || exit 0
here=$(dirname "$0")
# shellcheck source-path=SCRIPTDIR source=common.sh
. "$here/common.sh"

settings=$(mktemp) || exit 0
trap 'rm -f "$settings"; exit 0' EXIT
# Through a file: a partial answer must not be used, and a hanging child would keep a pipe open.
if limited "$TASKPROLOG_LIMIT_S" "$DOCTOR" env --taskprolog --deadline 10 >"$settings" 2>/dev/null; then
  cat "$settings"
fi
