#!/bin/sh
# Prolog for slurm.conf: checks the node before a job that has a GPU in a partition or of an account that site.sh names, and
# logs the result. It always exits with 0, since a Prolog that fails or is too slow drains the node. The job's own gate
# refuses a bad node. Other jobs wait for nothing.
trap 'exit 0' EXIT
here=${0%/*}
# shellcheck source-path=SCRIPTDIR source=common.sh
. "$here/common.sh"
[ -n "${SLURM_JOB_GPUS-}${CUDA_VISIBLE_DEVICES-}" ] && named "$GPU_PARTITIONS" "$GPU_ACCOUNTS" || exit 0

case ${1-} in
  look) ;;
  late)
    noted prolog.log "job=${SLURM_JOB_ID-} timed out"
    exit 0
    ;;
  *) # only this process waits, and it uses no disk
    limited "$PROLOG_LIMIT_S" "$0" look >/dev/null 2>&1 || limited 3 "$0" late >/dev/null 2>&1
    exit 0
    ;;
esac
cd / || exit 0 # not in a directory that a user chose

saw=$(mktemp) || exit 0
trap 'rm -f "$saw"; exit 0' EXIT
"$DOCTOR" preflight --role gpu --select "$NODE_CHECKS" --deadline 10 --format github >"$saw" 2>&1
noted prolog.log "job=${SLURM_JOB_ID-} node=${SLURMD_NODENAME-} status=$?"
printable <"$saw" >>"$LOG_DIR/prolog.log"
