#!/bin/sh
# Epilog for slurm.conf: removes what a job left on this node: processes, containers, mounts and directories of only that
# job. It always exits with 0, since a failing Epilog drains the node.
trap 'exit 0' EXIT
here=$(dirname "$0")
# shellcheck source-path=SCRIPTDIR source=common.sh
. "$here/common.sh"

case ${1-} in
  sweep) ;;
  late)
    noted epilog.log "job=${SLURM_JOB_ID-} timed out"
    exit 0
    ;;
  *) # only this process waits, and it uses no disk
    limited "$EPILOG_LIMIT_S" "$0" sweep >/dev/null 2>&1 || limited 3 "$0" late >/dev/null 2>&1
    exit 0
    ;;
esac
cd / || exit 0 # not in a directory that a user chose

[ -n "${SLURM_JOB_ID-}" ] && [ -n "${SLURM_JOB_UID-}" ] || exit 0
did=$(mktemp) || exit 0
trap 'rm -f "$did"; exit 0' EXIT
set -- "$SLURM_JOB_ID" --over --uid "$SLURM_JOB_UID"
for base in $SCRATCH; do set -- "$@" --base "$base"; done
SLURM_SCRIPT_CONTEXT=epilog_slurmd "$TRAIN" sweep "$@" >"$did" 2>&1
status=$?
if [ "$status" -ne 0 ] || [ -s "$did" ]; then
  noted epilog.log "job=$SLURM_JOB_ID uid=$SLURM_JOB_UID status=$status"
  printable <"$did" >>"$LOG_DIR/epilog.log"
fi
