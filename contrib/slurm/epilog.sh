#!/bin/sh
# Epilog for slurm.conf: removes what a job left on this node: processes, containers, mounts and directories of only that
# job. A job without one of our directories is left alone. It always exits with 0, since a failing Epilog drains the node.
trap 'exit 0' EXIT
here=${0%/*}
# shellcheck source-path=SCRIPTDIR source=common.sh
. "$here/common.sh"

# Whether the job has one of the directories that `skyrl-train sweep` removes.
is_ours() {
  [ ! -d "/tmp/r$SLURM_JOB_ID" ] || return 0
  for base in /tmp $SCRATCH; do
    for found in "$base/skyrl-$SLURM_JOB_UID-$SLURM_JOB_ID" "$base/skyrl-$SLURM_JOB_UID-$SLURM_JOB_ID"-*; do
      [ ! -d "$found" ] || return 0
    done
  done
  return 1
}

[ -n "${SLURM_JOB_ID-}" ] && [ -n "${SLURM_JOB_UID-}" ] && is_ours || exit 0
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
