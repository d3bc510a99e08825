#!/bin/sh
# Prolog for slurm.conf: looks at the node before a job, and writes what it saw into a log. It always says yes: a Prolog
# that fails or is too slow drains the node, and that a probe hangs is no reason to. The job's own gate refuses.
trap 'exit 0' EXIT
here=$(dirname "$0")
# shellcheck source-path=SCRIPTDIR source=common.sh
. "$here/common.sh"

case ${1-} in
  look) ;;
  late)
    noted prolog.log "job=${SLURM_JOB_ID-} no answer in time"
    exit 0
    ;;
  *) # nothing but this waits, and it touches no disk
    limited "$PROLOG_LIMIT_S" "$0" look >/dev/null 2>&1 || limited 3 "$0" late >/dev/null 2>&1
    exit 0
    ;;
esac

saw=$(mktemp) || exit 0
trap 'rm -f "$saw"; exit 0' EXIT
"$DOCTOR" preflight --role gpu --select "$NODE_CHECKS" --deadline 10 --format github >"$saw" 2>&1
noted prolog.log "job=${SLURM_JOB_ID-} node=${SLURMD_NODENAME-} status=$?"
cat "$saw" >>"$LOG_DIR/prolog.log"
