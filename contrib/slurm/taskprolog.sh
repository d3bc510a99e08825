#!/bin/sh
# TaskProlog for slurm.conf: gives a job the settings that `skyrl-doctor env` makes for this node. Only jobs that ask for
# them get them: SKYRL_DOCTOR_ENV=gpu or =runtime in the job's environment, or a partition or account named in site.sh.
# SKYRL_DOCTOR_ENV=off turns it off. For every other job this script prints nothing and starts no program.
# If the doctor fails or is too slow, the task starts without the settings.
trap 'exit 0' EXIT
here=${0%/*}
# shellcheck source-path=SCRIPTDIR source=common.sh
. "$here/common.sh"

role=${SKYRL_DOCTOR_ENV-}
case $role in
  gpu | runtime) ;;
  '') # The job asked for nothing.
    if named "$RUNTIME_PARTITIONS" "$RUNTIME_ACCOUNTS"; then
      role=runtime
    elif [ -n "${CUDA_VISIBLE_DEVICES-}" ] && named "$GPU_PARTITIONS" "$GPU_ACCOUNTS"; then
      role=gpu
    else
      exit 0
    fi
    ;;
  *) exit 0 ;;
esac
case ${SLURM_JOB_ID-} in '' | *[!0-9]*) exit 0 ;; esac

# The doctor runs once for a job, a node and the devices of a step. Its answer is kept in the job's directory, which the
# Epilog removes; the other tasks wait for it. A doctor that failed leaves an empty answer, so that only one task waits
# for it. The directory must be this user's own, since its name is known to all.
umask 077
job_dir=/tmp/skyrl-$(id -u)-$SLURM_JOB_ID
mkdir -p "$job_dir" 2>/dev/null
# shellcheck disable=SC3067  # dash, bash and busybox have -O
[ -O "$job_dir" ] && [ ! -L "$job_dir" ] || exit 0
node=${SLURMD_NODENAME:-$(hostname)}
devices=$(printf '%s' "$role:${CUDA_VISIBLE_DEVICES-unset}" | cksum)
answer=$job_dir/settings-$node-${devices%% *}
if [ ! -e "$answer" ]; then
  exec 9>"$job_dir/settings.lock" || exit 0
  flock -w "$((TASKPROLOG_LIMIT_S + 5))" 9 || exit 0
  if [ ! -e "$answer" ]; then
    limited "$TASKPROLOG_LIMIT_S" "$DOCTOR" env --taskprolog --role "$role" --deadline 10 >"$answer.new" 2>/dev/null 9>&- ||
      : >"$answer.new"
    mv "$answer.new" "$answer"
  fi
  exec 9>&-
fi

# A step that starts from the job's script has the settings already, and perhaps other values that the script gave them.
# Only the devices are Slurm's again.
while IFS= read -r line; do
  case $line in
    *_VISIBLE_DEVICES | *_VISIBLE_DEVICES=*) ;;
    *) [ "${SKYRL_DOCTOR_SET-}" != "$SLURM_JOB_ID@$node" ] || continue ;;
  esac
  printf '%s\n' "$line"
done <"$answer"
[ ! -s "$answer" ] || printf 'export SKYRL_DOCTOR_SET=%s@%s\n' "$SLURM_JOB_ID" "$node"
